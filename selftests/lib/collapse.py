#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Compare folded stacks of beectl flame with those of "perf script".

    collapse.py FOLDED <SCRIPT

SCRIPT is the output of perf script -F comm,pid,tid,event,ip,sym,symoff,dso --no-inline --max-stack N:
it leaves out what is beyond 127 frames otherwise.  Exits 1 and prints the stacks that differ, after the rules of Documentation/flame.rst: offsets of addresses
without names are left out, and so are symbol versions; where perf looks up a return address that is
the first one of a function, any name will do.  perf 6.1 names entries of .plt only, and no others of the
procedure linkage table.
"""
import collections
import re
import sys

ANY = "\0"


def ours(path):
    stacks = collections.Counter()
    with open(path, encoding="utf-8", errors="replace") as file:
        for line in file:
            stack, count = line.rstrip("\n").rsplit(" ", 1)
            stacks[re.sub(r"(\[[^];+]*\])\+0x[0-9a-f]+", r"\1", stack)] += int(count)
    return stacks


def frame(line, innermost):
    ip, name, dso = re.match(r"\s*([0-9a-f]+) (.*) \((.*)\)$", line).groups()
    kernel = len(ip) == 16 and ip.startswith("ffff")
    found = re.match(r"(.*)\+0x([0-9a-f]+)$", name)
    if found:
        name = found[1]
        if found[2] == "0" and not innermost:
            name = ANY
    if name == "[unknown]" and not kernel and dso != "[unknown]":
        name = "[" + dso.split("/")[-1].strip("[]") + "]"
    name = re.sub(r"@+[A-Z].*", "", name).replace(";", ":")
    return name + ("_[k]" if kernel else "")


def perfs(script):
    stacks, comm, names = collections.Counter(), None, []
    for line in script:
        line = line.rstrip("\n")
        if not line:
            if comm is not None:
                stacks[";".join([comm] + names[::-1])] += 1
            comm, names = None, []
        elif comm is None:
            comm = re.match(r"\s*(.*?)\s+-?\d+/-?\d+\s", line)[1].replace(" ", "_")
        else:
            names.append(frame(line, not names))
    return stacks


def match_any(mine, theirs):
    """Take stacks with ANY out of both, if there is one of ours that fits."""
    for stack in [s for s in theirs if ANY in s]:
        pattern = re.compile("[^;]*".join(map(re.escape, re.sub(ANY + r"(_\[k\])?", ANY, stack).split(ANY))))
        for own in [s for s in mine if pattern.fullmatch(s)]:
            same = min(theirs[stack], mine[own])
            theirs[stack] -= same
            mine[own] -= same


def merge_plt(mine, theirs):
    """What perf has as [FILE] may be an entry of a PLT."""
    for stack in [s for s in theirs if theirs[s] > mine[s]]:
        names = stack.split(";")
        for own in [s for s in mine if "@plt" in s and mine[s] > theirs[s]]:
            pairs = list(zip(own.split(";"), names))
            if own.count(";") == stack.count(";") and all(
                    a == b or a.endswith("@plt") and b.startswith("[") for a, b in pairs):
                same = min(theirs[stack] - mine[stack], mine[own] - theirs[own])
                theirs[stack] -= same
                mine[own] -= same


def main():
    mine, theirs = ours(sys.argv[1]), perfs(sys.stdin)
    if not mine or sum(mine.values()) != sum(theirs.values()):
        sys.exit(f"{sum(mine.values())} samples, perf has {sum(theirs.values())}")
    match_any(mine, theirs)
    merge_plt(mine, theirs)
    different = [s for s in sorted(set(mine) | set(theirs)) if mine[s] != theirs[s]]
    for stack in different[:20]:
        print(f"ours {mine[stack]}, perf's {theirs[stack]}: {stack}")
    sys.exit(bool(different))


main()
