#!/bin/sh
# check_symbols.sh [BUILD] - what the compiled library may define and call; BUILD is build/release.
set -eu
cd "$(dirname "$0")/.."
build=${1:-build/release}
bad=0

complain() {
    printf '%s\n' "$1"
    bad=1
}

# Prints the lines of standard input under a heading, if there are any.
complain_lines() {
    lines=$(cat)
    [ -z "$lines" ] || complain "$1
$lines"
}

objects() {
    find "$@" -name '*.o' 2>/dev/null | LC_ALL=C sort
}

run=$build/CMakeFiles/run_objects.dir
compile=$build/CMakeFiles/compile_objects.dir
ext=$build/CMakeFiles/ext_objects.dir
[ -d "$run" ] || { echo "$build holds no objects: run ./dev build first"; exit 1; }

# A static library must not collide with its host.
complain_lines "global names start with holo_ or hg_:" <<LINES
$(objects "$run" "$compile" "$ext" | xargs nm -A -g --defined-only | grep -Ev ' (holo|hg)_[A-Za-z0-9_.]*$')
LINES

# A shared library exports the public interface and nothing else.
for library in "$build"/libhologram.so "$build"/libhologram_rt.so "$build"/libhologram_ext.so; do
    complain_lines "$library exports more than holo_:" <<LINES
$(nm -D --defined-only "$library" | grep -Ev ' (holo_[A-Za-z0-9_]*|_init|_fini)$')
LINES
    [ "$library" != "$build"/libhologram_ext.so ] || continue # other libraries are what it is for
    complain_lines "$library needs more than libc, libm and threads:" <<LINES
$(objdump -p "$library" | awk '$1 == "NEEDED" && $2 !~ /^(libc|libm|libpthread|ld-linux[^.]*)\.so/ {print $2}')
LINES
done

# No mutable state: only constant tables that the loader relocates (.data.rel.ro) may lie in .data.
complain_lines "mutable data at file scope:" <<LINES
$(objects "$run" "$compile" "$ext" | xargs size -A | awk '
    / :$/ || /:$/ {file = $1}
    $1 ~ /^\.t?(data|bss)/ && $1 !~ /^\.data\.rel\.ro/ && $2 > 0 {print file, $1, $2 " bytes"}')
LINES

# Running allocates nothing.
complain_lines "allocation on the run path:" <<LINES
$(objects "$run"/src/runtime/run.c.o "$run"/src/kernel "$run"/src/backend/cpu "$ext" |
    xargs -r nm -A -u | grep -E ' U (malloc|calloc|realloc|free|aligned_alloc|posix_memalign)(@|$)')
LINES

exit $bad
