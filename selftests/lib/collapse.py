#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Compare folded stacks of beectl flame with those of "perf script".

    collapse.py FOLDED <SCRIPT

SCRIPT is the output of perf script -F comm,pid,tid,event,ip,sym,symoff,dso --no-inline --max-stack N:
it leaves out what is beyond 127 frames otherwise.  Exits 1 and prints the stacks that differ, after
the rules of Documentation/flame.rst: offsets of addresses without names are left out, and so are
symbol versions; where perf looks up a return address that is the first one of a function, any name
will do; of functions that a perf-PID.map has at one address, the last counts.  perf 6.1 names
entries of .plt only; others of the procedure linkage table have no name, or that of _init(), which
is before them and whose size its file does not tell.  It counts one entry of .plt for each relocation,
though ifuncs may have theirs elsewhere: what it calls "@plt" alone can be any function.
"""
import collections
import functools
import re
import sys

ANY, ALL = "\0", "\1"    # any name; any names


def ours(path):
    stacks = collections.Counter()
    with open(path, encoding="utf-8", errors="replace") as file:
        for line in file:
            stack, count = line.rstrip("\n").rsplit(" ", 1)
            stacks[re.sub(r"(\[[^];]*\])\+0x[0-9a-f]+", r"\1", stack)] += int(count)
    return stacks


@functools.cache
def jit_map(path):
    """[(first address, address after the last, name), ...], the last ones first"""
    with open(path, encoding="utf-8", errors="replace") as file:
        found = [re.match(r"([0-9a-f]+) ([0-9a-f]+) (.*)$", line) for line in file]
    return [(int(f[1], 16), int(f[1], 16) + int(f[2], 16), f[3]) for f in reversed(found) if f]


def jit_frame(ip, path):
    for start, end, name in jit_map(path):
        if start <= ip < end:
            return name.replace(";", ":") + "_[j]"
    return "[jit]"


def frame(line, before):
    """@before: the name before it in the chain, or None"""
    ip, name, dso = re.match(r"\s*([0-9a-f]+) (.*) \((.*)\)$", line).groups()
    if re.fullmatch(r"/tmp/perf-\d+\.map", dso):
        return jit_frame(int(ip, 16) - (before is not None and not before.endswith("_[k]")), dso)
    # Without frame pointers, anything may be taken for an address of the user's.
    kernel = len(ip) == 16 and ip.startswith("ffff") and dso != "[unknown]"
    exact = before is None or before.endswith("_[k]") and not kernel
    found = re.match(r"(.*)\+0x([0-9a-f]+)$", name)
    if found:
        name = found[1]
        if found[2] == "0" and not exact or name == "@plt":
            name = ANY
    if name == "[unknown]" and not kernel and dso != "[unknown]":
        name = "[" + dso.split("/")[-1].strip("[]") + "]"
    name = re.sub(r"@+[A-Z].*", "", name).replace(";", ":")
    # glibc has it only for old programs (cfree@GLIBC_2.2.5), at the address of free().
    if name == "cfree":
        name = "free"
    return name + ("_[k]" if kernel else "")


def perfs(script):
    stacks, comm, names = collections.Counter(), None, []
    for line in script:
        line = line.rstrip("\n")
        if not line:
            if comm is not None:
                # perf script shows nothing of a callchain that is empty, where the sample's own address
                # counts, nor of one with a number that looks like the mark of a context.
                stacks[";".join([comm] + (names or [ALL])[::-1])] += 1
            comm, names = None, []
        elif comm is None:
            comm = re.match(r"\s*(.*?)\s+-?\d+/-?\d+\s", line)[1].replace(" ", "_")
        else:
            names.append(frame(line, names[-1] if names else None))
    return stacks


def match_any(mine, theirs):
    """Take stacks with ANY out of both, if there is one of ours that fits."""
    for stack in sorted((s for s in theirs if ANY in s or ALL in s), key=lambda s: ALL in s):
        pattern = re.escape(re.sub(ANY + r"(_\[k\])?", ANY, stack)).replace(re.escape(ANY), "[^;]*")
        pattern = re.compile(pattern.replace(re.escape(ALL), ".*"))
        for own in [s for s in mine if pattern.fullmatch(s)]:
            same = min(theirs[stack], mine[own])
            theirs[stack] -= same
            mine[own] -= same


def merge_plt(mine, theirs):
    """What perf has as [FILE] or _init may be an entry of a PLT."""
    for stack in [s for s in theirs if theirs[s] > mine[s]]:
        names = stack.split(";")
        for own in [s for s in mine if "@plt" in s and mine[s] > theirs[s]]:
            pairs = list(zip(own.split(";"), names))
            if own.count(";") == stack.count(";") and all(
                    a == b or a.endswith("@plt") and (b == "_init" or b.startswith("["))
                    for a, b in pairs):
                same = min(theirs[stack] - mine[stack], mine[own] - theirs[own])
                theirs[stack] -= same
                mine[own] -= same


def main():
    mine, theirs = ours(sys.argv[1]), perfs(sys.stdin)
    if not mine or sum(mine.values()) != sum(theirs.values()):
        sys.exit(f"{sum(mine.values())} samples, perf has {sum(theirs.values())}")
    mine, theirs = mine - theirs, theirs - mine
    merge_plt(mine, theirs)
    match_any(mine, theirs)
    different = [s for s in sorted(set(mine) | set(theirs)) if mine[s] != theirs[s]]
    for stack in different[:20]:
        print(f"ours {mine[stack]}, perf's {theirs[stack]}: {stack}")
    sys.exit(bool(different))


main()
