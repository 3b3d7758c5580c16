# SPDX-License-Identifier: GPL-2.0
"""Time as a test sees it, for limits that hold on a busy machine as on an idle one."""

import os
import time


def children(pid):
    """The processes that the threads of a process have started and that still run."""
    found = []
    for task in tasks(pid):
        try:
            with open(f"{task}/children", encoding="ascii") as file:
                found += [int(word) for word in file.read().split()]
        except OSError:
            pass
    return found


def tasks(pid):
    try:
        return [f"/proc/{pid}/task/{tid}" for tid in os.listdir(f"/proc/{pid}/task")]
    except OSError:
        return []


class Clock:
    """Seconds in which a process or one of its descendants ran, or all of them slept.

    The seconds in which they could have run but had to wait for a CPU do not count.  So whoever
    waits for what never comes, and whoever computes without end, uses up a limit in about the time
    that the limit says; who is slow only because others use the CPUs does not.
    A process that ends between two calls of now() is counted as one that slept.

    The kernel tells of a wait for a CPU when it has ended.  What of it lies before the last call of
    now(), and was counted as sleep there, is taken off what follows: no more than LATE seconds, as
    threads that wait side by side tell of more than has passed.
    """

    LATE = 10

    def __init__(self, pid):
        self.pid = pid
        self.seconds = 0.0
        self.cpu = 0.0              # seconds of CPU time, all threads
        self.late = 0.0             # seconds of waiting that were counted as sleep
        self.last = time.monotonic()
        self.known = self.threads()

    def threads(self):
        """Of each thread: ns on a CPU, ns of waiting for one."""
        found, todo = {}, [self.pid]
        while todo:
            pid = todo.pop()
            for task in tasks(pid):
                try:
                    with open(f"{task}/schedstat", encoding="ascii") as file:
                        found[task] = [int(word) for word in file.read().split()[:2]]
                except OSError:
                    pass
            todo += children(pid)
        return found

    def now(self):
        """Look at the threads if a second has passed since the last time."""
        passed = time.monotonic() - self.last
        if passed < 1:
            return self.seconds
        self.last += passed
        threads, ran, waited = self.threads(), 0, 0
        for task, (cpu, delay) in threads.items():
            cpu_before, delay_before = self.known.get(task, (0, 0))
            ran += max(0, cpu - cpu_before) / 1e9
            waited += max(0, delay - delay_before) / 1e9
        self.known = threads
        self.cpu += ran
        waited += self.late
        used = min(passed, max(ran, passed - waited))
        self.late = min(self.LATE, max(0, waited - (passed - used)))
        self.seconds += used
        return self.seconds
