# picture.sh - a .png input becomes float [1, 3, H, W] or [1, H, W, 3].
. "$ROOT/test/cli/common.inc"

# 2 x 1 pixels, RGB: (255, 0, 0) and (0, 255, 0)
unhex 89504e470d0a1a0a0000000d49484452000000020000000108020000007b40e8dd0000000f49444154789c63f8cfc0c0f09f010007ff01ff017f89a70000000049454e44ae426082 >two.png

picture() { # FILE DIMS...
    file=$1
    shift
    unhex "$(model "$(bytes 1 "$(node Identity same x y)")$(text 2 picture)$(bytes 11 "$(value x "$@")")$(
        bytes 12 "$(value y "$@")"
    )")" >"$file"
}
picture first.onnx 1 3 h w
picture last.onnx 1 h w 3

"$HOLOGRAM" run first.onnx --input x=two.png >out 2>err || true
if grep -q "no libpng" err; then
    echo "built without libpng"
    exit 77
fi
run_as 0 run first.onnx --input x=two.png
has out "float32 [1, 3, 1, 2]  min 0  max 1"
run_as 0 run last.onnx --input x=two.png
has out "float32 [1, 1, 2, 3]  min 0  max 1"
run_as 0 run first.onnx --input x=two.png --mean 0.5 --scale 0.5,0.5,0.25
has out "min -2  max 1"
run_as 2 run first.onnx --input x=two.png --mean 1,2
run_as 2 run first.onnx --input x=two.png --scale 0
printf 'no picture' >bad.png
run_as 1 run first.onnx --input x=bad.png
has err bad.png
finish
