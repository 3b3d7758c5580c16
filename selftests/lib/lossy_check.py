#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Check the figures that "beectl compile" prints on a table that is not exact.

    lossy_check.py fp-bypass|thin ELF EXACT.rows LOSSY.rows SAID [PCT]

EXACT.rows is from beectl dump --rows --unpacked --cfi-only ELF, LOSSY.rows from beectl dump --rows
TABLE, SAID is what beectl compile printed.  The script computes how exact the table is from
the two lists of rows and the instructions of the ELF file, and compares the result with SAID.
Prints differences; exits 1 if there are any.
"""
import bisect
import re
import struct
import subprocess
import sys

BODY = ["rbp+16", "cfa-16", "cfa-8"]
# Padding that gas and compilers put between functions: zeros, nop, int3, multi-byte nops.
PADDING = re.compile(rb"(?:[\x00\x90\xcc]|\x66\x90|(?:[\x66\x2e\x3e]*)\x0f\x1f(?:\x00|\x40.|\x44..|"
                     rb"\x80....|\x84.....))*\Z", re.S)


def read_rows(path):
    """The rows as [(pc, end, [column])]."""
    with open(path, encoding="ascii") as file:
        rows = [line.rstrip("\n").split("\t") for line in file]
    pcs = [int(row[0], 16) for row in rows]
    return [(pc, end, row[1:]) for pc, end, row in zip(pcs, pcs[1:], rows)]


def read_functions(elf):
    """The pcs at which FDEs begin, sorted."""
    frames = subprocess.run(["readelf", "--debug-dump=frames", elf], text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
    return sorted({int(pc, 16) for pc in re.findall(r" FDE .* pc=([0-9a-f]+)\.\.", frames)})


class Text:
    """The bytes of executable segments."""

    def __init__(self, elf):
        with open(elf, "rb") as file:
            self.image = file.read()
        phoff, = struct.unpack_from("<Q", self.image, 32)
        phnum, = struct.unpack_from("<H", self.image, 56)
        headers = [struct.unpack_from("<IIQQQQ", self.image, phoff + 56 * i) for i in range(phnum)]
        self.segments = [(vaddr, offset, filesz) for kind, flags, offset, vaddr, _, filesz in headers
                         if kind == 1 and flags & 1]

    def at(self, pc, size):
        for vaddr, offset, filesz in self.segments:
            if vaddr <= pc < vaddr + filesz:
                return self.image[offset + pc - vaddr:offset + min(pc - vaddr + size, filesz)]
        return b""


def cut(exact, lossy, functions):
    """Pieces (start, end, exact rule, lossy rule) in which neither rule changes."""
    starts = [row[0] for row in exact], [row[0] for row in lossy]
    edges = sorted({*starts[0], *starts[1], *functions, exact[-1][1]})
    for start, end in zip(edges, edges[1:]):
        if exact[0][0] <= start < exact[-1][1]:
            rules = [rows[bisect.bisect_right(pcs, start) - 1][2]
                     for rows, pcs in zip((exact, lossy), starts)]
            yield start, end, *rules


PROLOGUES = b"\x55\x48\x89\xe5", b"\x55\x48\x8b\xec"


def known(text, pc):
    """(offset of the return address from rsp, length of the instruction at pc).

    Only for the instructions of prologues and epilogues that the module's walk recognizes where
    a table has a gap; (None, 0) for others.
    """
    code = text.at(pc, 16)
    if code[:1] == b"\xc3":
        return 0, 1
    skip = 4 if code[:4] == b"\xf3\x0f\x1e\xfa" else 0
    if code[skip:skip + 4] in PROLOGUES:
        return 0, skip or 1
    if text.at(pc - 1, 4) in PROLOGUES:
        return 8, 3
    return None, 0


def right_bytes(text, start, end, slot):
    at = start
    while at < end:
        where, length = known(text, at)
        if where != slot:
            break
        at += length
    if start < at < end and PADDING.match(text.at(at, end - at)):
        at = end
    return min(at, end) - start


def is_rules(rule):
    return len(rule) >= 3


def check_fp_bypass(pieces, text, functions):
    bypassed, edges, wrong, bad = set(), 0, 0, 0
    for start, end, exact, lossy in pieces:
        if exact == lossy:
            continue
        bypassed.add(bisect.bisect_right(functions, start) - 1)
        if lossy != ["gap"] or not is_rules(exact):
            print(f"{start:x}: {exact} has become {lossy}")
            bad += 1
        if exact == BODY:
            continue
        if exact[0] not in ("rsp+8", "rsp+16"):
            print(f"{start:x}: {exact} is not of a function with frame pointer")
            bad += 1
        edges += end - start
        wrong += end - start - right_bytes(text, start, end, 0 if exact[0] == "rsp+8" else 8)
    return bad, {"by_fp": len(bypassed), "functions": len(functions), "edges": edges,
                 "edges_wrong": wrong, "wrong": wrong}


def is_plain(rule):
    return (len(rule) == 3 and re.fullmatch(r"r[sb]p[+-]\d+", rule[0]) and rule[2] == "cfa-8" and
            re.fullmatch(r"same|cfa[+-]\d+", rule[1]))


def check_thin(pieces, nexact, nlossy, percent):
    wrong, bad = 0, 0
    for start, end, exact, lossy in pieces:
        if exact == lossy:
            continue
        wrong += end - start
        if not is_plain(exact) or not is_plain(lossy):
            print(f"{start:x}: {exact} has become {lossy}")
            bad += 1
    # Not every file has more than some 40 percent of rows that can be dropped.
    if not nexact * min(percent, 40) // 100 <= nexact - nlossy < nexact * (percent + 1) // 100:
        print(f"{nexact - nlossy} of {nexact} rows are not {percent} percent")
        bad += 1
    return bad, {"wrong": wrong, "dropped": nexact - nlossy, "rows": nexact}


def said(path):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    found = {}
    for pattern, keys in (
            (r"not exact: (\d+) of (\d+) bytes of text \((\S+)%\)", ("wrong", "text", "share")),
            (r"fp-bypass: (\d+) of (\d+) functions; of (\d+) bytes of their prologues and epilogues "
             r"(\d+)", ("by_fp", "functions", "edges", "edges_wrong")),
            (r"thin: (\d+) of (\d+) rows", ("dropped", "rows"))):
        match = re.search(pattern, text)
        if match:
            found |= zip(keys, match.groups())
    return found


def main():
    mode, elf = sys.argv[1:3]
    exact, lossy = read_rows(sys.argv[3]), read_rows(sys.argv[4])
    functions = read_functions(elf)
    pieces = list(cut(exact, lossy, functions))
    if mode == "thin":
        bad, expected = check_thin(pieces, len(exact), len(lossy), int(sys.argv[6]))
    else:
        bad, expected = check_fp_bypass(pieces, Text(elf), functions)
    expected["text"] = sum(end - start for start, end, rule in exact if is_rules(rule))
    expected["share"] = f"{100 * expected['wrong'] / expected['text']:.3f}"
    told = said(sys.argv[5])
    for key, value in expected.items():
        if told.get(key) != str(value):
            print(f"{key} is said to be {told.get(key)}, not {value}")
            bad += 1
    if not bad:
        print(", ".join(f"{key} {value}" for key, value in expected.items()))
    sys.exit(1 if bad else 0)


main()
