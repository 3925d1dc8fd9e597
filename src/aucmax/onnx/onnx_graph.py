"""Build an ONNX graph: nodes and constants, each with a name of its own."""

from typing import Any

import numpy as np
import onnx
from numpy.typing import ArrayLike
from onnx import TensorProto, helper, numpy_helper

TREES = "ai.onnx.ml"  # the domain of trees and dictionaries
_VERSION, _TREES_VERSION, _FILE_VERSION = 18, 5, 10  # supported by onnxruntime 1.20


class OnnxGraph:
    """A graph whose values are named columns of shape (rows, width)."""

    def __init__(self) -> None:
        self._nodes: list[onnx.NodeProto] = []
        self._constants: list[onnx.TensorProto] = []
        self._inputs: list[onnx.ValueInfoProto] = []

    def input(self, name: str, width: int, *, is_text: bool = False) -> str:
        """Declare an input: double numbers, or strings."""
        kind = TensorProto.STRING if is_text else TensorProto.DOUBLE
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
        """Add a node of one output; return the output's name."""
        name = f"value {len(self._nodes)}"
        self._nodes.append(
            helper.make_node(operator, inputs, [name], domain=domain, **options)
        )
        return name

    def model(self, scores: str) -> onnx.ModelProto:
        """Return the graph whose output "score" are these scores, one per row."""
        axis = self.constant(np.array([1]))
        self._nodes.append(helper.make_node("Squeeze", [scores, axis], ["score"]))
        output = helper.make_tensor_value_info("score", TensorProto.DOUBLE, ["rows"])
        graph = helper.make_graph(
            self._nodes, "aucmax", self._inputs, [output], self._constants
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
