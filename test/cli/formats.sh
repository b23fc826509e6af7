# formats.sh - files of formats that are not read (attacks 29 to 33): one sentence, nothing executed, nothing written.
. "$ROOT/test/cli/common.inc"

refused() { # FILE
    run_as 1 compile "$1" -o out.holo -q
    lines err 1
    absent out.holo
    run_as 1 run "$1"
    lines err 1
}

# GGUF with absurd counts; safetensors whose header is 2^63 bytes long, and one that is right.
printf 'GGUF\003\000\000\000\377\377\377\377\377\377\377\177\377\377\377\377\377\377\377\177' >a.gguf
printf '\377\377\377\377\377\377\377\177{}' >a.safetensors
printf '\002\000\000\000\000\000\000\000{}' >b.safetensors
# A pickle that would run a command, bare and in a zip of PyTorch's shape; a zip that leaves its folder.
printf 'cos\nsystem\n(S"touch executed"\ntR.' >a.pkl
printf 'PK\003\004\024\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\012\000\000\000../../evil' >a.pt
# JSON nested a hundred thousand deep, and with half a surrogate.
head -c 100000 /dev/zero | tr '\0' '[' >deep.json
printf '{"a":"\\ud800"}' >half.json
# Python is never executed.
printf 'open("executed", "w")\n' >kernel.py
for file in a.gguf a.safetensors b.safetensors a.pkl a.pt deep.json half.json kernel.py; do
    refused "$file"
done
absent executed ../../evil
finish
