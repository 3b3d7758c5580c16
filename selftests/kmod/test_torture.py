#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Torture: processes change their mappings as fast as they can (torture_test), while all stacks are taken, and
tables come and go.  The module's steps are judged by the oracle of selftests/fixtures/modules/mapped, which asks
page tables.

	TORTURE_SKIP=N		leave out checks of lookups (vma_skip of kmod/vma.c), which the oracle has to notice
	TORTURE_SECONDS=N	how long (default 6)
	TORTURE_HZ=N		samples a second (default 999, on the instrumented kernel 49)
"""
# timeout: 600
# cpus: 2
import contextlib
import os
import signal
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../lib"))
import guest  # pylint: disable=wrong-import-position
from guest import check, note  # pylint: disable=wrong-import-position

LIBRARIES = [f"{guest.TESTS}/libtorture{frame}.so" for frame in (16, 240, 1008, 4080)]
SECONDS = float(os.environ.get("TORTURE_SECONDS") or 6)
HZ = int(os.environ.get("TORTURE_HZ") or (49 if guest.DEBUG else 999))
RIGHT_STEPS = HZ / 10       # in a second, at least
PARAMETERS = "/sys/module/beeunwind/parameters/"


def oracle():
    words = guest.get(PARAMETERS + "mapped").split()
    return dict(zip(words[::2], map(int, words[1::2])))


class Tables:
    """Those that come and go meanwhile."""

    def __init__(self, family, pid):
        self.family, self.pid, self.seq, self.turn = family, pid, 0, 0
        self.contents = {}
        for path in LIBRARIES:
            with open(path, "rb") as file:
                self.contents[file.read()] = path
        self.counts = {"added": 0, "of new files": 0, "removed": 0, "code": 0}

    def all_done(self):
        return all(self.counts[what] for what in ("added", "removed", "code"))

    def add_new(self, news):
        """A copy of a library."""
        where = f"/proc/{news['pid']}/map_files/{news['start']:x}-{news['end']:x}"
        with open(where, "rb") as exe, guest.table(self.contents[exe.read(1 << 20)]) as table:
            self.family.do("table-add", exe_fd=exe, table_fd=table)
        self.counts["of new files"] += 1

    def lay_code(self):
        """Where no code is: the oracle knows only files."""
        pid = int(guest.get(f"/proc/{self.pid}/task/{self.pid}/children").split()[-1])
        with guest.table(LIBRARIES[0]) as table:
            number = self.family.do("table-add", pid=pid, name="torture", table_fd=table)["id"]
        generation = max([0] + [each["generation"] for each in self.family.dump("code-get", pid=pid)])
        at = 0x10000 * (1 + self.turn)
        self.family.do("code-update", pid=pid, generation=generation,
                       add=[{"start": at, "end": at + 0x1000, "offset": 0, "file": number}])
        self.counts["code"] += 1

    def step(self):
        for news in self.family.dump("news-get", seq=self.seq):
            self.seq = news["seq"]
            # The process may have ended, or have something else there; or it is not one of the torture's.
            with contextlib.suppress(OSError, KeyError, guest.ynl.Error):
                if news["kind"] == 0:
                    self.add_new(news)
        self.turn += 1
        with contextlib.suppress(OSError, IndexError, guest.ynl.Error):
            self.lay_code()
        path = LIBRARIES[self.turn % len(LIBRARIES)]
        known = guest.known(self.family, path)
        if known and self.turn % 2 == 0:
            with contextlib.suppress(guest.ynl.Error):
                self.family.do("table-del", id=known["id"])
                self.counts["removed"] += 1
        guest.add(self.family, path)
        self.counts["added"] += 1


def torture(family):
    with guest.Work(f"{guest.TESTS}/torture_test", stdin=-1) as work:
        tables = Tables(family, work.pid)
        guest.add_mapped(family, work.pid)
        for path in LIBRARIES:
            guest.add(family, path)
        start, begin = oracle(), guest.clock()
        walks = family.do("info-get")["walks"]
        with guest.Samples(period=1_000_000_000 // HZ, keep=False):
            # A guest that shares its CPUs takes few samples: so it is tortured for two minutes more, if need be.
            while (seconds := guest.clock() - begin) < SECONDS or (
                    seconds < SECONDS + 120 and not (oracle()["right"] - start["right"] > RIGHT_STEPS * SECONDS and
                                                    tables.all_done())):
                tables.step()
                time.sleep(0.02)
        said, _ = work.process.communicate("")
    end = oracle()
    steps = {key: end[key] - start[key] for key in end}
    note(said.strip())
    note("tables", tables.counts, guest.get(PARAMETERS + "lookups").strip())
    note(f"{family.do('info-get')['walks'] - walks} walks in {seconds:.0f} s; steps by what was mapped:", steps)
    # A step at which the oracle saw no page of a file proves nothing, so these must be few.
    check(steps["right"] > RIGHT_STEPS * SECONDS and steps["right"] > 4 * (steps["absent"] + steps["private"] +
                                                                          steps["overtaken"]),
          "walks with tables go through what is being mapped")
    check(not end["wrong"], "no table is used of a file that is not mapped there")
    check(tables.all_done(), "tables came and went while mappings changed")


def main():
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    with guest.Module("vma_skip=" + (os.environ.get("TORTURE_SKIP") or "0"),
                      ko=guest.TEST_KO + "/mapped/beeunwind.ko") as family:
        torture(family)
        guest.clear(family)
        check(guest.is_empty(family), "no file, table or process is left after the torture")
    guest.finish()


main()
