"""_graph.py - a graph of operators made in Python, without a model file."""
import numbers
import os
import weakref
from ctypes import byref, c_char_p, c_float, c_int64, c_uint32, c_void_p, pointer
from typing import Any, List, Optional, Sequence, Tuple, Union

import numpy as np

from . import _library as native
from . import _tensor
from ._compile import Dims, Shapes, options, to_memory, write
from ._library import Error, Status, call, lib, text, whole


class Value:
    """What a node, an input or a constant gives."""

    def __init__(self, graph: "Graph", number: int) -> None:
        self._graph = graph
        self._number = number


def _constant(value: Any, dtype: int, keep: List[Any]) -> native.holo_tensor:
    tensor = native.holo_tensor()
    _tensor.fill(tensor, value, dtype, keep)
    keep.append(tensor)
    return tensor


def _fill_list(attr: native.holo_attr, values: Sequence[Any]) -> None:
    attr.count = len(values)
    if all(isinstance(x, numbers.Integral) for x in values):
        ints = [whole(x, f"attribute '{attr.name.decode()}'") for x in values]
        attr.kind, attr.ints = native.ATTR_INTS, (c_int64 * len(ints))(*ints)
    elif all(isinstance(x, numbers.Real) for x in values):
        attr.kind, attr.floats = native.ATTR_FLOATS, (c_float * len(values))(*values)
    elif all(isinstance(x, (str, bytes)) for x in values):
        attr.kind, attr.strings = native.ATTR_STRINGS, (c_char_p * len(values))(*map(text, values))
    else:
        name = attr.name.decode()
        raise Error(Status.E_ARG, f"attribute '{name}' is a list of neither integers nor numbers nor texts")


def _attr(name: str, value: Any, keep: List[Any]) -> native.holo_attr:
    attr = native.holo_attr(name=text(name))
    if isinstance(value, (type, np.dtype)):
        value = _tensor.dtype_number(value)  # Cast(to=np.float16)
    if isinstance(value, numbers.Integral):
        attr.kind, attr.i = native.ATTR_INT, whole(value, f"attribute '{name}'")
    elif isinstance(value, numbers.Real):
        attr.kind, attr.f = native.ATTR_FLOAT, float(value)
    elif isinstance(value, (str, bytes)):
        attr.kind, attr.s = native.ATTR_STRING, text(value)
    elif isinstance(value, (list, tuple)):
        _fill_list(attr, value)
    else:
        attr.kind, attr.tensor = native.ATTR_TENSOR, pointer(_constant(value, 0, keep))
    return attr


class Graph:
    """A graph under construction; it belongs to one thread at a time.

    x = g.input("x", "float32", ("batch", 2)); g.output(g.node("Relu", x), "y"); g.compile("relu.holo")"""

    def __init__(self, opset: int = 0) -> None:
        handle = c_void_p()
        call(lib.holo_graph_new, whole(opset, "opset", 32), None, byref(handle))
        self._handle = handle.value
        weakref.finalize(self, lib.holo_graph_free, self._handle).atexit = False

    def _check(self, good: Any) -> Any:
        """The graph keeps its first error; compiling says it."""
        if not good:
            to_memory(lib.holo_compile_graph, self._handle, None)
            raise Error(Status.E_BUG, "the graph could not be extended")
        return good

    def input(self, name: str, dtype: Any, shape: Sequence[Union[int, str, None]]) -> Value:
        """An input. In its shape a word is an open dimension, None one without a name."""
        dims = ",".join("?" if d is None else str(d) for d in shape)
        number = lib.holo_graph_input(self._handle, text(name), _tensor.dtype_number(dtype), text(dims))
        return Value(self, self._check(number))

    def constant(self, value: Any, dtype: Any = None) -> Value:
        """A constant, copied. dtype: for lists and numbers, and for types that numpy lacks."""
        keep: List[Any] = []
        tensor = _constant(value, 0 if dtype is None else _tensor.dtype_number(dtype), keep)
        return Value(self, self._check(lib.holo_graph_constant(self._handle, byref(tensor))))

    def _number(self, value: Any) -> int:
        if value is None:
            return 0
        if not isinstance(value, Value):
            value = self.constant(value)
        if value._graph is not self:
            raise Error(Status.E_ARG, "a value of another graph was given")
        return value._number

    def node(self, op: str, *inputs: Any, outputs: int = 1, **attributes: Any) -> Any:
        """A node of operator `op`, "Relu" or "com.microsoft:Gelu". Inputs are values or arrays; None is an absent one.

        Returns a Value, or a tuple of them when outputs is not 1. Attributes that are None are left out."""
        keep: List[Any] = []
        ins = [self._number(x) for x in inputs]
        attrs = [_attr(name, value, keep) for name, value in attributes.items() if value is not None]
        out = (c_uint32 * outputs)()
        good = lib.holo_graph_node(self._handle, text(op), (c_uint32 * len(ins))(*ins), len(ins),
                                   (native.holo_attr * len(attrs))(*attrs), len(attrs), out, outputs)
        self._check(good)
        values: Tuple[Value, ...] = tuple(Value(self, number) for number in out)
        return values[0] if outputs == 1 else values

    def output(self, value: Value, name: str) -> None:
        self._check(lib.holo_graph_output(self._handle, self._number(value), text(name)))

    def compile(
        self,
        out: Optional[Union[str, "os.PathLike[str]"]] = None,
        *,
        dims: Optional[Dims] = None,
        shapes: Optional[Shapes] = None,
        numerics: str = "fast",
        optimize: bool = True,
        disable: Sequence[str] = (),
    ) -> Optional[memoryview]:
        """As hologram.compile: into a file, or into memory that hologram.open takes. The graph stays usable."""
        chosen = options(dims, shapes, numerics, optimize, disable)
        data = to_memory(lib.holo_compile_graph, self._handle, byref(chosen))
        if out is None:
            return data
        write(out, data)
        return None
