"""report.py - the last line of `./dev test python`: "N passed, N failed" from a report of pytest."""
import sys
import xml.etree.ElementTree as tree

count = {name: 0 for name in ("tests", "failures", "errors", "skipped")}
for suite in tree.parse(sys.argv[1]).getroot().iter("testsuite"):
    for name in count:
        count[name] += int(suite.get(name, 0))
bad = count["failures"] + count["errors"]
print(f"{count['tests'] - bad - count['skipped']} passed, {bad} failed")
sys.exit(bad > 0)
