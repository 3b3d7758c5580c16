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


def counts(family, pid, reason):
    """stops() of enough walks, from the first on that has ended for the reason: then the process is in its loop."""
    guest.wait(lambda: reason in stops(family, pid))
    before = stops(family, pid)

    def since():
        return {each: walks - before.get(each, 0) for each, walks in stops(family, pid).items()}

    guest.wait(lambda: sum(since().values()) >= SAMPLES, progress=since)
    return since()


def ends(family, name, command, reason, max_stack=0):
    """Nine in ten walks of the process end for the reason."""
    with guest.Work(*command) as work:
        if command[0] != WORK:
            guest.add_mapped(family, work.pid)
        with guest.Samples(work.pid, max_stack=max_stack, keep=False):
            counted = counts(family, work.pid, reason)
    total = sum(counted.values())
    check(total >= SAMPLES and counted.get(reason, 0) >= 0.9 * total, f"{name}: {counted}")


def main():
    with guest.Module() as family:
        guest.add(family, WORK)
        for reason in [reason for reason in family.reasons if reason not in NO_LOOP]:
            ends(family, reason, (WORK, reason), reason)
        ends(family, "depth, if there are more frames than perf asks for", (WORK, "outermost"), "depth", 1)
        ends(family, "outermost, if there are just as many", (WORK, "outermost"), "outermost", 2)
        ends(family, "no-table", (f"{guest.TESTS}/lookup_work", "copy", f"{guest.TESTS}/libtorture240.so"), "no-table")
        guest.clear(family)
        check(guest.is_empty(family), "no file or table is left after all tests of stop reasons")
    guest.finish()


main()
