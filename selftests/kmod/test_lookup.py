#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Stacks of processes that nobody has loaded, by lookups in the kernel's tree of mappings: whole where the
files have tables, whatever changes the mappings, and perf's own where they have none."""
# timeout: 600
import collections
import os
import shutil
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../lib"))
import guest  # pylint: disable=wrong-import-position

LIBRARIES = [f"{guest.TESTS}/libtorture{frame}.so" for frame in (16, 240, 1008, 4080)]
WORK = f"{guest.TESTS}/lookup_work"
SAMPLES = 60 if guest.DEBUG else 300


def walks(family):
    return family.do("info-get")["walks"]


def whole(name, pid, **more):
    """At most one stack in a hundred is not complete; on the instrumented kernel one in twenty."""
    chains = guest.take(pid, SAMPLES, **more)
    share = guest.complete(pid, chains)
    guest.note(f"{name}: {len(chains)} stacks, {share:.1%} complete")
    return len(chains) >= SAMPLES and share >= (0.95 if guest.DEBUG else 0.99)


def without_tables(family):
    """The same stacks as perf takes without the module: none is walked."""
    for name, command in ("python3", guest.PYTHON), ("perl", guest.PERL):
        with guest.Work(*command) as work:
            before = walks(family)
            chains = guest.take(work.pid, SAMPLES)
            guest.check(len(chains) >= SAMPLES and walks(family) == before,
                        f"{name}: without any table stacks are left to perf")
            news = [each for each in family.dump("news-get") if each["pid"] == work.pid]
            paths = {path for start, end, *_, path in guest.maps(work.pid)
                     for each in news if (each["start"], each["end"]) == (start, end)}
            guest.note(f"{name}: news of", *sorted(paths))
            guest.check(os.path.realpath(command[0]) in paths and all(each["kind"] == 0 for each in news),
                        f"{name}: a sampled program's file is news")


def with_tables(family):
    for name, command in ("python3", guest.PYTHON), ("perl", guest.PERL):
        with guest.Work(*command) as work:
            guest.add_mapped(family, work.pid)
        with guest.Work(*command) as work:
            guest.check(whole(name, work.pid),
                        f"{name}: stacks of a process that nobody has loaded are whole")
            if guest.has_deferred():
                guest.check(whole(name, work.pid, deferred=True),
                            f"{name}: deferred stacks of a process that nobody has loaded are whole")
            else:
                guest.skip(f"{name}: deferred stacks of a process that nobody has loaded are whole",
                           "this kernel has none")
            family.do("config-set", hook=0)
            before = walks(family)
            guest.check(not whole(name, work.pid) and walks(family) == before,
                        f"{name}: with the hook off stacks are left to perf")
            family.do("config-set", hook=1)
            guest.check(whole(name, work.pid), f"{name}: with the hook on again stacks are whole")


def gate(family, directory):
    """A program whose own file has no table, and its libraries have."""
    own = shutil.copy(guest.PERL[0], directory)
    with guest.Work(own, *guest.PERL[1:]) as work:
        # The files that are news a second later, and have no table.
        start = next(start for start, *_, path in guest.maps(work.pid) if path == own)
        end = max(end for _, end, *_, path in guest.maps(work.pid) if path == own)
        before = walks(family)
        chains = guest.take(work.pid, SAMPLES, lambda ips: start <= ips[0] < end)
        counted = walks(family) - before
        guest.check(len(chains) >= SAMPLES and counted < SAMPLES / 2,
                    "a sample in a file without a table is left to perf, whatever tables its libraries have")
        guest.add(family, own)
        guest.check(whole("a copy of perl", work.pid), "stacks in a file are whole as soon as it has got a table")
    # As by an editor that writes in place: the inode is the same, its contents may not be.
    os.utime(own)
    with guest.Work(own, *guest.PERL[1:]) as work:
        start = next(start for start, *_, path in guest.maps(work.pid) if path == own)
        end = max(end for _, end, *_, path in guest.maps(work.pid) if path == own)
        before = walks(family)
        guest.take(work.pid, SAMPLES, lambda ips: start <= ips[0] < end)
        counted = walks(family) - before
        guest.check(counted < SAMPLES / 2 and
                    any(each["pid"] == work.pid and start <= each["start"] and each["end"] <= end
                        for each in family.dump("news-get")),
                    "a file with a table that was written to is unknown, and news")


def judge(lines, samples, counts, seen):
    """Count samples in spin_called() by whether their callers are those that are known."""
    stage, spin, spin_end, call, call_end, _ = (int(word, 16) for word in lines.split())
    for pid, ips in samples.take():
        if not spin <= ips[0] < spin_end:
            continue
        seen.add(pid)
        right = len(ips) >= 3 and stage <= ips[1] < stage + 0x1000 and call <= ips[2] < call_end
        short = len(ips) < 3
        counts["right" if right else "short" if short else "wrong"] += 1
        if not right and not short and counts["wrong"] <= 3:
            guest.note("wrong:", *map(hex, ips[:4]))


def known_callers(mode, name, processes=1, libraries=LIBRARIES):
    counts, seen = collections.Counter(), set()
    with guest.Work("setarch", "-R", WORK, mode, *libraries) as work, guest.Samples(period=500_000) as samples:
        guest.wait(lambda: judge(work.line, samples, counts, seen) or
                   (counts["right"] >= SAMPLES and len(seen) >= processes), progress=counts.total)
    total = sum(counts.values())
    guest.note(f"{name}: {dict(counts)} stacks of {len(seen)} processes")
    return guest.check(total >= SAMPLES and len(seen) >= processes and not counts["wrong"] and
                       counts["right"] >= (0.95 if guest.DEBUG else 0.99) * total, name)


def changing(family):
    for path in (*LIBRARIES, WORK, "/bin/setarch"):
        guest.add(family, path)
    with guest.Work(WORK, "still", LIBRARIES[0]) as work:
        guest.add_mapped(family, work.pid)
    known_callers("still", "stacks of code that the program has mapped itself are right")
    known_callers("moved", "stacks of code that mremap() has moved are right")
    known_callers("turns", "stacks of code of different files at one place, in turns, are right")
    known_callers("over", "stacks of code of files mapped over each other (MAP_FIXED) are right")
    known_callers("thread", "stacks of a second thread are right")
    known_callers("fork", "stacks of forked children are right", 3)
    known_callers("vfork", "stacks of children by vfork(), and of what they execute, are right", 3)
    # The rule of another file would lead astray: so a file without a table is not taken for one that has one.
    with open(LIBRARIES[3], "rb") as exe:
        family.do("table-del", id=family.do("file-get", exe_fd=exe)["id"])
    counts, seen = collections.Counter(), set()
    with guest.Work("setarch", "-R", WORK, "turns", *LIBRARIES[1::2]) as work, \
         guest.Samples(period=500_000) as samples:
        guest.wait(lambda: judge(work.line, samples, counts, seen) or
                   (counts["right"] >= SAMPLES and counts.total() - counts["right"] >= SAMPLES / 2),
                   progress=counts.total)
    guest.note(dict(counts))
    guest.check(counts["right"] >= SAMPLES and counts["right"] + counts["short"] >= 0.99 * sum(counts.values()),
                "stacks of a file without a table, at one place in turns with others, are short, not wrong")


def dpkg(family, directory):
    """A program and a library are replaced while they run: the process has the old files."""
    copies = [shutil.copy(path, directory) for path in (WORK, LIBRARIES[2])]
    for path in copies:
        guest.add(family, path)
    counts, seen = collections.Counter(), set()
    with guest.Work("setarch", "-R", *([copies[0], "still", copies[1]])) as work:
        for path in copies:
            shutil.copy(path, path + ".dpkg-new")
            os.link(path, path + ".dpkg-tmp")
            os.rename(path + ".dpkg-new", path)
            os.unlink(path + ".dpkg-tmp")
        guest.put("/proc/sys/vm/drop_caches", "2")
        with guest.Samples(period=500_000) as samples:
            guest.wait(lambda: judge(work.line, samples, counts, seen) or counts["right"] >= SAMPLES,
                       progress=counts.total)
        deleted = [path for *_, path in guest.maps(work.pid) if path.endswith("(deleted)")]
    guest.note(dict(counts), f"{len(deleted)} mappings of deleted files")
    guest.check(deleted and counts["right"] >= SAMPLES and not counts["wrong"] and not counts["short"],
                "a program goes on with whole stacks while its files are replaced as dpkg does it")
    for path in copies:
        guest.check(not guest.known(family, path),
                    f"{os.path.basename(path)}: the file that has replaced one with a table is unknown")


def main():
    with guest.Module() as family, tempfile.TemporaryDirectory() as directory:
        without_tables(family)
        with_tables(family)
        gate(family, directory)
        changing(family)
        dpkg(family, directory)
    guest.finish()


main()
