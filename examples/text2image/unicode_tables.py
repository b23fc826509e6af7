"""unicode_tables.py - prints unicode_tables.inc: python3 unicode_tables.py > unicode_tables.inc

Letters and numbers as ranges of code points; lower case as runs of code points that are `step` apart
and become lower case by adding `delta`.
"""

import sys
import unicodedata

END = 0x110000
LINE = 98


def ranges(category):
    found = []
    for code in range(END):
        if unicodedata.category(chr(code))[0] != category:
            continue
        if found and found[-1][1] == code - 1:
            found[-1][1] = code
        else:
            found.append([code, code])
    return ["{0x%X, 0x%X}" % (first, last) for first, last in found]


def lower_runs():
    pairs = []
    for code in range(END):
        lower = chr(code).lower()
        # U+0130 alone becomes two code points; unicode.c treats it.
        if len(lower) == 1 and ord(lower) != code:
            pairs.append((code, ord(lower) - code))
    found = []
    for code, delta in pairs:
        run = found[-1] if found else None
        gap = code - run[1] if run else 0
        if run and run[3] == delta and gap <= 2 and run[2] in (0, gap):
            run[1], run[2] = code, gap
        else:
            found.append([code, code, 0, delta])
    return ["{0x%X, 0x%X, %d, %d}" % (a, b, max(step, 1), delta) for a, b, step, delta in found]


def table(declaration, items):
    print("static const %s[] = {" % declaration)
    line = "   "
    for item in items:
        if len(line) + len(item) + 2 > LINE:
            print(line)
            line = "   "
        line += " %s," % item
    print(line)
    print("};")


def main():
    print("/* unicode_tables.inc - Unicode %s, printed by unicode_tables.py. */" % unicodedata.unidata_version)
    print("// clang-format off")
    table("unicode_range unicode_letters", ranges("L"))
    table("unicode_range unicode_numbers", ranges("N"))
    table("unicode_run unicode_upper", lower_runs())
    print("// clang-format on")
    return 0


sys.exit(main())
