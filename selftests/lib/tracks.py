#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Compare the threads and times in outputs of beectl flame with those of "perf script".

    tracks.py FIREFOX SPEEDSCOPE <SCRIPT

SCRIPT is the output of perf script --ns -F pid,tid,time.  Exits 1 and says what differs.
"""
import collections
import json
import re
import sys


def main():
    theirs = collections.defaultdict(list)
    for line in sys.stdin:
        found = re.match(r"\s*(\d+)/(\d+)\s+(\d+)\.(\d{9}):", line)
        if found:
            theirs[int(found[1]), int(found[2])].append(int(found[3]) * 10**9 + int(found[4]))
    begin = min(map(min, theirs.values()))
    theirs = {thread: [time - begin for time in times] for thread, times in theirs.items()}
    with open(sys.argv[1], encoding="utf-8") as file:
        threads = json.load(file)["threads"]
    mine = collections.defaultdict(list)
    for thread in threads:
        mine[int(thread["pid"]), thread["tid"]] += [round(1e6 * time) for time in thread["samples"]["time"]]
        assert thread["isMainThread"] == (int(thread["pid"]) == thread["tid"]), thread["tid"]
    assert {t: sorted(times) for t, times in mine.items()} == theirs, (mine, theirs)
    with open(sys.argv[2], encoding="utf-8") as file:
        profiles = json.load(file)["profiles"]
    assert len(profiles) == len(threads), (len(profiles), len(threads))
    gaps = 0
    for profile in profiles:
        pid, tid = map(int, re.match(r".*-(\d+)/(\d+): ", profile["name"]).groups())
        at, after_gap = 0, False
        for stack, weight in zip(profile["samples"], profile["weights"], strict=True):
            at += weight
            if stack and after_gap:
                assert at in theirs[pid, tid], (at, theirs[pid, tid])
                gaps += 1
            after_gap = not stack
        assert at == profile["endValue"], profile["name"]
    assert len(theirs) > 1 and gaps, (len(theirs), gaps)


main()
