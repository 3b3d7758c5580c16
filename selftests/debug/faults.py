#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Requests while memory runs out.

	faults.py			fail the 1st, 2nd, ... allocation of each request (fault injection's fail-nth)
					until there are no more: each ends in a refusal that changes nothing, or in a
					success
	faults.py work			make each request once, and all news, whatever comes of it
	faults.py load KO N		load a module while its Nth allocation fails; print the error, and how many
					allocations were still to go
	faults.py fill			leave no room in per-CPU memory, until killed

test_faults.sh says below which code allocations fail.
"""
import ctypes
import os
import signal
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../lib"))
import guest  # pylint: disable=wrong-import-position
import ynl  # pylint: disable=wrong-import-position

BIG, SMALL = "/usr/bin/tar", "/bin/true"
BASE = 0x7000_0000_0000
NTH_MAX = 500       # no request makes so many allocations
FINIT_MODULE, BPF, PERCPU_ARRAY, ENOMEM = 313, 321, 6, 12
libc = ctypes.CDLL(None, use_errno=True)


class Nth:
    """With it, the nth allocation of this thread fails; .left: how many more had to succeed before, or 0"""

    def __init__(self, nth):
        self.nth, self.left = nth, 0

    def __enter__(self):
        self.fd = os.open("/proc/thread-self/fail-nth", os.O_RDWR | os.O_CLOEXEC)
        os.pwrite(self.fd, str(self.nth).encode(), 0)
        return self

    def __exit__(self, *_):
        self.left = int(os.pread(self.fd, 16, 0).strip(b"\0\n") or 0)
        os.pwrite(self.fd, b"0", 0)
        os.close(self.fd)


class Requests:
    def __init__(self, family, pid):
        self.family, self.pid = family, pid
        self.files = {path: (open(path, "rb"), guest.table(path)) for path in (BIG, SMALL)}

    def add(self, path):
        exe, table = self.files[path]
        return self.family.do("table-add", exe_fd=exe, table_fd=table)["id"]

    def add_code(self):
        return self.family.do("table-add", pid=self.pid, name="faults", table_fd=self.files[SMALL][1])["id"]

    def ranges(self, code, pages):
        messages = self.family.dump("code-get", pid=self.pid)
        old = [each for message in messages for each in message.get("range", [])]
        new = [{"start": at, "end": at + 0x1000, "offset": 0, "file": code} for at in pages]
        return {"pid": self.pid, "generation": messages[0]["generation"] if messages else 0,
                "del": [each for each in old if each not in new], "add": [each for each in new if each not in old]}

    def undo(self):
        """A failed request may have added a table without telling its id."""
        guest.clear(self.family)

    def all(self):
        """(name, what is done first, the request)"""
        do, dump = self.family.do, self.family.dump

        def laid():
            code = self.add_code()
            do("code-update", **self.ranges(code, [BASE, BASE + 0x2000]))
            return code

        return [
            ("info-get", lambda: None, lambda _: do("info-get")),
            ("stats-get", lambda: None, lambda _: do("stats-get")),
            ("config-set of the budget", lambda: None, lambda _: do("config-set", budget=do("info-get")["budget"])),
            ("table-add of a file", lambda: None, lambda _: self.add(BIG)),
            ("table-add of a file that is known", lambda: self.add(BIG), lambda _: self.add(BIG)),
            ("table-add of code", lambda: None, lambda _: self.add_code()),
            ("table-del of a file", lambda: self.add(BIG), lambda number: do("table-del", id=number)),
            ("table-del of code with ranges", laid, lambda number: do("table-del", id=number)),
            ("file-get", lambda: self.add(BIG), lambda _: dump("file-get")),
            ("file-get of one file", lambda: self.add(BIG), lambda number: do("file-get", id=number)),
            ("code-update", self.add_code, lambda code: do("code-update", **self.ranges(code, [BASE]))),
            ("code-update with a diff", laid,
             lambda code: do("code-update", **self.ranges(code, [BASE, BASE + 0x4000]))),
            ("code-get", laid, lambda _: dump("code-get")),
            ("proc-get", lambda: None, lambda _: dump("proc-get")),
            ("news-get", lambda: None, lambda _: dump("news-get")),
        ]


def in_turn(requests, name, prepare, request):
    family, failed, refusals, good = requests.family, 0, 0, True
    for number in range(1, NTH_MAX):
        made = prepare()
        before, error, nth = guest.totals(family), None, Nth(number)
        try:
            with nth:
                request(made)
        except (ynl.Error, OSError) as refusal:
            error = refusal
        failed += not nth.left
        refusals += bool(error)
        if error and (not error.errno or not str(error)):
            guest.note(f"{name}: allocation {number}: {error!r}")
            good = False
        if error and not guest.wait(lambda then=before: guest.totals(family) == then):
            guest.note(f"{name}: allocation {number}: refused, and something changed", before, guest.totals(family))
            good = False
        requests.undo()
        if nth.left or not good:
            break
    guest.check(good and nth.left and not error,
                f"{name}: {failed} allocations failed in turn, {refusals} times it was refused")


def news(family):
    """What walks tell is told on by a worker, and to who listens."""
    family.listen()
    with guest.Work("/usr/bin/python3", "-c", "print(1, flush=True)\nwhile True: pass") as work, \
         guest.Samples(work.pid, keep=False):
        seq = max([0] + [each["seq"] for each in family.dump("news-get")])
        guest.wait(lambda: any(each["seq"] > seq for each in family.dump("news-get")))


def work_once(requests):
    for _, prepare, request in requests.all():
        try:
            request(prepare())
        except (ynl.Error, OSError, IndexError):
            pass
        requests.undo()
    news(requests.family)


def load(path, number):
    fd, nth = os.open(path, os.O_RDONLY | os.O_CLOEXEC), Nth(number)
    with nth:
        error = ctypes.get_errno() if libc.syscall(FINIT_MODULE, fd, b"", 0) else 0
    print(error, nth.left)


def fill():
    """The kernel makes one allocation in per-CPU memory for each element of a per-CPU array map.  Chunks of that
    are multiples of its size: what the module allocates does not fit either."""
    elements = 64
    while elements:
        attr = struct.pack("=IIII", PERCPU_ARRAY, 4, 1024, elements).ljust(128, b"\0")
        if libc.syscall(BPF, 0, attr, len(attr)) >= 0:
            continue
        if ctypes.get_errno() != ENOMEM:
            raise OSError(ctypes.get_errno(), "bpf")
        elements //= 2
    print("full", flush=True)
    signal.pause()


def main():
    if sys.argv[1:2] == ["load"]:
        return load(sys.argv[2], int(sys.argv[3]))
    if sys.argv[1:2] == ["fill"]:
        return fill()
    with guest.Work("/bin/sleep", "infinity", first_line=False) as target:
        requests = Requests(ynl.Family(), target.pid)
        if sys.argv[1:2] == ["work"]:
            return work_once(requests)
        for each in requests.all():
            in_turn(requests, *each)
        guest.check(requests.add(BIG) and requests.add_code(),
                    "tables of files and code can be added after failed allocations")
        requests.undo()
    return guest.finish()


main()
