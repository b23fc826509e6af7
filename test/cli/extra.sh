# extra.sh - codecs and regular expressions are loaded by the model that needs them, not by every start of the program.
. "$ROOT/test/cli/common.inc"

if ldd "$HOLOGRAM" >linked 2>/dev/null && grep -q 'tiff\|jpeg\|pcre' linked; then
    fail "hologram is linked with codecs"
fi

bytes_of() { # NAME DIM... - ValueInfoProto of uint8
    name=$1
    shift
    dims=
    for d; do dims=$dims$(bytes 1 "$(text 2 "$d")"); done
    text 1 "$name"
    bytes 2 "$(bytes 1 "$(number 1 2)$(bytes 2 "$dims")")"
}
graph=$(bytes 1 "$(node ImageDecoder decode file pixels)")$(text 2 decode)$(bytes 11 "$(bytes_of file n)")$(
    bytes 12 "$(bytes_of pixels h w c)"
)
unhex "$(number 1 9)$(bytes 7 "$graph")$(bytes 8 "$(number 2 20)")" >decode.onnx

# 2 x 1 pixels of the format that needs no library, as an array of 17 bytes
{
    unhex "934e554d50590100"
    printf '\166\000%-117s\n' "{'descr': '|u1', 'fortran_order': False, 'shape': (17,), }"
    printf 'P6 2 1 255\nabcdef'
} >file.npy

run_as 0 compile decode.onnx -o decode.holo
run_as 0 run decode.holo --input file=file.npy
has out "uint8 [1, 2, 3]  min 97  max 102"
run_as 0 inspect decode.holo

# A copy of the program without the library: models that need it say so, others run.
cp "$HOLOGRAM" alone
HOLOGRAM=$PWD/alone
if ./alone compile decode.onnx -o again.holo 2>/dev/null >&2; then
    echo "libhologram_ext is installed on this system"
else
    run_as 1 compile decode.onnx -o again.holo
    has err "libhologram_ext"
    run_as 1 run decode.holo --input file=file.npy
    has err "image.decode"
    has err "libhologram_ext"
fi
dense dense.onnx
run_as 0 run dense.onnx
finish
