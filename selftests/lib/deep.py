#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Judge the user stacks of deep_work, whose right stack is known everywhere.

	perf script -F comm,tid,ip,sym | deep.py PERCENT PID...

Each sample of a PID is complete (every frame from level8 or below to _start), short (right
as far as it goes) or wrong.  Prints the figures.  Fails if any is wrong, none is there,
or fewer than PERCENT are complete.

A sample of one frame that was taken in the kernel while it switched to another process is not
judged: the memory of the old process is not there any more, although it is current still.
"""

import re
import sys

SWITCH = {"__schedule", "switch_mm_irqs_off", "__switch_to_asm", "__switch_to"}
LEVELS = [f"level{n}" for n in range(8, 0, -1)]
BOTTOM = ["main", "__libc_start_call_main", "__libc_start_main", "_start"]


def samples(lines, pids):
    """Function names of the kernel's and the user's frames, innermost first, of some threads."""
    frames = None
    for line in lines:
        if not line.strip():
            if frames is not None:
                yield frames
            frames = None
        elif not line[0].isspace() or re.match(r"\s*\S.*\s\d+\s*$", line) and frames is None:
            frames = ([], []) if line.split()[-1] in pids else None
        elif frames is not None:
            address, name = (line.split(maxsplit=1) + ["?"])[:2]
            frames[int(address, 16) < 1 << 63].append(name.strip())
    if frames is not None:
        yield frames


def plain(name):
    """A name without libc's version (__libc_start_main@@GLIBC_2.34) or variant (__memset_avx2)."""
    name = name.split("@")[0].split("+")[0]
    name = re.sub(r"^(__libc_start_main)_impl$", r"\1", name)
    return "memset" if "memset" in name else name


def judge(names):
    names = [plain(name) for name in names]
    whole = LEVELS + BOTTOM
    at = next((i for i, name in enumerate(names) if name in whole), None)
    if at is None:
        # No level and nothing below them: only functions that they call, or an unnamed PLT
        # entry.  Up to two such frames are the top of a right stack.
        return "short" if len(names) <= 2 else "wrong"
    if at > 2 or any(name in whole for name in names[:at]):
        return "wrong"
    rest = names[at:]
    expected = whole[whole.index(rest[0]):]
    if rest == expected:
        return "complete"
    return "short" if rest == expected[:len(rest)] else "wrong"


def main():
    percent, pids = float(sys.argv[1]), set(sys.argv[2:])
    count = {"complete": 0, "short": 0, "wrong": 0}
    shown = switching = 0
    for kernel, names in samples(sys.stdin, pids):
        if len(names) == 1 and not SWITCH.isdisjoint(map(plain, kernel)):
            switching += 1
            continue
        verdict = judge(names)
        count[verdict] += 1
        if verdict != "complete" and shown < 5:
            shown += 1
            print(f"{verdict}: {' < '.join(names)} | {' < '.join(kernel)}")
    total = sum(count.values())
    share = 100 * count["complete"] / total if total else 0
    print(f"samples {total}: complete {count['complete']} ({share:.2f} %), "
          f"short {count['short']}, wrong {count['wrong']}; not judged: {switching}, "
          "while the kernel switched to another process")
    return 0 if total and not count["wrong"] and share >= percent else 1


if __name__ == "__main__":
    sys.exit(main())
