"""_tensor.py - numpy arrays, lists and dicts as holo_tensor and back.

Types numpy lacks are carried by those of ml_dtypes when it is installed. Without it they are raw bits: uint16 for
bfloat16, uint8 for 8-bit floats; 4-bit and 2-bit elements lie one to a byte."""
import ctypes
from typing import Any, Dict, List, NamedTuple, Optional, Tuple

import numpy as np

from ._library import MAX_RANK, Error, Status, holo_string, holo_tensor, lib

try:
    import ml_dtypes
except ImportError:
    ml_dtypes = None


class Narrow(NamedTuple):
    """A type numpy lacks."""

    bits: int
    raw: np.dtype  # what carries its bits
    numpy: np.dtype  # what arrays of it have: the type of ml_dtypes, or raw


def _narrow(name: str, bits: int, raw: str) -> Narrow:
    return Narrow(bits, np.dtype(raw), np.dtype(getattr(ml_dtypes, name, raw)))


NARROW_BY_NAME: Dict[str, Narrow] = {
    "bfloat16": _narrow("bfloat16", 16, "uint16"),
    "float8e4m3fn": _narrow("float8_e4m3fn", 8, "uint8"),
    "float8e4m3fnuz": _narrow("float8_e4m3fnuz", 8, "uint8"),
    "float8e5m2": _narrow("float8_e5m2", 8, "uint8"),
    "float8e5m2fnuz": _narrow("float8_e5m2fnuz", 8, "uint8"),
    "float8e8m0": _narrow("float8_e8m0fnu", 8, "uint8"),
    "float4e2m1": _narrow("float4_e2m1fn", 4, "uint8"),
    "uint4": _narrow("uint4", 4, "uint8"),
    "int4": _narrow("int4", 4, "int8"),
    "uint2": _narrow("uint2", 2, "uint8"),
    "int2": _narrow("int2", 2, "int8"),
}
_OTHER = ("string", "sequence", "optional", "map")

# The library's own list of types: name -> number and back.
NUMBER = {lib.holo_dtype_text(n).decode(): n for n in range(1, 67) if lib.holo_dtype_text(n) != b"unknown"}
NAME = {number: name for name, number in NUMBER.items()}
STRING, SEQUENCE, OPTIONAL, MAP = (NUMBER[name] for name in _OTHER)
NARROW = {NUMBER[name]: narrow for name, narrow in NARROW_BY_NAME.items()}
NUMPY = {n: np.dtype(name) for name, n in NUMBER.items() if name not in NARROW_BY_NAME and name not in _OTHER}
_FROM_NUMPY = {dtype: number for number, dtype in NUMPY.items()}
_FROM_NUMPY.update({t.numpy: n for n, t in NARROW.items() if t.numpy != t.raw})


def dtype_number(dtype: Any) -> int:
    """The library's number for a type: a name such as "bfloat16", a numpy type, or the number itself."""
    if isinstance(dtype, str) and dtype in NUMBER:
        return NUMBER[dtype]
    if isinstance(dtype, int) and dtype in NAME:
        return dtype
    try:
        found = np.dtype(dtype)
    except TypeError:
        raise Error(Status.E_TYPE, f"{dtype!r} is no type of an element") from None
    if found.kind in "USO":
        return STRING
    number = _FROM_NUMPY.get(found.newbyteorder("="))
    if number is None:
        raise Error(Status.E_TYPE, f"arrays of {found} have no counterpart; float32, int64, ... do")
    return number


# ---- in ----------------------------------------------------------------------------------------------


def as_array(value: Any, dtype: int = 0) -> np.ndarray:
    """An array of what was given, not copied where that can be; lists and plain numbers take the wanted type."""
    if isinstance(value, (np.ndarray, np.generic)):
        return np.asarray(value)
    if hasattr(value, "__dlpack__"):
        return np.from_dlpack(value)
    if hasattr(value, "__array__"):
        return np.asarray(value)
    if dtype == STRING:
        return np.asarray(value, dtype=object)
    try:
        return np.asarray(value, dtype=NARROW[dtype].numpy if dtype in NARROW else NUMPY.get(dtype))
    except (TypeError, ValueError, OverflowError) as reason:
        raise Error(Status.E_TYPE, f"no array of {NAME.get(dtype, 'numbers')}: {reason}") from None


def address(array: np.ndarray) -> int:
    return array.__array_interface__["data"][0]


def _dense(array: np.ndarray) -> np.ndarray:
    """Row-major, aligned and in the byte order of this machine: the array itself if it is that already."""
    flags = array.flags
    if flags.c_contiguous and flags.aligned and array.dtype.isnative:
        return array
    return np.array(array, dtype=array.dtype.newbyteorder("="), order="C")


def _pack(array: np.ndarray, bits: int) -> np.ndarray:
    """Several elements to a byte, the first in the low bits."""
    per_byte = 8 // bits
    codes = np.zeros(-(-array.size // per_byte) * per_byte, np.uint8)
    codes[: array.size] = array.view(np.uint8).reshape(-1) & ((1 << bits) - 1)
    shifts = np.arange(per_byte, dtype=np.uint8) * np.uint8(bits)
    return np.bitwise_or.reduce(codes.reshape(-1, per_byte) << shifts, axis=1).astype(np.uint8)


def _shape(tensor: holo_tensor, shape: Tuple[int, ...], dtype: int) -> None:
    if len(shape) > MAX_RANK:
        raise Error(Status.E_SHAPE, f"an array has {len(shape)} dimensions, at most {MAX_RANK} are possible")
    tensor.rank = len(shape)
    tensor.dtype = dtype
    for i, size in enumerate(shape):
        tensor.dim[i] = size


def _fill_strings(tensor: holo_tensor, array: np.ndarray, keep: List[Any]) -> None:
    items = [x if isinstance(x, bytes) else _encode(x) for x in array.reshape(-1).tolist()]
    text = b"".join(items)
    strings = (holo_string * max(1, len(items)))()
    at = ctypes.cast(ctypes.c_char_p(text), ctypes.c_void_p).value
    for string, item in zip(strings, items):
        string.text = at
        string.length = len(item)
        at += len(item)
    keep += [text, strings]
    tensor.data = ctypes.addressof(strings)


def _encode(text: Any) -> bytes:
    if not isinstance(text, str):
        raise Error(Status.E_TYPE, f"an array of objects holds {type(text).__name__}, only str and bytes are possible")
    return text.encode("utf-8", "surrogateescape")


def _fill_items(tensor: holo_tensor, dtype: int, values: List[Any], kinds: List[int], keep: List[Any]) -> None:
    items = (holo_tensor * max(1, len(values)))()
    for item, value, kind in zip(items, values, kinds):
        fill(item, value, kind, keep)
    _shape(tensor, (len(values),), dtype)
    keep.append(items)
    tensor.data = ctypes.addressof(items)


def _item_kind(value: Any) -> int:
    """The type of an item that nothing declares; 0: that of its array."""
    return MAP if isinstance(value, dict) else SEQUENCE if isinstance(value, (list, tuple)) else 0


def _map_side(values: List[Any]) -> np.ndarray:
    """Keys or values of a map. Plain numbers of Python are float32 and int64, the types such maps nearly always have."""
    if all(type(x) is float for x in values):
        return np.asarray(values, np.float32)
    return np.asarray(values, object if all(isinstance(x, (str, bytes)) for x in values) else None)


def fill(tensor: holo_tensor, value: Any, dtype: int, keep: List[Any]) -> None:
    """Describes `value` in `tensor`; dtype is what is expected, 0 if that is open. What must live is put in `keep`."""
    if dtype == SEQUENCE:
        if not isinstance(value, (list, tuple)):
            raise Error(Status.E_TYPE, f"a list is expected, not {type(value).__name__}")
        _fill_items(tensor, SEQUENCE, list(value), [MAP if isinstance(x, dict) else 0 for x in value], keep)
    elif dtype == OPTIONAL:
        present = [] if value is None else [value]
        _fill_items(tensor, OPTIONAL, present, [_item_kind(x) for x in present], keep)
    elif dtype == MAP:
        if not isinstance(value, dict):
            raise Error(Status.E_TYPE, f"a dict is expected, not {type(value).__name__}")
        sides = [_map_side(list(value.keys())), _map_side(list(value.values()))]
        _fill_items(tensor, MAP, sides, [0, 0], keep)
    else:
        _fill_array(tensor, as_array(value, dtype), dtype, keep)


def _fill_array(tensor: holo_tensor, array: np.ndarray, dtype: int, keep: List[Any]) -> None:
    narrow = NARROW.get(dtype)
    number = dtype if narrow is not None and array.dtype == narrow.raw else dtype_number(array.dtype)
    _shape(tensor, array.shape, number)
    if number == STRING:
        _fill_strings(tensor, array, keep)
        return
    array = _dense(array)
    if number in NARROW and NARROW[number].bits < 8:
        array = _pack(array, NARROW[number].bits)
    keep.append(array)
    tensor.data = address(array)


# ---- out ---------------------------------------------------------------------------------------------


def empty(dtype: int, shape: Tuple[int, ...]) -> Optional[np.ndarray]:
    """An array the library can write into as it is; None for strings, containers and packed elements."""
    narrow = NARROW.get(dtype)
    chosen = NUMPY.get(dtype) if narrow is None else narrow.numpy if narrow.bits >= 8 else None
    return None if chosen is None else np.empty(shape, chosen)


def _unpack(packed: np.ndarray, narrow: Narrow, shape: Tuple[int, ...]) -> np.ndarray:
    bits, per_byte = narrow.bits, 8 // narrow.bits
    shifts = np.arange(per_byte, dtype=np.uint8) * np.uint8(bits)
    codes = (packed[:, None] >> shifts & ((1 << bits) - 1)).astype(np.uint8).reshape(-1)
    codes = codes[: int(np.prod(shape, dtype=np.int64))].view(narrow.raw)
    if narrow.raw == np.int8:
        codes = (codes ^ np.int8(1 << (bits - 1))) - np.int8(1 << (bits - 1))  # the sign bit reaches up
    return codes.reshape(shape).view(narrow.numpy)


def _strings(tensor: holo_tensor, shape: Tuple[int, ...]) -> np.ndarray:
    count = int(np.prod(shape, dtype=np.int64))
    result = np.empty(count, object)
    if count:
        strings = (holo_string * count).from_address(tensor.data)
        for i, s in enumerate(strings):
            text = ctypes.string_at(s.text, s.length) if s.length else b""
            result[i] = text.decode("utf-8", "surrogateescape")
    return result.reshape(shape)


def _items(tensor: holo_tensor) -> List[Any]:
    count = tensor.dim[0]
    return [read(item) for item in (holo_tensor * count).from_address(tensor.data)] if count else []


def read(tensor: holo_tensor) -> Any:
    """What a tensor holds, copied: an array, a list, a dict, or None for an optional that is absent."""
    dtype = tensor.dtype
    if dtype == SEQUENCE:
        return _items(tensor)
    if dtype == OPTIONAL:
        return (_items(tensor) or [None])[0]
    if dtype == MAP:
        keys, values = _items(tensor)
        return dict(zip(keys.tolist(), values.tolist()))
    shape = tuple(tensor.dim[: tensor.rank])
    if dtype == STRING:
        return _strings(tensor, shape)
    size = lib.holo_tensor_bytes(ctypes.byref(tensor))
    array = empty(dtype, shape)
    target = np.empty(size, np.uint8) if array is None else array
    if size:
        ctypes.memmove(address(target), tensor.data, size)
    return _unpack(target, NARROW[dtype], shape) if array is None else array
