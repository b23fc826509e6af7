"""_library.py - the C library: its structs and functions as include/hologram.h declares them, and its errors.

ctypes gives up the interpreter's lock during every call, so other Python threads run while a model does."""
import ctypes
import enum
import operator
import os
import sys
from ctypes import POINTER, c_bool, c_char, c_char_p, c_float, c_int, c_int32, c_int64, c_size_t
from ctypes import c_double, c_uint32, c_uint64, c_void_p
from pathlib import Path
from typing import Any, Optional

MAX_RANK = 8


class Status(enum.IntEnum):
    """What kind of failure an Error is; the numbers of holo_status."""

    OK = 0
    E_NOMEM = 1
    E_ARG = 2
    E_IO = 3
    E_LIMIT = 4
    E_CANCELLED = 5
    E_STATE = 6
    E_SHAPE = 10
    E_TYPE = 11
    E_MODEL = 12
    E_UNSUPPORTED = 13
    E_FORMAT = 20
    E_VERSION = 21
    E_KERNEL = 22
    E_DATA = 30
    E_SPACE = 31
    E_BUG = 99


class Error(RuntimeError):
    """A call failed; the text is the library's sentence. What is raised is one of the classes below, which have the names
    that ONNX Runtime gives to its errors."""

    def __new__(cls, status: int, message: str) -> "Error":
        kind = _KINDS.get(status, Fail) if cls is Error else cls
        return super().__new__(kind, status, message)

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = Status(status)

    def __reduce__(self) -> Any:
        return Error, (int(self.status), str(self))


class Fail(Error):
    """The run was stopped, data cannot be taken, memory is exhausted, or anything else."""


class InvalidArgument(Error):
    """Something given has the wrong name, shape or type, or is missing."""


class InvalidGraph(Error):
    """The model breaks the rules of its format."""


class InvalidProtobuf(Error):
    """The file is no model, or is damaged."""


class NoSuchFile(Error):
    """A file cannot be read or written."""


class NotImplemented(Error):
    """An operator, type or kernel that this version lacks."""


_KINDS = {
    Status.E_ARG: InvalidArgument,
    Status.E_STATE: InvalidArgument,
    Status.E_SHAPE: InvalidArgument,
    Status.E_TYPE: InvalidArgument,
    Status.E_MODEL: InvalidGraph,
    Status.E_FORMAT: InvalidProtobuf,
    Status.E_VERSION: InvalidProtobuf,
    Status.E_IO: NoSuchFile,
    Status.E_UNSUPPORTED: NotImplemented,
    Status.E_KERNEL: NotImplemented,
}


# ---- structs ---------------------------------------------------------------------------------------


class holo_error(ctypes.Structure):
    _fields_ = [("status", c_int), ("message", c_char * 508)]


class holo_tensor(ctypes.Structure):
    _fields_ = [("data", c_void_p), ("dim", c_int64 * MAX_RANK), ("rank", c_int32), ("dtype", c_int)]


class holo_string(ctypes.Structure):
    _fields_ = [("text", c_void_p), ("length", c_uint64)]


class holo_limits(ctypes.Structure):
    _fields_ = [
        ("memory_bytes", c_uint64),
        ("tensor_bytes", c_uint64),
        ("loop_iterations", c_uint64),
        ("run_ms", c_uint64),
        ("tensor_elements", c_uint64),
        ("steps", c_uint64),
        ("string_bytes", c_uint64),
        ("name_bytes", c_uint32),
        ("rank", c_uint32),
        ("nesting", c_uint32),
    ]


class holo_dim_setting(ctypes.Structure):
    _fields_ = [("name", c_char_p), ("value", c_int64), ("at_most", c_bool)]


class holo_shape_setting(ctypes.Structure):
    _fields_ = [("input", c_char_p), ("dim", POINTER(c_int64)), ("rank", c_int32)]


class holo_compile_options(ctypes.Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("flags", c_uint32),
        ("numerics", c_int),
        ("dims", POINTER(holo_dim_setting)),
        ("n_dims", c_size_t),
        ("shapes", POINTER(holo_shape_setting)),
        ("n_shapes", c_size_t),
        ("disable", POINTER(c_char_p)),
        ("n_disable", c_size_t),
        ("dump_after", c_char_p),
        ("dump", c_void_p),
        ("dump_user", c_void_p),
        ("log", c_void_p),
        ("log_user", c_void_p),
        ("progress", c_void_p),
        ("progress_user", c_void_p),
        ("allocator", c_void_p),
        ("limits", holo_limits),
        ("extra", c_void_p),
        ("precompute", c_void_p),
        ("n_precompute", c_size_t),
        ("quantize", c_int),
        ("calibrate", c_void_p),
        ("n_calibrate", c_size_t),
        ("percentile", c_double),
        ("layer", c_void_p),
        ("layer_user", c_void_p),
        ("emit", c_void_p),
        ("emit_user", c_void_p),
        ("max_error", c_double),
    ]


class holo_attr(ctypes.Structure):
    _fields_ = [
        ("name", c_char_p),
        ("kind", c_int),
        ("i", c_int64),
        ("f", c_float),
        ("s", c_char_p),
        ("ints", POINTER(c_int64)),
        ("floats", POINTER(c_float)),
        ("strings", POINTER(c_char_p)),
        ("count", c_size_t),
        ("tensor", POINTER(holo_tensor)),
    ]


class holo_open_options(ctypes.Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("flags", c_uint32),
        ("allocator", c_void_p),
        ("limits", holo_limits),
        ("extra", c_void_p),
    ]


class holo_port(ctypes.Structure):
    _fields_ = [
        ("name", c_char_p),
        ("dtype", c_int),
        ("rank", c_int32),
        ("dim", c_int64 * MAX_RANK),
        ("dim_name", c_char_p * MAX_RANK),
    ]


class holo_session_options(ctypes.Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("flags", c_uint32),
        ("graph", c_uint32),
        ("pool", c_void_p),
        ("memory", c_void_p),
        ("memory_bytes", c_size_t),
        ("late_bytes", c_size_t),
        ("allocator", c_void_p),
        ("limits", holo_limits),
        ("trace", c_void_p),
        ("trace_user", c_void_p),
        ("memo", c_void_p),
    ]


NO_OPTIMIZE = 1  # HOLO_COMPILE_NO_OPTIMIZE
OPEN_COPY = 1  # HOLO_OPEN_COPY
SESSION_GROW = 1  # HOLO_SESSION_GROW
ATTR_INT, ATTR_FLOAT, ATTR_STRING, ATTR_INTS, ATTR_FLOATS, ATTR_STRINGS, ATTR_TENSOR = range(1, 8)

# ---- functions -------------------------------------------------------------------------------------

# Functions that return holo_status and take a holo_error last: their other arguments.
_FALLIBLE = {
    "holo_compile_files": [POINTER(c_char_p), c_size_t, c_char_p, c_void_p, c_void_p],
    "holo_compile_memory": [c_void_p, c_size_t, c_void_p, c_void_p, c_void_p, c_void_p],
    "holo_compile_file_to_memory": [c_char_p, c_void_p, c_void_p, c_void_p, c_void_p],
    "holo_compile_graph": [c_void_p, c_void_p, c_void_p, c_void_p, c_void_p],
    "holo_graph_new": [c_int32, c_void_p, c_void_p],
    "holo_model_open_file": [c_char_p, c_void_p, c_void_p, c_void_p],
    "holo_model_open_memory": [c_void_p, c_size_t, c_void_p, c_void_p, c_void_p],
    "holo_pool_new": [c_uint32, c_void_p, c_void_p],
    "holo_session_new": [c_void_p, c_void_p, c_void_p],
    "holo_session_set_input": [c_void_p, c_uint32, c_void_p],
    "holo_session_set_output": [c_void_p, c_uint32, c_void_p, c_size_t],
    "holo_session_set_cache": [c_void_p, c_uint32, c_uint32, c_void_p, c_int32, c_int64],
    "holo_session_run": [c_void_p],
    "holo_session_output": [c_void_p, c_uint32, c_void_p],
}

VISIT = ctypes.CFUNCTYPE(None, c_void_p, c_char_p, c_char_p)

# The others: result, arguments.
_PLAIN = {
    "holo_version": (c_char_p, []),
    "holo_status_text": (c_char_p, [c_int]),
    "holo_dtype_text": (c_char_p, [c_int]),
    "holo_tensor_bytes": (c_size_t, [c_void_p]),
    "holo_kernels_all": (c_void_p, []),
    "holo_session_cache_length": (c_int64, [c_void_p, c_uint32]),
    "holo_buffer_free": (None, [c_void_p, c_void_p, c_size_t]),
    "holo_graph_free": (None, [c_void_p]),
    "holo_graph_input": (c_uint32, [c_void_p, c_char_p, c_int, c_char_p]),
    "holo_graph_constant": (c_uint32, [c_void_p, c_void_p]),
    "holo_graph_node": (
        c_bool,
        [c_void_p, c_char_p, c_void_p, c_size_t, c_void_p, c_size_t, c_void_p, c_size_t],
    ),
    "holo_graph_output": (c_bool, [c_void_p, c_uint32, c_char_p]),
    "holo_model_free": (None, [c_void_p]),
    "holo_model_graph_count": (c_uint32, [c_void_p]),
    "holo_model_graph_name": (c_char_p, [c_void_p, c_uint32]),
    "holo_model_input_count": (c_uint32, [c_void_p, c_uint32]),
    "holo_model_output_count": (c_uint32, [c_void_p, c_uint32]),
    "holo_model_input": (c_int, [c_void_p, c_uint32, c_uint32, c_void_p]),
    "holo_model_output": (c_int, [c_void_p, c_uint32, c_uint32, c_void_p]),
    "holo_model_metadata": (None, [c_void_p, VISIT, c_void_p]),
    "holo_pool_free": (None, [c_void_p]),
    "holo_session_cancel": (None, [c_void_p]),
    "holo_session_free": (None, [c_void_p]),
}


def _load(name: str) -> ctypes.CDLL:
    suffix = {"darwin": ".dylib", "win32": ".dll"}.get(sys.platform, ".so")
    library = ctypes.CDLL(str(Path(__file__).with_name(name + suffix)))
    for function, arguments in _FALLIBLE.items():
        if hasattr(library, function):
            getattr(library, function).argtypes = [*arguments, c_void_p]
    for function, (result, arguments) in _PLAIN.items():
        if hasattr(library, function):
            getattr(library, function).argtypes = arguments
            getattr(library, function).restype = result
    return library


lib = _load("libhologram")


def _load_extra() -> Optional[int]:
    """The kernels of libhologram_ext; None where the picture or regular expression libraries are not installed."""
    try:
        extra = _load("libhologram_ext")
    except OSError:
        return None
    extra.holo_kernels_ext.restype = c_void_p
    return extra.holo_kernels_ext()


EXTRA = _load_extra()
KERNELS = lib.holo_kernels_all()


def call(function: Any, *arguments: Any) -> None:
    """Calls a function that can fail; its sentence becomes an Error."""
    error = holo_error()
    status = function(*arguments, ctypes.byref(error))
    if status != 0:
        sentence = error.message or lib.holo_status_text(status)
        raise Error(status, sentence.decode("utf-8", "replace"))


def text(value: Any) -> bytes:
    """Text for the library, whose strings end at the first zero."""
    if not isinstance(value, (str, bytes)):
        raise Error(Status.E_ARG, f"text is expected, not {type(value).__name__}")
    encoded = value.encode("utf-8", "surrogateescape") if isinstance(value, str) else value
    if b"\0" in encoded:
        raise Error(Status.E_ARG, f"{value!r} has a zero character in it")
    return encoded


def whole(value: Any, what: str, bits: int = 64) -> int:
    """An integer that the library can hold; ctypes would drop the upper bits of others without a word."""
    number = operator.index(value)
    if not -(1 << (bits - 1)) <= number < 1 << (bits - 1):
        raise Error(Status.E_ARG, f"{what} is {number}, expected an integer of {bits} bits")
    return number


def path(value: Any) -> bytes:
    return text(os.fsencode(value))


def name(encoded: Optional[bytes]) -> str:
    """Text of the library; no file can make it fail."""
    return (encoded or b"").decode("utf-8", "surrogateescape")


def version() -> str:
    """Version of the library, for instance "0.1.0"."""
    return lib.holo_version().decode()
