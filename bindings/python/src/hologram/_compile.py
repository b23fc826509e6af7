"""_compile.py - models and graphs become .holo: the options of a compile, results in a file or in memory."""
import ctypes
import os
import weakref
from ctypes import byref, c_char_p, c_int64, c_size_t, c_void_p, sizeof
from typing import Any, List, Mapping, Optional, Sequence, Union

import numpy as np

from . import _library as native
from ._library import Error, Status, call, lib, path, text, whole

Source = Union[str, "os.PathLike[str]", bytes, bytearray, memoryview, Any]
Dims = Mapping[str, Union[int, str]]
Shapes = Mapping[str, Sequence[int]]


def _dim_setting(name: str, value: Union[int, str]) -> native.holo_dim_setting:
    words = str(value).strip()
    at_most = words.startswith("<=")
    try:
        number = int(words[2:] if at_most else words)
    except ValueError:
        raise Error(Status.E_ARG, f"dimension '{name}' is {value!r}, expected a number or '<=NUMBER'") from None
    return native.holo_dim_setting(text(name), whole(number, f"dimension '{name}'"), at_most)


def _shape_setting(name: str, shape: Sequence[int]) -> native.holo_shape_setting:
    sizes = [whole(size, f"a size of input '{name}'") for size in shape]
    return native.holo_shape_setting(text(name), (c_int64 * len(sizes))(*sizes), len(sizes))


def options(
    dims: Optional[Dims] = None,
    shapes: Optional[Shapes] = None,
    numerics: str = "fast",
    optimize: bool = True,
    disable: Sequence[str] = (),
) -> native.holo_compile_options:
    """The options of a compile call; they keep what they point to."""
    if numerics not in ("fast", "exact"):
        raise Error(Status.E_ARG, f"numerics is {numerics!r}, expected 'fast' or 'exact'")
    o = native.holo_compile_options(struct_size=sizeof(native.holo_compile_options), extra=native.EXTRA)
    o.flags = 0 if optimize else native.NO_OPTIMIZE
    o.numerics = numerics == "exact"
    dim_list = [_dim_setting(*item) for item in (dims or {}).items()]
    shape_list = [_shape_setting(*item) for item in (shapes or {}).items()]
    o.dims, o.n_dims = (native.holo_dim_setting * len(dim_list))(*dim_list), len(dim_list)
    o.shapes, o.n_shapes = (native.holo_shape_setting * len(shape_list))(*shape_list), len(shape_list)
    o.disable, o.n_disable = (c_char_p * len(disable))(*[text(x) for x in disable]), len(disable)
    return o


def to_memory(function: Any, *arguments: Any) -> memoryview:
    """Calls one of the functions that compile into memory; the view owns that memory."""
    data, size = c_void_p(), c_size_t()
    call(function, *arguments, byref(data), byref(size), None)
    buffer = (ctypes.c_uint8 * size.value).from_address(data.value)
    weakref.finalize(buffer, lib.holo_buffer_free, None, data.value, size.value).atexit = False
    return memoryview(np.frombuffer(buffer, np.uint8)).toreadonly()


def is_path(source: Any) -> bool:
    return isinstance(source, (str, os.PathLike))


def model_bytes(source: Any) -> np.ndarray:
    """The bytes of a model in memory; an onnx.ModelProto is serialised."""
    if hasattr(source, "SerializeToString"):
        source = source.SerializeToString()
    try:
        return np.frombuffer(source, np.uint8)
    except (TypeError, ValueError, BufferError):
        raise Error(Status.E_ARG, f"a model is a path, bytes or a ModelProto, not {type(source).__name__}") from None


def compile_to_memory(source: Source, chosen: native.holo_compile_options) -> memoryview:
    if is_path(source):
        return to_memory(lib.holo_compile_file_to_memory, path(source), byref(chosen))
    data = model_bytes(source)
    pointer = data.__array_interface__["data"][0]
    return to_memory(lib.holo_compile_memory, pointer, data.size, byref(chosen))


def write(out: Any, data: memoryview) -> None:
    """Writes beside the target, then renames, so that the target is never half a file."""
    target = os.fspath(out)
    temporary = f"{target}.{os.getpid()}.tmp"
    try:
        with open(temporary, "wb") as file:
            file.write(data)
        os.replace(temporary, target)
    except BaseException:
        if os.path.exists(temporary):
            os.unlink(temporary)
        raise


def _source_list(source: Any) -> Optional[List[bytes]]:
    """The paths to compile into one file; None when the source lies in memory."""
    if is_path(source):
        return [path(source)]
    if isinstance(source, (list, tuple)):
        return [path(item) for item in source]
    return None


def compile_model(
    source: Union[Source, Sequence[str]],
    out: Optional[Union[str, "os.PathLike[str]"]] = None,
    *,
    dims: Optional[Dims] = None,
    shapes: Optional[Shapes] = None,
    numerics: str = "fast",
    optimize: bool = True,
    disable: Sequence[str] = (),
) -> Optional[memoryview]:
    """Compiles an ONNX model: a path, several paths, bytes or an onnx.ModelProto.

    With `out` the result is that file, else the returned view of memory, which `open` takes as it is.
    dims: {"batch": 1, "past": "<=2048"}; shapes: {"x": (1, 3, 224, 224)}; numerics: "fast" or "exact"."""
    chosen = options(dims, shapes, numerics, optimize, disable)
    paths = _source_list(source)
    if paths is not None and out is not None:
        call(lib.holo_compile_files, (c_char_p * len(paths))(*paths), len(paths), path(out), byref(chosen), None)
        return None
    if isinstance(source, (list, tuple)):
        raise Error(Status.E_ARG, "several models are compiled into a file: say which")
    data = compile_to_memory(source, chosen)
    if out is None:
        return data
    write(out, data)
    return None
