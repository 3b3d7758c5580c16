#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""A FUSE server that never answers who reads its file.

    stuck_fuse.py DIRECTORY

Mounts a file system with one file, of any name, on DIRECTORY, and prints "ready"; and "read" each time
that somebody has begun to read it.
"""
import ctypes
import os
import struct
import sys

LOOKUP, GETATTR, OPEN, READ, INIT = 1, 3, 14, 15, 26
SILENT = (2, READ, 36, 42)      # FORGET, READ, INTERRUPT, BATCH_FORGET
EMPTY = (18, 25, 34)            # RELEASE, FLUSH, ACCESS
SIZE = 1 << 20


def attributes(inode, mode):
    return struct.pack("<6Q10I", inode, SIZE, SIZE // 512, 0, 0, 0, 0, 0, 0, mode, 1, 0, 0, 0, 4096, 0)


def mount(directory):
    device = os.open("/dev/fuse", os.O_RDWR)
    options = f"fd={device},rootmode=40000,user_id=0,group_id=0"
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.mount(b"stuck", directory.encode(), b"fuse", 0, options.encode()):
        raise OSError(ctypes.get_errno(), "mount")
    return device


def serve(device):
    nodes = {1: attributes(1, 0o040755), 2: attributes(2, 0o100755)}
    while True:
        request = os.read(device, 1 << 20)
        _, what, unique, node = struct.unpack("<IIQQ", request[:24])
        if what in SILENT:
            if what == READ:
                print("read", flush=True)
            continue
        answer, error = b"", 0
        if what == INIT:
            answer = struct.pack("<4I2H2I2H8I", 7, 31, 65536, 0, 12, 10, 65536, 1, *[0] * 10)
        elif what == LOOKUP:
            answer = struct.pack("<4Q2I", 2, 1, 3600, 3600, 0, 0) + nodes[2]
        elif what == GETATTR:
            answer = struct.pack("<Q2I", 3600, 0, 0) + nodes[node]
        elif what == OPEN:
            answer = struct.pack("<Q2I", 1, 0, 0)
        elif what not in EMPTY:
            error = -38
        os.write(device, struct.pack("<IiQ", 16 + len(answer), error, unique) + answer)


if __name__ == "__main__":
    fuse = mount(sys.argv[1])
    print("ready", flush=True)
    serve(fuse)
