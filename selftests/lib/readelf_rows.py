#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Compare rows of "beectl dump --rows" with those of readelf's interpreter.

    readelf_rows.py ELF ROWS

Reads `readelf --debug-dump=frames-interp ELF` and the file ROWS, looks every row
start that readelf prints up in ROWS, and compares CFA, rbp and return address.
Prints differences and a summary; exits 1 if there are any, 2 if nothing could be
compared.
"""
import bisect
import re
import subprocess
import sys

FDE = re.compile(r"^[0-9a-f]+ [0-9a-f]+ [0-9a-f]+ FDE cie=\S+ pc=([0-9a-f]+)\.\.([0-9a-f]+)")
ROW = re.compile(r"^[0-9a-f]{16} ")
MAX_PRINTED = 10


def read_ours(path):
    starts, rules = [], []
    with open(path, encoding="ascii") as rows:
        for line in rows:
            pc, *columns = line.rstrip("\n").split("\t")
            starts.append(int(pc, 16))
            rules.append(columns)
    if not rules or rules[-1] != ["end"]:
        sys.exit(f"{path}: no end line")
    return starts, rules


def read_theirs(path):
    """Yield (pc, {column: text}) for each pc of each FDE; of several rows at a pc the last."""
    command = ["readelf", "--wide", "--debug-dump=frames-interp", path]
    readelf = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                               text=True)
    rows, header, begin, end = {}, None, 0, 0
    for line in readelf.stdout:
        fde = FDE.match(line)
        if fde:
            yield from rows.items()
            rows, header = {}, None
            begin, end = (int(pc, 16) for pc in fde.groups())
        elif " CIE " in line:
            yield from rows.items()
            rows, header, begin, end = {}, None, 0, 0
        elif line.startswith("   LOC "):
            header = line.split()[1:]
        elif header and ROW.match(line):
            pc, *values = line.split()
            # Register rules contain a blank: "r9 (r9)" is one column.
            values = [v for v in values if not v.startswith("(")]
            if begin <= int(pc, 16) < end and len(values) == len(header):
                rows[int(pc, 16)] = dict(zip(header, values))
    yield from rows.items()


def cfa_agrees(theirs, ours):
    if theirs == "exp":
        return ours.startswith("*(") or ours.startswith("plt")
    return theirs == ours.split(" or ")[0]


def fp_agrees(theirs, ours):
    if theirs is None or theirs in ("u", "s"):
        return ours in ("same", "undef")
    if theirs in ("exp", "vexp"):
        return ours.startswith("*(") or ours.startswith("cfa")
    if theirs.startswith("c"):
        return ours == "cfa" + theirs[1:]
    return theirs.startswith("r")


def ra_agrees(theirs, ours):
    if theirs == "u":
        return ours == "undef"
    if theirs == "exp":
        return ours.startswith("*(")
    if theirs and theirs.startswith("c"):
        return ours == "cfa" + theirs[1:]
    return bool(theirs) and theirs.startswith("r")


def place(cfa, rule):
    """Where readelf's rule "c-16" saves a register, as beectl prints it: "*(rsp+8)"."""
    base, offset = re.match(r"(\w+)([+-]\d+)$", cfa).groups()
    return f"*({base}{int(offset) + int(rule[1:]):+d})"


def elsewhere(theirs):
    """The columns (CFA, FP, RA) that beectl must print where CFI has a rule for rsp.

    beectl then takes the caller's rsp, by that rule, as the CFA.
    """
    saved = {column: place(theirs["CFA"], rule) if rule.startswith("c") else rule
             for column, rule in theirs.items() if column in ("rbp", "rsp", "ra")}
    fp = saved.get("rbp", "u")
    return [saved["rsp"] + "+0", "same" if fp == "u" else fp, saved.get("ra")]


def agrees(theirs, ours):
    if ours[0].startswith("unsupported:"):
        # Only a row with an expression, another register's value or a rule for rsp may be
        # unsupported, never a plain row.
        return any(v in ("exp", "vexp") or v[0] in "vr" for v in theirs.values()) or \
            "rsp" in theirs
    if len(ours) < 3:
        return False
    if theirs.get("rsp", "u") not in ("u", "exp", "vexp"):
        wanted = elsewhere(theirs)
        return ours[:2] == wanted[:2] and \
            (ours[2] == wanted[2] or ra_agrees(theirs["ra"], ours[2]))
    return cfa_agrees(theirs.get("CFA"), ours[0]) and \
        fp_agrees(theirs.get("rbp"), ours[1]) and ra_agrees(theirs.get("ra"), ours[2])


def main():
    elf, rows = sys.argv[1:]
    starts, rules = read_ours(rows)
    compared = differ = 0
    for pc, theirs in read_theirs(elf):
        at = bisect.bisect_right(starts, pc) - 1
        ours = rules[at] if at >= 0 else ["gap"]
        compared += 1
        if agrees(theirs, ours):
            continue
        differ += 1
        if differ <= MAX_PRINTED:
            print(f"# {pc:016x}: readelf {theirs}, beectl {ours}")
    print(f"# {elf}: {compared} rows of readelf, {differ} differences")
    sys.exit(1 if differ else 0 if compared else 2)


if __name__ == "__main__":
    main()
