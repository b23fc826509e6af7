#!/bin/sh
# uhd.sh - examples/uhd.c on a small picture that has every byte in every channel, against the chain computed in double
# by a few lines of Python.
#
#     BUILD=build/release test/example/uhd.sh
set -eu

ROOT=$(cd "$(dirname "$0")/../.." && pwd)
build=$(cd "$ROOT/${BUILD:-build/release}" && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
trap 'exit 130' HUP INT TERM
cd "$folder"
. "$ROOT/test/cli/common.inc"
command -v cc >/dev/null || { echo "there is no cc" && exit 77; }
command -v python3 >/dev/null || { echo "there is no python3" && exit 77; }
echo '#include <png.h>' | cc -E - >/dev/null 2>&1 || { echo "there is no libpng" && exit 77; }

cc -std=c11 -Wall -Wextra -Werror -I"$ROOT/include" "$ROOT/examples/uhd.c" "$build/libhologram.a" -lm -lpthread -lpng \
    -o uhd || fail "examples/uhd.c does not compile"

cat >check.py <<'PYTHON'
import math
import struct
import sys
import zlib

WIDTH, HEIGHT = 67, 41


def pixels():
    """Every byte in every channel, then noise."""
    state, out = 1, bytearray()
    for i in range(WIDTH * HEIGHT):
        for c in range(3):
            state = (state * 1664525 + 1013904223) % 2 ** 32
            out.append((i + 85 * c) % 256 if i < 256 else state >> 24)
    return out


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def write(path, data):
    rows = b"".join(b"\0" + bytes(data[3 * WIDTH * y:3 * WIDTH * (y + 1)]) for y in range(HEIGHT))
    with open(path, "wb") as f:
        f.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", WIDTH, HEIGHT, 8, 2, 0, 0, 0)) +
                chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


def paeth(a, b, c):
    p = a + b - c
    near = min((abs(p - a), 0, a), (abs(p - b), 1, b), (abs(p - c), 2, c))
    return near[2]


def read(path):
    """An RGB picture of 8 bits, whatever filters its rows have."""
    with open(path, "rb") as f:
        file = f.read()
    at, packed = 8, b""
    while at < len(file):
        size = struct.unpack(">I", file[at:at + 4])[0]
        if file[at + 4:at + 8] == b"IHDR":
            assert struct.unpack(">IIBB", file[at + 8:at + 18]) == (WIDTH, HEIGHT, 8, 2)
        if file[at + 4:at + 8] == b"IDAT":
            packed += file[at + 8:at + 8 + size]
        at += size + 12
    raw, out, above = zlib.decompress(packed), bytearray(), bytearray(3 * WIDTH)
    for y in range(HEIGHT):
        start = y * (3 * WIDTH + 1)
        kind, row = raw[start], bytearray(raw[start + 1:start + 1 + 3 * WIDTH])
        for i in range(3 * WIDTH):
            a, b, c = row[i - 3] if i >= 3 else 0, above[i], above[i - 3] if i >= 3 else 0
            row[i] = (row[i] + (0, a, b, (a + b) // 2, paeth(a, b, c))[kind]) % 256
        out += row
        above = row
    return out


def graded(byte, c):
    x = byte / 255 * (1.06, 1.0, 0.95)[c]
    x = x ** (0.92, 1.04, 1.11)[c]
    x = (x - 0.5) * (1.12, 1.08, 1.17)[c] + 0.5
    x += (0.021, 0.013, -0.017)[c]
    x = min(max(x, 0.0), 1.0)
    x = math.tanh(x * (1.31, 1.24, 1.43)[c])
    limit = (0.913, 0.927, 0.941)[c]
    x = 2 * limit - x if x > limit else x
    levels = (24.3, 28.7, 20.9)[c]
    x = math.floor(x * levels) / levels
    x += (x * x * (3 - 2 * x) - x) * (0.55, 0.45, 0.65)[c]
    x += (0.012, 0.004, 0.031)[c]
    fade = (0.06, 0.05, 0.09)[c]
    x = x * (1 - fade) + fade
    return 255 * min(max(x, 0.0), 1.0)


if sys.argv[1] == "make":
    write("in.png", pixels())
else:
    before, after = pixels(), read("out.png")
    for i, byte in enumerate(before):
        want = graded(byte, i % 3)
        if abs(after[i] - want) > 0.501:
            sys.exit("byte %d of channel %d became %d, expected %.3f" % (byte, i % 3, after[i], want))
    print("%d bytes, %d values" % (len(after), len(set(after))))
PYTHON

python3 check.py make
./uhd in.png out.png --frames 3 >out || fail "uhd: $(cat out)"
has out "67 x 41"
has out "frames per second"
python3 check.py compare || fail "the picture is wrong"
./uhd in.png out.png --frames 2 --threads 2 >out || fail "uhd with two threads: $(cat out)"
python3 check.py compare || fail "the picture of two threads is wrong"
if ./uhd missing.png out.png 2>err; then fail "uhd read nothing"; fi
has err missing.png
if ./uhd --frames 0 2>err; then fail "uhd takes --frames 0"; fi
has err usage
finish
