"""npy.py - reads .npy files, compares two of them, moves one by a rounding step, widens one. Standard library only."""
import array
import ast
import math
import struct
import sys

CODES = {"f4": "f", "f8": "d", "i8": "q", "i4": "i", "i2": "h", "i1": "b", "u1": "B", "b1": "B", "u2": "H",
         "u4": "I", "u8": "Q"}


def split(path):
    """(everything before the numbers, the header as a dict, the numbers as bytes)."""
    with open(path, "rb") as f:
        data = f.read()
    if data[:6] != b"\x93NUMPY":
        raise ValueError(path + " is no .npy file")
    wide = data[6] >= 2
    length = struct.unpack_from("<I" if wide else "<H", data, 8)[0]
    start = (12 if wide else 10)
    head = ast.literal_eval(data[start:start + length].decode("latin-1"))
    return data[:start + length], head, data[start + length:]


def step(path, to):
    """Writes the file with each finite number other than zero moved one step away from zero; False, and nothing
    written, when it holds no floating-point number."""
    before, head, body = split(path)
    infinity = {"f2": ("<H", 0x7C00), "f4": ("<I", 0x7F800000), "f8": ("<Q", 0x7FF0000000000000)}
    kind = head["descr"].lstrip("<|=")
    if kind not in infinity or not body:
        return False
    code, top = infinity[kind]
    sign = 1 << (8 * struct.calcsize(code) - 1)
    numbers = (bits for (bits,) in struct.iter_unpack(code, body))
    moved = b"".join(struct.pack(code, bits + (0 < bits % sign < top - 1)) for bits in numbers)
    with open(to, "wb") as f:
        f.write(before + moved)
    return True


def widen(path, to):
    """Writes the file with 32- and 16-bit floats as 64-bit ones, any other as it is."""
    before, head, body = split(path)
    kind = head["descr"].lstrip("<|=")
    if kind in ("f4", "f2"):
        numbers = [v for (v,) in struct.iter_unpack("<f" if kind == "f4" else "<e", body)]
        before = before.replace(kind.encode(), b"f8", 1)
        body = struct.pack("<%dd" % len(numbers), *numbers)
    with open(to, "wb") as f:
        f.write(before + body)


def read(path):
    """(shape, values) of a C-ordered file."""
    _, head, body = split(path)
    kind = head["descr"].lstrip("<|=")
    if head["fortran_order"] and len(head["shape"]) > 1:
        raise ValueError(path + " is in Fortran order")
    if kind == "f2":
        return head["shape"], [v for (v,) in struct.iter_unpack("<e", body)]
    values = array.array(CODES[kind])
    values.frombytes(body)
    if sys.byteorder == "big":
        values.byteswap()
    return head["shape"], values


def difference(ours, reference):
    """(largest difference, largest number of the reference); the first is inf when shapes or non-finite
    values differ."""
    shape, values = read(ours)
    other_shape, other = read(reference)
    if tuple(shape) != tuple(other_shape) or len(values) != len(other):
        return math.inf, 0.0
    most = worst = 0.0
    for a, b in zip(values, other):
        if not math.isfinite(b) or not math.isfinite(a):
            if not (a == b or (a != a and b != b)):
                return math.inf, most
            continue
        d = abs(a - b)
        worst = d if d > worst else worst
        most = abs(b) if abs(b) > most else most
    return worst, most
