#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""make_twins.py FROM1 FROM2 TO1 TO2: copy two files and make the copies look alike: size, mtime,
ctime, and, where each is the first file of its own space of inode numbers, inode number and
generation.  Sets the clock for that.  Fails if they come out different."""

import fcntl
import os
import shutil
import struct
import sys
import time

FS_IOC_GETVERSION = 0x80087601


def generation(path):
    with open(path, "rb") as file:
        try:
            return struct.unpack("i", fcntl.ioctl(file, FS_IOC_GETVERSION, bytes(8))[:4])[0]
        except OSError:
            return 0


def looks(path):
    st = os.stat(path)
    return st.st_ino, st.st_size, st.st_mtime_ns, st.st_ctime_ns, generation(path)


def set_times(paths, moment):
    """ctime is the time of the kernel's last tick; a clock that was just set is at its own.  Linux
    6.13 and later take the exact time instead if somebody has looked at the ctime before (multigrain
    timestamps), so the times are set twice."""
    for path in paths * 2:
        time.clock_settime(time.CLOCK_REALTIME, moment)
        os.utime(path, (moment, moment))


def main():
    sources, copies = sys.argv[1:3], sys.argv[3:5]
    size = max(os.path.getsize(path) for path in sources)
    moment = int(time.time())
    # btrfs: the generation is the transaction's, and a transaction may end between the two.
    for _ in range(20):
        for source, copy in zip(sources, copies):
            if os.path.exists(copy):
                os.unlink(copy)
            shutil.copyfile(source, copy)
            os.chmod(copy, 0o755)
            os.truncate(copy, size)
        if generation(copies[0]) == generation(copies[1]):
            break
    for _ in range(200):
        set_times(copies, moment)
        if looks(copies[0])[3] == looks(copies[1])[3]:
            break
    one, two = looks(copies[0]), looks(copies[1])
    print("inode, size, mtime, ctime, generation:", one, two)
    return one != two


sys.exit(main())
