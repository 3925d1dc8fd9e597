"""Build an ONNX graph: nodes and constants, each with a name of its own."""

from typing import Any

import numpy as np
import onnx
from numpy.typing import ArrayLike
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

    def constant(self, values: ArrayLike) -> str:
        """Add a constant; numbers are double unless they are integers."""
        name = f"constant {len(self._constants)}"
        self._constants.append(numpy_helper.from_array(np.asarray(values), name))
        return name

    def number(self, value: float) -> str:
        """Add one number as a constant."""
        return self.constant(np.array([float(value)]))

    def add(self, operator: str, *inputs: str, domain: str = "", **options: Any) -> str:
        """Add a node; return the name of its first output."""
        name = f"value {len(self._nodes)}"
        outputs = [name, *[f"{name}, counts"] * (operator == "StringSplit")]
        self._nodes.append(
            helper.make_node(operator, inputs, outputs, domain=domain, **options)
        )
        return name

    def clipped(self, values: str, low: float, high: float) -> str:
        """Clip numbers; NaN stays."""
        lower, upper = self.number(low), self.number(high)
        below, above = (
            self.add("Less", values, lower),
            self.add("Greater", values, upper),
        )
        return self.add("Where", above, upper, self.add("Where", below, lower, values))

    def model(self, **columns: str | None) -> onnx.ModelProto:
        """Return the graph with these columns as outputs, one number per row."""
        axis = self.constant(np.array([1]))
        outputs = []
        for name, column in columns.items():
            if column is not None:
                for rows in self.unscored:
                    column = self.add("Where", rows, self.number(np.nan), column)
                self._nodes.append(helper.make_node("Squeeze", [column, axis], [name]))
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
