"""Build an ONNX graph: nodes and constants, each with a name of its own."""

from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

TREES = "ai.onnx.ml"  # the domain of trees and dictionaries
_VERSION, _TREES_VERSION, _FILE_VERSION = 20, 5, 10  # supported by onnxruntime 1.20


class OnnxGraph:
    """A graph whose values are named columns of shape (rows, width)."""

    def __init__(self) -> None:
        self._nodes: list[onnx.NodeProto] = []
        self._constants: list[onnx.TensorProto] = []
        self._inputs: list[onnx.ValueInfoProto] = []
        self.unscored: list[str] = []  # columns that are true where outputs are NaN
        self.words: dict[str, str] = {}  # inputs of strings, in one spelling

    def input(self, name: str, width: int, *, is_text: bool = False) -> str:
        """Declare an input, once: double numbers, or strings."""
        kind = TensorProto.STRING if is_text else TensorProto.DOUBLE
        for known in self._inputs:
            if known.name == name:
                if known.type.tensor_type.elem_type != kind:
                    raise TypeError(
                        f"column {name!r} holds numbers in one fold and text in "
                        "another, so the model cannot be exported to ONNX."
                    )
                return name
        self._inputs.append(helper.make_tensor_value_info(name, kind, ["rows", width]))
        return name

    def _constant(self, values: float | np.ndarray) -> str:
        name = f"constant {len(self._constants)}"
        if not isinstance(values, np.ndarray):
            values = np.array([float(values)])
        self._constants.append(numpy_helper.from_array(values, name))
        return name

    def add(
        self,
        operator: str,
        *inputs: str | float | np.ndarray,
        domain: str = "",
        **options: Any,
    ) -> str:
        """Add a node; return the name of its first output.

        An input is the name of a value, or a constant: a number or an array.
        """
        names = [one if isinstance(one, str) else self._constant(one) for one in inputs]
        name = f"value {len(self._nodes)}"
        outputs = [name, *[f"{name}, counts"] * (operator == "StringSplit")]
        self._nodes.append(
            helper.make_node(operator, names, outputs, domain=domain, **options)
        )
        return name

    def clipped(self, values: str, low: float, high: float) -> str:
        """Clip numbers; NaN stays."""
        below, above = self.add("Less", values, low), self.add("Greater", values, high)
        return self.add("Where", above, high, self.add("Where", below, low, values))

    def ramps(self, values: str, knots: np.ndarray, shape: tuple[int, int]) -> str:
        """Rise from 0 to 1 between neighbouring knots of a column, as `shape`."""
        lower, widths = knots[:, :-1].reshape(shape), np.diff(knots).reshape(shape)
        rates = np.divide(1.0, widths, out=np.zeros_like(widths), where=widths > 0.0)
        rises = self.add("Mul", self.add("Sub", values, lower), rates)
        return self.add("Clip", rises, np.array(0.0), np.array(1.0))

    def model(self, **columns: str | None) -> onnx.ModelProto:
        """Return the graph with these columns as outputs, one number per row."""
        outputs = []
        for name, column in columns.items():
            if column is not None:
                for rows in self.unscored:
                    column = self.add("Where", rows, np.nan, column)
                row = self.add("Squeeze", column, np.array([1]))
                self._nodes.append(helper.make_node("Identity", [row], [name]))
                kind = TensorProto.DOUBLE
                outputs.append(helper.make_tensor_value_info(name, kind, ["rows"]))
        graph = helper.make_graph(
            self._nodes, "aucmax", self._inputs, outputs, self._constants
        )
        model = helper.make_model(
            graph,
            producer_name="aucmax",
            ir_version=_FILE_VERSION,
            opset_imports=[
                helper.make_opsetid("", _VERSION),
                helper.make_opsetid(TREES, _TREES_VERSION),
            ],
        )
        onnx.checker.check_model(model)
        return model
