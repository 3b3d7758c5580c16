#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Why walks end: the module counts each reason."""
# once: 1
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../lib"))
import guest  # pylint: disable=wrong-import-position
from guest import check  # pylint: disable=wrong-import-position

WORK = f"{guest.TESTS}/stops_work"
SAMPLES = 100
# No loop of stops_work is for these.  depth and no-table are made below; no test of a running module makes the others.
NO_LOOP = ("none", "depth", "no-mapping", "no-table", "busy")


def stops(family, pid):
    """How the walks of a process have ended, by reason."""
    return {family.reasons[each["reason"]]: each["walks"]
            for proc in family.dump("proc-get", pid=pid) for each in proc["stop"]}


def counts(family, pid):
    """stops() when enough walks have ended."""
    guest.wait(lambda: sum(stops(family, pid).values()) >= SAMPLES, progress=lambda: stops(family, pid))
    return stops(family, pid)


def ends(family, name, loop, reason, max_stack=0):
    """All but those of samples that were taken before the process was in its loop."""
    with guest.Work(WORK, loop) as work, guest.Samples(work.pid, max_stack=max_stack, keep=False):
        counted = counts(family, work.pid)
    total = sum(counted.values())
    check(total >= SAMPLES and counted.get(reason, 0) >= total - total // 10, f"{name}: {counted}")


def no_code(family):
    """The topmost frame is in memory without a file that nobody has a table for."""
    with guest.Work(f"{guest.TESTS}/lookup_work", "copy", f"{guest.TESTS}/libtorture240.so") as work:
        guest.add_mapped(family, work.pid)
        with guest.Samples(work.pid, keep=False):
            counted = counts(family, work.pid)
        check(counted.get("no-table", 0) >= 0.9 * sum(counted.values()), f"no-table: {counted}")


def main():
    with guest.Module() as family:
        guest.add(family, WORK)
        for reason in [reason for reason in family.reasons if reason not in NO_LOOP]:
            ends(family, reason, reason, reason)
        ends(family, "depth, if there are more frames than perf asks for", "outermost", "depth", 1)
        ends(family, "outermost, if there are just as many", "outermost", "outermost", 2)
        no_code(family)
        guest.clear(family)
        check(guest.is_empty(family), "no file or table is left after all tests of stop reasons")
    guest.finish()


main()
