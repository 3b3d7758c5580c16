#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""unopened.py PIPE... -- COMMAND...

Run a command.  Fails if it has opened one of these pipes; they have a writer meanwhile, or open()
would wait for one and not be seen.  The command has a minute, without the time in which it waits for a
CPU.
"""
import ctypes
import os
import subprocess
import sys
import time

sys.dont_write_bytecode = True
from progress import Clock  # pylint: disable=wrong-import-position

IN_OPEN = 0x20

at = sys.argv.index("--")
pipes, command = sys.argv[1:at], sys.argv[at + 1:]
writers = [os.open(pipe, os.O_RDWR) for pipe in pipes]
libc = ctypes.CDLL(None)
seen = libc.inotify_init1(os.O_NONBLOCK)
watched = {libc.inotify_add_watch(seen, os.fsencode(pipe), IN_OPEN): pipe for pipe in pipes}
assert min(watched) >= 0, watched
running = subprocess.Popen(command)
clock = Clock(running.pid)
while running.poll() is None and clock.now() < 60:
    time.sleep(0.05)
running.kill()
if running.wait():
    sys.exit(f"exit status {running.returncode}")
try:
    event = os.read(seen, 65536)
except BlockingIOError:
    sys.exit(0)
sys.exit(f"{watched[int.from_bytes(event[:4], sys.byteorder)]} was opened")
