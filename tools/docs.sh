#!/bin/sh
# docs.sh [--check] [BUILD] - fills in the generated parts of docs/ from the sources and the program in BUILD
# (build/release); --check only says what differs. Between
#
#     {/* BEGIN struct src/archive/holo.h hg_holo_head */}
#     {/* END */}
#
# lies what `emit` prints for those words; docs/reference/operators.mdx is printed by the program as a whole.
# The check also holds docs.json against the pages there are.
set -eu
cd "$(dirname "$0")/.."

# ---- what stands between the marks ---------------------------------------------------------------

# Text for a cell of a table: marks of MDX and tables mean nothing in it.
escape='function cell(s) { gsub(/[|{}<*_]/, "\\\\&", s); return s }
function trim(s) { gsub(/^[ \t]+|[ \t]+$/, "", s); return s }'

emit_code() { # FILE [FUNCTION]: a file without its first comment, or one function with the comment above it
    echo "\`\`\`c $1"
    if [ $# -eq 1 ]; then
        cat "$1"
    else
        awk -v name="$2" '
            /^\/\*/ { kept = "" ; in_comment = 1 }
            in_comment { kept = kept $0 "\n"; if (/\*\//) in_comment = 0; next }
            !found && $0 ~ "(^|[ *])" name "\\(" && !/;$/ && /^[a-z]/ { found = 1; printf "%s", kept }
            found { print }
            found && /^}/ { exit }
            { kept = "" }' "$1"
    fi
    echo '```'
}

emit_lines() { # FILE: as it is
    echo '```text'
    cat "$1"
    echo '```'
}

emit_struct() { # FILE NAME: offset, size and meaning of every field
    awk -v name="$2" "$escape"'
        function size_of(type) {
            if (type ~ /64_t$/) return 8
            if (type ~ /32_t$/) return 4
            if (type ~ /16_t$/) return 2
            return 1
        }
        BEGIN { print "| offset | bytes | field | meaning |\n|---|---|---|---|" }
        $0 ~ "^typedef struct " name " " { inside = 1; next }
        inside && /^}/ {
            at = int((at + widest - 1) / widest) * widest
            printf "\n%d bytes in all.\n", at
            exit
        }
        inside {
            line = $0; comment = ""
            if (match(line, /\/\*.*\*\//)) {
                comment = trim(substr(line, RSTART + 2, RLENGTH - 4)); line = substr(line, 1, RSTART - 1)
            }
            if (line !~ /;/) next
            sub(/;.*/, "", line); line = trim(line)
            type = line; sub(/ .*/, "", type); sub(/^[^ ]+ /, "", line)
            n = split(line, field, /, */)
            for (i = 1; i <= n; i++) {
                count = 1
                if (match(field[i], /\[[0-9]+\]/)) count = substr(field[i], RSTART + 1, RLENGTH - 2)
                size = size_of(type); if (size > widest) widest = size
                at = int((at + size - 1) / size) * size
                printf "| %d | %d | `%s` | %s |\n", at, size * count, field[i], cell(comment)
                at += size * count
            }
        }' "$1"
}

emit_enum() { # FILE NAME PREFIX: numbers and meanings
    awk -v name="$2" -v prefix="$3" "$escape"'
        BEGIN { print "| number | name | meaning |\n|---|---|---|" }
        $0 ~ "^typedef enum " name " " { inside = 1; next }
        inside && /^}/ { exit }
        inside && $1 ~ prefix {
            comment = ""
            if (match($0, /\/\*.*\*\//)) comment = trim(substr($0, RSTART + 2, RLENGTH - 4))
            number = $3; sub(/,.*/, "", number); word = $1; sub(prefix, "", word)
            printf "| %s | `%s` | %s |\n", number, word, cell(comment)
        }' "$1"
}

# Fields of X(1, NAME, "text", "more") lines; quoted commas are kept.
xlist='function fields(line,   rest, n, piece) {
    rest = line; sub(/^[^(]*\(/, "", rest); n = 0
    while (rest != "") {
        rest = trim(rest)
        if (rest ~ /^"/) { match(rest, /^"[^"]*"/); piece = substr(rest, 2, RLENGTH - 2) }
        else { match(rest, /^[^,)]*/); piece = trim(substr(rest, 1, RLENGTH)) }
        field[++n] = piece; rest = substr(rest, RLENGTH + 1)
        if (rest ~ /^ *,/) sub(/^ *,/, "", rest); else break
    }
    return n
}'

emit_status() {
    awk "$escape$xlist"'
        BEGIN { print "| number | status | meaning |\n|---|---|---|" }
        /define HOLO_STATUS_MAP/ { inside = 1; next }
        inside && /X\(/ { fields($0); printf "| %s | `HOLO_%s` | %s |\n", field[2], field[1], cell(field[3]) }
        inside && !/\\$/ { exit }' include/hologram.h
}

emit_types() {
    awk "$escape$xlist"'
        BEGIN { print "| number | name | bits |\n|---|---|---|" }
        /define HOLO_DTYPE_MAP/ { inside = 1; next }
        inside && /X\(/ { fields($0); printf "| %s | %s | %s |\n", field[2], field[3], field[4] }
        inside && !/\\$/ { exit }' include/hologram.h
}

emit_steps() {
    awk "$escape$xlist"'
        BEGIN { print "| number | step | operands | meaning |\n|---|---|---|---|" }
        /^X\(/ { fields($0); printf "| %s | `%s` | `%s` | %s |\n", field[1], field[2], field[3], cell(field[4]) }
    ' src/isa/isa.def
}

emit_lanes() {
    awk "$escape$xlist"'
        BEGIN { print "| number | operation | operands | types and meaning |\n|---|---|---|---|" }
        /^X\(/ { fields($0); printf "| %s | `%s` | %s | %s |\n", field[1], field[4], field[3], cell(field[5]) }
    ' src/isa/lane.def
}

emit_header() { # the public header, a section a heading
    awk '
        function close_block() { if (open) print "```"; open = 0 }
        /^\/\* ---- / {
            title = $0; sub(/^\/\* ---- /, "", title); sub(/ -+ \*\/.*/, "", title)
            close_block(); printf "%s## %s%s\n\n```c include/hologram.h\n", any++ ? "\n" : "", toupper(substr(title, 1, 1)), substr(title, 2)
            open = 1; blank = 0; started = 0; next
        }
        /^#ifdef __cplusplus/ && open && past_init { close_block(); exit }
        /HOLO_INIT\(type\) {.struct/ { past_init = 1 }
        open && $0 == "" { blank = started; next }
        open { if (blank) print ""; blank = 0; started = 1; print }' include/hologram.h
}

emit_help() {
    echo '```text'
    "$hologram" --help
    echo '```'
    for command in $("$hologram" --help | awk '/^commands:/ {on = 1; next} on && NF == 0 {exit} on {print $1}'); do
        printf '\n## hologram %s\n\n```text\n' "$command"
        "$hologram" "$command" --help
        echo '```'
    done
}

emit_passes() {
    "$hologram" passes | awk "$escape"'
        BEGIN { print "| pass | what it does |\n|---|---|" }
        { name = $1; $1 = ""; printf "| `%s` | %s |\n", name, cell(trim($0)) }'
}

emit_tuned() { # kernels that have variants for an instruction set
    find src/backend/cpu -mindepth 2 -name '*.c' | LC_ALL=C sort | xargs awk '
        BEGIN { print "| kernel | instruction set | file |\n|---|---|---|" }
        /^const hg_kernel / { inside = 1 }
        inside && match($0, /\.name = "[^"]*"/) {
            split(FILENAME, part, "/")
            printf "| `%s` | %s | `%s` |\n", substr($0, RSTART + 9, RLENGTH - 10), part[4], FILENAME
        }
        /^};/ { inside = 0 }'
}

emit_errors() { # bad inputs, and what is said about them
    "$build/error_gallery"
}

# ---- pages -----------------------------------------------------------------------------------------

page() { # FILE: the page as it should be
    if [ "$1" = docs/reference/operators.mdx ]; then
        "$hologram" ops --mdx
        return
    fi
    awk -v self="$0" -v build="$build" '
        /^\{\/\* BEGIN / {
            print
            words = $0; sub(/^\{\/\* BEGIN /, "", words); sub(/ \*\/\}.*/, "", words)
            command = "sh tools/docs.sh --emit " build " " words
            print ""
            while ((command | getline line) > 0) print line
            if (close(command) != 0) exit 1
            print ""
            skipping = 1
        }
        /^\{\/\* END \*\/\}/ { skipping = 0 }
        !skipping { print }
        END { exit skipping }' "$1"
}

check_navigation() {
    find docs -name '*.mdx' | sed 's|^docs/||; s|\.mdx$||' | LC_ALL=C sort >"$work/pages"
    sed -n 's|^ *"\([a-z0-9/-]*\)",\{0,1\}$|\1|p' docs/docs.json | LC_ALL=C sort >"$work/listed"
    diff "$work/pages" "$work/listed" >"$work/navigation" && return 0
    echo "docs.json and the pages differ (< only a page, > only listed):"
    grep '^[<>]' "$work/navigation"
    return 1
}

mode=fill
case ${1:-} in
--check) mode=check && shift ;;
--emit) mode=emit && shift ;;
esac
build=${1:-build/release}
hologram=$build/hologram
[ -x "$hologram" ] || { echo "there is no $hologram: ./dev build" >&2; exit 1; }
if [ $mode = emit ]; then
    kind=$2
    shift 2
    "emit_$kind" "$@"
    exit
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
bad=0
[ $mode = check ] || touch docs/reference/operators.mdx
for file in $(find docs -name '*.mdx' | LC_ALL=C sort); do
    page "$file" >"$work/page" || { echo "$file: a generated part failed" && exit 1; }
    cmp -s "$work/page" "$file" && continue
    if [ $mode = check ]; then
        echo "$file is not what tools/docs.sh makes of it:"
        diff "$file" "$work/page" | head -n 10
        bad=1
    else
        cp "$work/page" "$file"
        echo "wrote $file"
    fi
done
check_navigation || bad=1
exit $bad
