"""Hologram compiles a model into one file that a small C runtime maps and runs.

    hologram.compile("model.onnx", "model.holo")
    model = hologram.open("model.holo")
    outputs = model.run({"x": array})"""
from ._binding import IOBinding, OrtValue
from ._compile import compile_model as compile
from ._graph import Graph, Value
from ._library import Error, Fail, InvalidArgument, InvalidGraph, InvalidProtobuf, NoSuchFile, NotImplemented, Status
from ._library import version as _version
from ._model import Cache, Model, Port
from ._model import open_model as open
from ._session import (
    ExecutionMode,
    GraphOptimizationLevel,
    InferenceSession,
    ModelMetadata,
    NodeArg,
    RunOptions,
    SessionOptions,
    get_all_providers,
    get_available_providers,
    get_device,
    set_default_logger_severity,
)

__version__ = _version()
__all__ = [
    "Cache",
    "Error",
    "ExecutionMode",
    "Fail",
    "Graph",
    "GraphOptimizationLevel",
    "IOBinding",
    "InferenceSession",
    "InvalidArgument",
    "InvalidGraph",
    "InvalidProtobuf",
    "Model",
    "ModelMetadata",
    "NoSuchFile",
    "NodeArg",
    "NotImplemented",
    "OrtValue",
    "Port",
    "RunOptions",
    "SessionOptions",
    "Status",
    "Value",
    "compile",
    "get_all_providers",
    "get_available_providers",
    "get_device",
    "open",
    "set_default_logger_severity",
]
