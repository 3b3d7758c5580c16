#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Check a processed profile of Firefox profiler, and print its stacks folded.

    firefox_profile.py FILE

Exits 1 if a column has another length than its table, or a row names one that is not there.
"""
import collections
import json
import sys


def check_table(thread, name, optional=()):
    table = thread[name]
    for column, rows in table.items():
        if column not in ("length", "weightType") and column not in optional:
            assert len(rows) == table["length"], f"{name}.{column}: {len(rows)} rows of {table['length']}"
    return table


def check_refers(rows, count, what, none=None):
    for row in rows:
        assert row == none or (isinstance(row, int) and 0 <= row < count), f"{what}: {row} of {count}"


def check_thread(thread, categories):
    stacks, frames = check_table(thread, "stackTable"), check_table(thread, "frameTable")
    functions, resources = check_table(thread, "funcTable"), check_table(thread, "resourceTable")
    samples = check_table(thread, "samples")
    check_table(thread, "markers")
    check_table(thread, "nativeSymbols")
    strings = thread["stringArray"]
    assert len(set(strings)) == len(strings), "a string is there twice"
    check_refers(samples["stack"], stacks["length"], "samples.stack")
    check_refers(stacks["frame"], frames["length"], "stackTable.frame")
    check_refers(stacks["category"] + frames["category"], len(categories), "category", none=-1)
    check_refers(frames["func"], functions["length"], "frameTable.func", none=-1)
    check_refers(functions["name"], len(strings), "funcTable.name", none=-1)
    check_refers(functions["fileName"], len(strings), "funcTable.fileName")
    check_refers(functions["resource"], resources["length"], "funcTable.resource", none=-1)
    check_refers(resources["name"], len(strings), "resourceTable.name", none=-1)
    for row, prefix in enumerate(stacks["prefix"]):
        assert prefix is None or 0 <= prefix < row, f"stackTable.prefix: {prefix} of row {row}"
    assert samples["time"] == sorted(samples["time"]), "times go back"
    assert isinstance(thread["pid"], str)


def folded(thread):
    stacks = thread["stackTable"]
    for stack, weight in zip(thread["samples"]["stack"], thread["samples"]["weight"]):
        names = []
        while stack is not None:
            function = thread["frameTable"]["func"][stacks["frame"][stack]]
            names.append(thread["stringArray"][thread["funcTable"]["name"][function]])
            stack = stacks["prefix"][stack]
        yield ";".join([thread["name"]] + names[::-1]), weight


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        profile = json.load(file)
    meta = profile["meta"]
    assert meta["preprocessedProfileVersion"] == 48
    stacks = collections.Counter()
    for thread in profile["threads"]:
        check_thread(thread, meta["categories"])
        for stack, weight in folded(thread):
            stacks[stack] += weight
    for stack, weight in sorted(stacks.items()):
        print(stack, weight)


main()
