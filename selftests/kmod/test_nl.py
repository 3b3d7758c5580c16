#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Requests: what they answer, and what is refused, each in words."""
import os
import random
import struct
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../lib"))
import guest  # pylint: disable=wrong-import-position
from guest import check, refused  # pylint: disable=wrong-import-position

EXE = "/bin/true"
MIB = 1 << 20


def module(family):
    info = family.do("info-get")
    check(info["module_version"] == guest.get("/sys/module/beeunwind/version").strip() and info["instance"] and
          info["hook"] == 1 and info["budget"] == 256 * MIB and info["share"] == 50 and not info["listeners"] and
          not info["files"] and not info["tables"] and not info["code_procs"] and info["cache_bytes"],
          "info-get of a module that was just loaded has its version, defaults and no files")
    with guest.Work(f"{guest.TESTS}/deep_work") as work:
        guest.add(family, f"{guest.TESTS}/deep_work")
        before = family.do("stats-get")
        guest.take(work.pid, 50)
        after = family.do("stats-get")
        proc, = family.dump("proc-get", pid=work.pid)
        counted = sum(each["walks"] for each in proc["stop"])
        check(proc["pid"] == work.pid and counted >= 50, "a process that was sampled has its walks counted")
        check(work.pid in [each["pid"] for each in family.dump("proc-get")],
              "a process that was sampled is among the processes of proc-get")
        check(sum(each["walks"] for each in after["stop"]) - sum(each["walks"] for each in before["stop"]) >= 50 and
              after["frames"] - before["frames"] >= 500 and
              [each["reason"] for each in after["stop"]] == list(range(1, len(family.reasons))),
              "stats-get counts walks and frames, and has all stop reasons")
        now = family.do("info-get")
        check(now["walks"] >= info["walks"] + 50 and now["hook_hits"] >= info["hook_hits"] + 50,
              "info-get counts walks and calls of the hook")
    guest.clear(family)


def many_processes(family):
    with guest.Samples(period=200_000, keep=False):
        pids = set()
        with guest.Work("/usr/bin/python3", "-c", """
import os
print("ready", flush=True)
for _ in range(200):
    if not os.fork(): sum(range(5000)); os._exit(0)
    os.wait()
print("done", flush=True)""") as work:
            guest.add_mapped(family, work.pid)
            guest.wait(lambda: pids.update(each["pid"] for each in family.dump("proc-get")) or
                       work.process.poll() is not None, 10 * guest.PATIENCE)
            procs = family.dump("proc-get")
    guest.note(f"{len(pids)} processes seen, {len(procs)} told at the end")
    check(len(pids) > 20 and len(procs) <= 1024 and work.pid in [each["pid"] for each in procs],
          "proc-get has the processes that were sampled last, and at most 1,024")
    guest.clear(family)


def settings(family):
    info = family.do("info-get")
    for values, words in (({}, "nothing to set"), ({"share": 0}, ""), ({"share": 101}, ""), ({"hook": 2}, "")):
        check(refused(22 if not values else 34, words, family.do, "config-set", **values),
              f"config-set refuses {values or 'a request without settings'}")
    family.do("config-set", budget=100 * MIB, share=7, hook=0)
    now = family.do("info-get")
    check((now["budget"], now["share"], now["hook"]) == (100 * MIB, 7, 0), "config-set sets all settings at once")
    family.do("config-set", budget=info["budget"], share=info["share"], hook=info["hook"])


def descriptors(family):
    with open(EXE, "rb") as exe, guest.table(EXE) as table, tempfile.TemporaryDirectory() as directory, \
         open(directory + "/closed", "wb") as closed:
        closed.close()

        def refuses(errno, words, name, **values):
            check(refused(errno, words, family.do, "table-add", **values), f"table-add refuses a table {name}")

        for name, values in (("for nothing", {}), ("for a file and the vDSO", {"exe_fd": exe, "vdso": True}),
                             ("for a file and a process", {"exe_fd": exe, "pid": 1})):
            refuses(22, "just one of exe-fd, vdso and pid", name, table_fd=table, **values)
        check(refused(22, "just one of exe-fd, vdso and id", family.do, "file-get"),
              "file-get refuses a request without a file")
        check(refused(22, "just one of exe-fd, vdso and id", family.do, "file-get", exe_fd=exe, id=1),
              "file-get refuses a request with two files")
        check(refused(2, "does not know that file", family.do, "file-get", exe_fd=exe),
              "file-get refuses an unknown file")
        check(refused(2, "does not know that file", family.do, "file-get", id=77), "file-get refuses an unknown id")
        check(refused(22, "id of the file is missing", family.do, "table-del"),
              "table-del refuses a request without an id")
        check(refused(9, "no such open file", family.do, "file-get", exe_fd=999),
              "file-get refuses a closed file descriptor")
        refuses(9, "no such open file", "for a file that is not open", exe_fd=999, table_fd=table)
        refuses(9, "no such open file", "whose descriptor is not open", exe_fd=exe, table_fd=999)
        refuses(34, "", "with a negative descriptor", exe_fd=exe, table_fd=-1)
        reader, writer = os.pipe()
        refuses(9, "not a regular file", "in a pipe", exe_fd=exe, table_fd=reader)
        os.close(reader)
        os.close(writer)
        with open("/dev/shm/bee_test_nl", "wb") as unreadable:
            unreadable.write(b"x")
            unreadable.flush()
            refuses(9, "not a regular file open for reading", "that cannot be read", exe_fd=exe, table_fd=unreadable)
        os.unlink("/dev/shm/bee_test_nl")
        with open("/proc/version", "rb") as proc:
            refuses(22, "not in memory", "in a file system that is not in memory", exe_fd=exe, table_fd=proc)
        with guest.memfd(b"") as empty:
            refuses(27, "empty or larger", "that is empty", exe_fd=exe, table_fd=empty)
            os.truncate(empty.fileno(), 1 << 32)
            refuses(27, "empty or larger", "that is too large", exe_fd=exe, table_fd=empty)
        check(refused(22, "pid is missing", family.do, "code-update"), "code-update refuses a request without pid")
        check(refused(34, "", family.do, "code-update", pid=0), "code-update refuses process 0")
        path = directory + "/" + "/".join(["x" * 100] * 4)
        os.makedirs(path)
        with open(path + "/last", "wb+") as long:
            number = family.do("table-add", exe_fd=long, table_fd=table)["id"]
            check(family.do("file-get", id=number)["name"] == (path + "/last")[-255:],
                  "a file with a long path is named by the path's last 255 bytes")


def wrong_tables(family):
    """Whatever is wrong in a table; the checksum made right or not."""
    with guest.table(EXE) as table:
        good = table.read()
    with open(EXE, "rb") as exe:

        def given(content):
            with guest.memfd(content) as table:
                family.do("table-add", exe_fd=exe, table_fd=table)

        check(refused(22, "table: ", given, b"x" * 4096) and refused(22, "table: ", given, good[:-1]) and
              refused(22, "table: ", given, good + b"x"),
              "table-add refuses what is no table, a table without its end, and one with a byte more")
        random.seed(42)
        flipped = 0
        for _ in range(100):
            bad = bytearray(good)
            at = random.randrange(8 * len(bad))
            bad[at // 8] ^= 1 << at % 8
            flipped += refused(22, "at offset", given, bytes(bad))
        check(flipped == 100, "table-add refuses 100 tables with a flipped bit")
    check(not family.dump("file-get"), "no file is known after all its tables were refused")


def raw(family):
    """Messages that no client makes."""

    def sent(operation, payload, flags=guest.ynl.NLM_F_ACK):
        return family.exchange(family.number, family.operations[operation][0], payload, flags)

    attr = guest.ynl.attr
    check(refused(22, "", sent, "table-del", attr(family.sets["file"]["id"][0], b"\1")),
          "a request with an attribute that is too short is refused")
    check(refused(22, "", sent, "table-del", attr(200, b"\1\0\0\0")), "a request with an unknown attribute is refused")
    check(refused(34, "", sent, "code-update", attr(family.sets["code"]["pid"][0], struct.pack("I", os.getpid())) +
                  attr(family.sets["code"]["add"][0] | 0x8000, b"\1\2\3")),
          "a request with a nested attribute that is none is refused")
    check(refused(95, "", family.exchange, family.number, 99, b"", guest.ynl.NLM_F_ACK),
          "a request with an unknown operation is refused")


def main():
    with guest.Module() as family:
        for test in (module, many_processes, settings, descriptors, wrong_tables, raw):
            test(family)
        guest.clear(family)
        check(guest.is_empty(family), "no file, table or process is left after all requests")
    with guest.Module("budget_mb=3") as family:
        check(family.do("info-get")["budget"] == 3 * MIB,
              "the parameter budget_mb sets the budget when the module is loaded")
    guest.finish()


main()
