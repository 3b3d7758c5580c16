#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Stacks by tables that are well-formed and wrong: a program's own with bits changed and the checksum made
right.  Each that the module accepts replaces the right one until some stacks have been taken with it.  They may
be short, or have wrong addresses in executable mappings; none may be too long or have others, and the program
must run on.

	TABLE_MUTATIONS=COUNT TABLE_SEED=SEED
"""
# once: 1
# cpus: 1
# timeout: 600
import os
import random
import struct
import sys
import time
import zlib

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../lib"))
import guest  # pylint: disable=wrong-import-position
from guest import check, note  # pylint: disable=wrong-import-position

COUNT = int(os.environ.get("TABLE_MUTATIONS") or 300)
SEED = int(os.environ.get("TABLE_SEED") or time.time())
PROGRAM = f"{guest.TESTS}/deep_work"
CHECKSUM, ENOUGH = slice(12, 16), 4
HEADER = 256        # hardly a change of it is valid
MOST = 64


def checksum(blob):
    """Of the table, with zeros for the field itself."""
    blob = bytearray(blob)
    blob[CHECKSUM] = bytes(4)
    return zlib.crc32(blob)


def mutated(good):
    blob = bytearray(good)
    for _ in range(random.choice((1, 1, 2, 4, 64))):
        at = random.randrange(HEADER, len(blob) - 4)
        if random.randrange(4):
            blob[at] ^= 1 << random.randrange(8)
        else:       # a word from elsewhere
            other = random.randrange(HEADER, len(blob) - 4) & ~3
            blob[at & ~3:(at & ~3) + 4] = good[other:other + 4]
    blob[CHECKSUM] = struct.pack("<I", checksum(blob))
    return bytes(blob)


def main():
    random.seed(SEED)
    with guest.table(PROGRAM) as table:
        good = table.read()
    assert struct.unpack("<I", good[CHECKSUM])[0] == checksum(good), "another checksum"
    tried = kept = samples = deepest = astray = 0
    with guest.Module() as family, guest.Work(PROGRAM) as work, open(PROGRAM, "rb") as exe:
        number = guest.add(family, PROGRAM)
        code = [(start, end) for start, end, permissions, *_ in guest.maps(work.pid) if "x" in permissions]
        with guest.Samples(work.pid, 200_000, max_stack=MOST) as stacks:
            for _ in range(COUNT):
                tried += 1
                with guest.memfd(mutated(good)) as table:
                    try:
                        family.do("table-add", exe_fd=exe, table_fd=table)
                    except guest.ynl.Error as error:
                        assert error.text.startswith("table: "), error
                        continue
                kept += 1
                chains = []
                guest.wait(lambda: chains.extend(ips for _, ips in stacks.take()) or len(chains) >= ENOUGH)
                samples += len(chains)
                for ips in chains:
                    deepest = max(deepest, len(ips))
                    # A return address follows a call, so the byte before it is executable.
                    astray += sum(not any(start <= ip - 1 < end for start, end in code) for ip in ips[1:])
        note(f"seed {SEED}: {tried} tables, {kept} accepted; {samples} stacks, the deepest of {deepest} frames")
        check(kept > COUNT / 20 and samples >= ENOUGH * kept,
              "the module accepts wrong tables, and takes stacks with them")
        check(deepest <= MOST, "no stack by a wrong table is longer than perf asks for")
        check(not astray, "all addresses of stacks by wrong tables are in executable mappings")
        check(work.process.poll() is None, "a program whose tables are wrong runs on")
        guest.add(family, PROGRAM)
        chains = guest.take(work.pid, 100)
        check(guest.complete(work.pid, chains) > 0.95 and family.do("file-get", id=number)["rows"],
              "a program that gets its right table again has whole stacks")
    guest.finish()


main()
