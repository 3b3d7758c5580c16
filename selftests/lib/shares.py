#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Compare shares of beectl flame with those of "perf report".

    shares.py FLAME REPORT

FLAME is the output of beectl flame --json, REPORT that of perf report --children -g none --sort sym --stdio.  Exits
1 and prints functions that have 1 % or more in either of them, and differ by more than 0.1 %.
"""
import json
import re
import sys


def function_of(name):
    """perf, and so its script, names a caller by where its call returns to.  The dynamic linker's _start ends with the
    call of _dl_start, which returns to _dl_start_user."""
    return "_start" if name == "_dl_start_user" else name


def ours(path):
    with open(path, encoding="utf-8") as file:
        data = json.load(file)
    found = {}
    for function in data["functions"]:
        shares = [100 * function[key] / data["total"] for key in ("total", "self")]
        name = function_of(function["name"])
        before = found.get(name, [0, 0])
        found[name] = [a + b for a, b in zip(before, shares)]
    return found


def perfs(path):
    with open(path, encoding="utf-8") as file:
        rows = [re.match(r"\s*([0-9.]+)%\s+([0-9.]+)%\s+\[.\] (.*?)\s*$", line) for line in file]
    found = {}
    for row in filter(None, rows):
        name = function_of(row[3])
        before = found.get(name, [0, 0])
        found[name] = [before[0] + float(row[1]), before[1] + float(row[2])]
    return found


def main():
    mine, theirs = ours(sys.argv[1]), perfs(sys.argv[2])
    compared, differ = 0, 0
    for name in sorted(mine.keys() | theirs.keys()):
        pair = mine.get(name, [0, 0]), theirs.get(name, [0, 0])
        # What perf does not name it shows by address, and sums up otherwise.
        if max(pair[0] + pair[1]) < 1 or re.match(r"0x|\[|0{16}$", name):
            continue
        compared += 1
        if any(abs(a - b) > 0.1 for a, b in zip(*pair)):
            differ += 1
            print(f"{name}: {pair[0][0]:.2f} % and {pair[0][1]:.2f} % by itself; perf has {pair[1][0]} % and {pair[1][1]} %")
    sys.exit(bool(differ) or not compared)


main()
