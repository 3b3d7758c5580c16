#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Requests that no client makes: every operation of the spec with attributes that are missing, doubled, of the
wrong length, nested where they should not be, with values out of range or taken from earlier replies; dumps
that are left half read.  Each is answered, by a reply or by an error with a sentence.

	NL_FUZZ=COUNT NL_FUZZ_SEED=SEED
"""
# once: 1
# timeout: 600
import collections
import errno
import os
import random
import socket
import struct
import sys
import time

import yaml

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../lib"))
import guest  # pylint: disable=wrong-import-position
from guest import check, note, ynl  # pylint: disable=wrong-import-position

COUNT = int(os.environ.get("NL_FUZZ") or 5000)
SEED = int(os.environ.get("NL_FUZZ_SEED") or time.time())
ODD = 0, 1, 2, 0x7f, 0xff, 0xffff, 0x7fffffff, 0x80000000, 0xffffffff, 1 << 32, (1 << 63) - 1, 1 << 63, \
      (1 << 64) - 1, 0x7ffffffff000, 4096
# Refusals that netlink makes and not the module; and of a text that finds no memory.
WITHOUT_WORDS = errno.ENOMEM, errno.EOPNOTSUPP, errno.ENOBUFS, errno.EMSGSIZE
below = random.randrange


class Fuzz:
    def __init__(self, family, pids, fds):
        self.family, self.pids, self.fds = family, pids, fds
        self.learnt = {4: [0] * 16, 8: [0] * 16}
        with open(ynl.SPEC, encoding="utf-8") as file:
            spec = yaml.load(file, getattr(yaml, "CSafeLoader", yaml.SafeLoader))
        self.operations = [(number, each) for number, each in enumerate(spec["operations"]["list"], 1)
                           if "do" in each or "dump" in each]
        self.done, self.counts, self.silent = collections.Counter(), collections.Counter(), []

    def value(self, attribute):
        name, kind = attribute["name"], attribute["type"]
        if not below(8):
            return random.choice(ODD)
        if name.endswith("fd"):
            return random.choice(self.fds)
        if name.endswith("pid"):
            return random.choice(self.pids)
        if name in ("start", "end", "offset"):
            return 0x7f0000000000 + (below(64) << 12) + (0 if below(16) else below(4096))
        return random.choice(self.learnt[8 if kind == "u64" else 4]) if below(4) else below(1 << 64) >> below(64)

    def attribute(self, number, spec, depth):
        kind = spec["type"]
        if kind == "nest" and depth < 6 and below(16):
            data = self.attributes(spec["nested-attributes"], None, depth + 1)
            number |= 0x8000 if below(4) else 0
        elif kind in ("string", "binary", "nest"):
            data = random.randbytes(below(600)) if not below(4) else b"abcdefgh"[:below(9)] + bytes(1)
        else:
            data = struct.pack("=Q", self.value(spec) & (1 << 64) - 1)
            data = data[:{"flag": 0, "u64": 8}.get(kind, 4)]
        if not below(24):
            data = random.randbytes(below(32))
        if not below(32):
            number = below(64) if below(2) else below(65536)
        if not below(64):
            number |= random.choice((0x8000, 0x4000))
        data = ynl.attr(number & 0xffff, data[:8000])
        if kind == "nest" and not below(64):
            data = struct.pack("=H", below(200)) + data[2:]
        return data

    def attributes(self, name, names, depth=0):
        """Mostly each once and in order; or half of them, as many exclude each other."""
        known = [(number, spec) for number, spec in self.family.sets[name].values()
                 if spec["type"] != "pad" and (names is None or spec["name"] in names)]
        leaves = 8 if below(2) else 2
        chosen = known if below(8) else [random.choice(known) for _ in range(below(3 * len(known)))] if known else []
        return b"".join(self.attribute(number, spec, depth) for number, spec in chosen
                        for _ in range(below(4) if spec["type"] == "nest" else bool(below(leaves))))

    def one(self):
        number, operation = random.choice(self.operations)
        dump = "dump" in operation and ("do" not in operation or below(2))
        name = operation["attribute-set"]
        names = None
        if below(8):
            names = {each for way in ("do", "dump") for each in
                     operation.get(way, {}).get("request", {}).get("attributes", ())}
        payload = self.attributes(name if below(32) else random.choice(list(self.family.sets)), names)[:30000]
        flags = 1 | 4 | (0x300 if dump else 0) ^ (0 if below(64) else 1 << random.randrange(1, 16))
        if not below(64):
            number = below(256)
        length = 20 + len(payload) if below(64) else below(20 + len(payload))
        seq = self.family.seq = self.family.seq + 1
        self.family.socket.send(struct.pack("=IHHII", length, self.family.number, flags, seq, 0) +
                                struct.pack("=BBH", number, 2, 0) + payload)
        self.counts["sent"] += 1
        # Netlink drops a message with a wrong length, and nobody asks for an answer without NLM_F_ACK.
        if length != 20 + len(payload) or not flags & 4 or not below(100):
            self.counts["cut off"] += 1
            self.open()
            return
        self.answer(operation["name"], seq)

    def open(self):
        """A new socket; the old one may have a dump half way."""
        self.family.socket.close()
        self.family.socket = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, ynl.NETLINK_GENERIC)
        for option in 10, 11:       # as in ynl.Family()
            self.family.socket.setsockopt(ynl.SOL_NETLINK, option, 1)
        self.family.socket.settimeout(guest.PATIENCE)

    def answer(self, name, seq):
        while True:
            data = self.family.socket.recv(1 << 20)
            while data:
                length, kind, nlflags, got, _ = struct.unpack_from("=IHHII", data)
                body, data = data[16:length], data[(length + 3) & ~3:]
                if kind not in (ynl.NLMSG_ERROR, ynl.NLMSG_DONE):
                    for _, value in ynl.attrs(body[4:]):
                        if len(value) in (4, 8):
                            self.learnt[len(value)][below(16)] = int.from_bytes(value, sys.byteorder)
                elif got == seq:
                    error, = struct.unpack_from("=i", body)
                    self.counts["refused" if error else "done"] += 1
                    self.done[name] += not error
                    if error and not nlflags & 0x200 and -error not in WITHOUT_WORDS:
                        self.silent.append((name, -error))
                    return


def main():
    random.seed(SEED)
    with guest.Module() as family, guest.Work("/bin/sleep", "infinity", first_line=False) as one, \
         guest.Work("/bin/sleep", "infinity", first_line=False) as two, \
         open("/bin/true", "rb") as true, open("/bin/cat", "rb") as cat, guest.table("/bin/true") as table, \
         guest.table("/bin/cat") as other, open("/dev/zero", "rb") as zero:
        start, listed = family.do("info-get"), ynl.Family()
        files = true, cat, table, other, table, other, zero
        fuzz = Fuzz(family, (one.pid, two.pid, 2), [each.fileno() for each in files] + [99])
        fuzz.open()
        answered = True
        try:
            for number in range(COUNT):
                if number % 500 == 0:   # without these many a request cannot succeed
                    listed.do("config-set", budget=start["budget"], share=start["share"])
                    fuzz.learnt[4][0] = listed.do("table-add", exe_fd=true, table_fd=table)["id"]
                    fuzz.learnt[4][1] = listed.do("table-add", pid=one.pid, name="\udcff", table_fd=table)["id"]
                fuzz.one()
        except TimeoutError:
            answered = False
        note(f"seed {SEED}:", dict(fuzz.counts), dict(fuzz.done))
        check(answered and fuzz.counts["sent"] >= COUNT, f"the module answers {COUNT} random requests")
        note(*fuzz.silent[:5])
        check(not fuzz.silent, "all refusals of random requests have a reason")
        rare = "code-update", "table-add"
        check(fuzz.counts["refused"] > COUNT / 100 and
              all(fuzz.done[each["name"]] for _, each in fuzz.operations if each["name"] not in rare),
              "some random requests are refused, and some of each operation are not")
        listed.do("config-set", budget=start["budget"], share=start["share"], hook=start["hook"])
        guest.clear(listed)
        one.kill()
        two.kill()
        one.process.wait()
        two.process.wait()
        guest.clear(listed)
        check(guest.is_empty(listed), "no file, table or process is left after random requests")
    guest.finish()


main()
