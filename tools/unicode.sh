#!/bin/sh
# unicode.sh [FOLDER] - prints src/kernel/string_case.inc: cases of letters and white space, from the files of the Unicode
# Character Database in FOLDER (Debian's package unicode-data has them in /usr/share/unicode).
#
#     tools/unicode.sh >src/kernel/string_case.inc
set -eu
data=${1:-/usr/share/unicode}
[ -e "$data/UnicodeData.txt" ] || { echo "no UnicodeData.txt in $data: apt-get install unicode-data" >&2; exit 1; }
version=$(sed -n '1s/^# DerivedCoreProperties-\(.*\)\.txt$/\1/p' "$data/DerivedCoreProperties.txt")

# Lines "code code [code code]" in hexadecimal to ranges: first, last, distance, step.
shared='
function number(hex,   i, n) {
    n = 0
    for (i = 1; i <= length(hex); i++) n = n * 16 + index("0123456789abcdef", tolower(substr(hex, i, 1))) - 1
    return n
}'

mappings() { # NAME: reads "from to..." sorted by number
    awk -v name="$1" "$shared"'
    function flush() {
        if (n == 0) return
        if (step == 0) step = 1
        ranges = ranges sprintf("    {0x%x, 0x%x, %d, %d},\n", first, last, distance, step)
        n = 0
    }
    {
        from = number($1)
        if (NF > 2) {
            specials = specials sprintf("    {0x%x, {0x%x, 0x%x, 0x%x}},\n", from, number($2), number($3), NF > 3 ? number($4) : 0)
            next
        }
        d = number($2) - from; gap = from - last
        if (n > 0 && d == distance && (n == 1 ? gap <= 2 : gap == step)) { if (n == 1) step = gap }
        else { flush(); first = from; distance = d; step = 0 }
        last = from; n++
    }
    END {
        flush()
        printf "\nstatic const case_range case_%s[] = {\n%s};\n", name, ranges
        printf "\nstatic const case_special case_%s_special[] = {\n%s};\n", name, specials
    }'
}

sets() { # NAME FILE PROPERTY: ranges of code points that have it
    awk -F '[;# ]+' -v name="$1" -v property="$3" "$shared"'
    $2 == property {
        split($1, part, /\.\./)
        print number(part[1]), number(part[2] == "" ? part[1] : part[2])
    }' "$2" | sort -n | awk -v name="$1" '
    n > 0 && $1 == last + 1 { last = $2; next }
    { if (n > 0) text = text sprintf("    {0x%x, 0x%x},\n", first, last); first = $1; last = $2; n++ }
    END { printf "\nstatic const case_set case_%s[] = {\n%s    {0x%x, 0x%x},\n};\n", name, text, first, last }'
}

# Mappings of one code point, then, in their place, those of several that hold everywhere.
cases() { # NAME COLUMN SPECIAL-COLUMN
    {
        awk -F ';' -v column="$2" '$column != "" { print $1, $column }' "$data/UnicodeData.txt"
        awk -F ' *; *' -v column="$3" '/^[0-9A-F]/ && $5 ~ /^#/ && split($column, part, / /) > 1 { print $1, $column }' \
            "$data/SpecialCasing.txt"
    } | awk "$shared"'
        { code = number($1); if (!(code in line) || NF > 2) line[code] = $0 }
        END { for (code in line) print code, line[code] }' | sort -n | cut -d ' ' -f 2- | mappings "$1"
}

folds() {
    awk -F ' *; *' '/^[0-9A-F]/ && ($2 == "C" || $2 == "F") { print $1, $3 }' "$data/CaseFolding.txt" | mappings fold
}

# As many entries on a line as fit.
packed() {
    awk '/^    [{]/ {
             sub(/^ +/, "")
             if (line != "" && length(line) + length($0) < 94) line = line " " $0
             else { if (line != "") print line; line = "    " $0 }
             next
         }
         { if (line != "") print line; line = ""; print }'
}

echo "/* string_case.inc - cases of letters and white space of Unicode $version; printed by tools/unicode.sh. */"
echo "/* clang-format off */"
{
    cases lower 14 2
    cases upper 13 4
    folds
    sets cased "$data/DerivedCoreProperties.txt" Cased
    sets ignorable "$data/DerivedCoreProperties.txt" Case_Ignorable
    sets space "$data/PropList.txt" White_Space
} | packed
echo "/* clang-format on */"
