#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""unopened.py PIPE... -- COMMAND...

Run a command.  Fails if it has opened one of these pipes; they have a writer meanwhile, or open()
would wait for one and not be seen.
"""
import ctypes
import os
import subprocess
import sys

IN_OPEN = 0x20

at = sys.argv.index("--")
pipes, command = sys.argv[1:at], sys.argv[at + 1:]
writers = [os.open(pipe, os.O_RDWR) for pipe in pipes]
libc = ctypes.CDLL(None)
seen = libc.inotify_init1(os.O_NONBLOCK)
watched = {libc.inotify_add_watch(seen, os.fsencode(pipe), IN_OPEN): pipe for pipe in pipes}
assert min(watched) >= 0, watched
subprocess.run(command, check=True, timeout=60)
try:
    event = os.read(seen, 65536)
except BlockingIOError:
    sys.exit(0)
sys.exit(f"{watched[int.from_bytes(event[:4], sys.byteorder)]} was opened")
