"""Fitted models as ONNX files, for programs without Python.

Needs the extra ``aucmax[onnx]``. Nothing else in the library loads onnx.
"""

try:
    import onnx as _onnx  # noqa: F401
except ModuleNotFoundError as error:
    raise ImportError("aucmax.onnx needs onnx: pip install 'aucmax[onnx]'.") from error

from aucmax.onnx.export import save_onnx, to_onnx

__all__ = ["save_onnx", "to_onnx"]
