#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Are the stacks in a perf.data file those that the program printed?

	check.py PERF.DATA PROGRAM SAID [EVENT]

SAID is the output of PROGRAM, one of this directory: see mark.h.  The nth sample of the
program at EVENT must have the stack of the nth line.  EVENT is raw_syscalls:sys_enter, that
of the marks, unless another is named.
"""

import os
import re
import subprocess
import sys

# Names of the C library's frames between main() and _start.
ABOVE_MAIN = re.compile(r"(\[libc\]|__libc_start\w*|libc_start_main\w*)$")


def sampled(data, comm, event):
    """Stacks of the program at the event: lists of (function, offset in the function)."""
    command = ["perf", "script", "-f", "-i", data, "--no-inline", "--comms", comm[:15],
               "--max-stack", "4096", "-F", "event,ip,sym,symoff,dso"]
    text = subprocess.run(command, check=True, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, text=True).stdout
    for block in text.split("\n\n"):
        frames = []
        lines = block.strip().splitlines()
        if not lines or lines[0].strip().rstrip(":") != event:
            continue
        for line in lines[1:]:
            ip, _, rest = line.strip().partition(" ")
            place, _, dso = rest.partition(" (")
            symbol, _, offset = place.partition("+")
            if int(ip, 16) < 1 << 63:
                frames.append((frame_name(symbol, dso, comm), offset))
        yield frames


def frame_name(symbol, dso, comm):
    name = os.path.basename(dso.split(" (deleted)")[0].rstrip(")"))
    if name == comm:
        return symbol
    if name in ("anon", "memfd:code") or re.match(r"perf-\d+\.map$", name):
        return "[jit]"
    return "[" + re.split(r"\.so|-\d", name.strip("[]"))[0] + "]"


def frame_is(frame, want):
    name, _, offset = want.partition("+")
    if offset and offset != frame[1]:
        return False
    if name == "[restore]":
        return frame[0] in ("__restore_rt", "[libc]")
    return frame[0] == name


def stack_is(frames, wanted):
    """Is this the wanted stack?

    After the wanted names, only frames of libc up to _start may follow.  "..." at their end
    allows any frames, "end" none.
    """
    tail = wanted[-1] if wanted[-1] in ("...", "end") else "_start"
    names = [name for name in wanted if name not in ("...", "end")]
    if len(frames) < len(names) or not all(map(frame_is, frames, names)):
        return False
    rest = [name for name, _ in frames[len(names):]]
    if tail == "end":
        return not rest
    if tail == "...":
        return True
    return bool(rest) and rest[-1] == "_start" and all(map(ABOVE_MAIN.match, rest[:-1]))


def main():
    data, program, said, *events = sys.argv[1:]
    event = events[0] if events else "raw_syscalls:sys_enter"
    with open(said, encoding="utf-8") as file:
        wanted = [line.split()[1:] for line in file if line.startswith("stack: ")]
    stacks = list(sampled(data, os.path.basename(program), event))
    bad = 0
    for frames, names in zip(stacks, wanted):
        if not stack_is(frames, names):
            bad += 1
            print("wanted", *names)
            print("   got", *(f"{name}+{offset}" for name, offset in frames))
    if len(stacks) != len(wanted):
        print(f"{len(stacks)} samples, {len(wanted)} stacks known")
    print(f"{min(len(stacks), len(wanted)) - bad} of {len(wanted)} stacks are right")
    return bool(bad or len(stacks) != len(wanted) or not wanted)


if __name__ == "__main__":
    sys.exit(main())
