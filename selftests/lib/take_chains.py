#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""take_chains.py PID SAMPLES [deferred]: take callchains of a process's first thread; print how many begin in
_start, and of how many.  Exit status 4: this kernel has no deferred ones."""
import sys

import guest

pid, samples = map(int, sys.argv[1:3])
deferred = sys.argv[3:] == ["deferred"]
if deferred and not guest.has_deferred():
    sys.exit(4)
chains = guest.take(pid, samples, deferred=deferred)
print(round(guest.complete(pid, chains) * len(chains)), len(chains))
