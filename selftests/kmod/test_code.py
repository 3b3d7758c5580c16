#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Code that processes have in memory, without a file behind it: its tables and ranges, and stacks through it."""
# timeout: 600
import collections
import os
import signal
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../lib"))
import guest  # pylint: disable=wrong-import-position
from guest import check, refused  # pylint: disable=wrong-import-position

LIBRARY, OTHER = f"{guest.TESTS}/libtorture1008.so", f"{guest.TESTS}/libtorture16.so"
WORK = f"{guest.TESTS}/lookup_work"
SAMPLES = 30 if guest.DEBUG else 200
BASE = 0x7000_0000_0000
MOST = 16384


def span(at, file, pages=1, offset=0):
    return {"start": at, "end": at + 0x1000 * pages, "offset": offset, "file": file}


def code_of(family, pid):
    """Generation and ranges of a process."""
    messages = family.dump("code-get", pid=pid)
    ranges = [each for message in messages for each in message.get("range", [])]
    return messages[0]["generation"] if messages else 0, ranges


def add(family, pid, path=LIBRARY, name="code"):
    with guest.table(path) as table:
        return family.do("table-add", pid=pid, name=name, table_fd=table)["id"]


def update(family, pid, generation, delete=(), add=()):  # pylint: disable=redefined-outer-name
    # "del" is a word of Python's.
    return family.do("code-update", **{"pid": pid, "generation": generation, "del": delete, "add": add})


def is_forgotten(family):
    return guest.wait(lambda: not any(guest.totals(family)[key] for key in ("code_procs", "code_bytes")))


def stacks(line, pid, wanted=None):
    """How many samples in spin_called() have the known callers, or are wanted, and how many others."""
    stage, spin, spin_end, call, call_end, _ = (int(word, 16) for word in line.split())
    chains = guest.take(pid, SAMPLES, lambda ips: spin <= ips[0] < spin_end)
    wanted = wanted or (lambda ips: len(ips) >= 3 and stage <= ips[1] < stage + 0x1000 and call <= ips[2] < call_end)
    right = sum(wanted(ips) for ips in chains)
    return right, len(chains) - right


def walks_use_it(family):
    for path in (WORK, LIBRARY):
        guest.add(family, path)
    with guest.Work(WORK, "copy", LIBRARY, OTHER) as work:
        guest.add_mapped(family, work.pid)
        stage, offset = int(work.line.split()[0], 16), int(work.line.split()[-1], 16)
        right, others = stacks(work.line, work.pid)
        news = [each for each in family.dump("news-get") if each["kind"] == 1 and each["pid"] == work.pid]
        guest.note(f"without a table {right} right, {others} not")
        check(not right and news and not news[0]["start"],
              "stacks through code without a table end in the code, and the code is news")
        number = add(family, work.pid)
        right, others = stacks(work.line, work.pid)
        check(not right, "a table of code in memory without ranges makes no stack complete")
        generation = update(family, work.pid, 0, add=[span(stage, number, offset=offset)])["generation"]
        right, others = stacks(work.line, work.pid)
        guest.note(f"with it {right} right, {others} not")
        check(right >= SAMPLES and others <= right // 100, "stacks go through code that has a table and a range")
        file = family.do("file-get", id=number)
        check(file["pid"] == work.pid and file["name"] == "code" and file["mapped"] and not file.get("inode"),
              "file-get tells the process and the name of a table of code in memory")
        wrong = add(family, work.pid, OTHER)
        update(family, work.pid, generation, [span(stage, number, offset=offset)], [span(stage, wrong, offset=offset)])
        right, others = stacks(work.line, work.pid)
        check(not right, "a range that is given another table has stacks by that table")
        family.do("table-del", id=wrong)
        check(not code_of(family, work.pid)[1], "a table of code that is removed takes its ranges with it")
        update(family, work.pid, code_of(family, work.pid)[0], add=[span(stage, number, offset=offset)])
        right, _ = stacks(work.line, work.pid)
        check(right >= SAMPLES, "a range whose table was removed can get its earlier table again")
        before = max(each["seq"] for each in family.dump("news-get"))
        work.kill(signal.SIGUSR1)
        work.process.stdout.readline()
        name = "a table does not hold for other code that is mapped at its place"
        if tuple(map(int, os.uname().release.split(".")[:2])) < (6, 4):
            guest.skip(name, "before Linux 6.4 nothing tells that a mapping is another one")
        else:
            # Walks with the old table could end there, too: but only code without one is news.
            right, others = stacks(work.line, work.pid, lambda ips: len(ips) == 2)
            check(right >= SAMPLES and not others and
                  any(each["kind"] == 1 and each["pid"] == work.pid for each in family.dump("news-get", seq=before)), name)
        number = add(family, work.pid, OTHER)
        generation, ranges = code_of(family, work.pid)
        update(family, work.pid, generation, ranges, [span(stage, number, offset=offset)])
        right, _ = stacks(work.line, work.pid)
        check(right >= SAMPLES, "other code that is mapped at the place of code with a table can get its own table")
    check(is_forgotten(family), "ranges of code are gone when their process has ended")
    check(number not in [each["id"] for each in family.dump("file-get")],
          "tables of code are gone when their process has ended")


def diffs(family):
    with guest.Work("/bin/sleep", "infinity", first_line=False) as one, \
         guest.Work("/bin/sleep", "infinity", first_line=False) as two:
        number, other = add(family, one.pid), add(family, two.pid)
        check(code_of(family, one.pid) == (0, []), "a process without ranges has no generation")
        three = [span(BASE + at, number) for at in (0x1000, 0x2000, 0x8000)]
        answer = update(family, one.pid, 0, add=three)
        check(answer["ranges"] == 3 and code_of(family, one.pid) == (answer["generation"], three),
              "code-update adds ranges")
        generation = update(family, one.pid, answer["generation"], [three[1]], [span(BASE + 0x3000, number)])["generation"]
        check(generation > answer["generation"] and
              [each["start"] - BASE for each in code_of(family, one.pid)[1]] == [0x1000, 0x3000, 0x8000],
              "code-update removes ranges and adds others at once")
        now = code_of(family, one.pid)

        def refuses(errno, words, name, pid=one.pid, at=generation, **diff):
            check(refused(errno, words, update, family, pid, at, **diff) and code_of(family, one.pid) == now,
                  f"code-update refuses {name}, and ranges stay")

        refuses(116, f"generation {generation}", "a change of ranges that were changed since", at=answer["generation"],
                add=[span(BASE, number)])
        refuses(116, f"generation {generation}", "a change that knows of no ranges", at=0, add=[span(BASE, number)])
        refuses(22, "overlaps", "a range over another", add=[span(BASE + 0x1000, number)])
        refuses(22, "overlaps", "a range over the end of another", add=[span(BASE, number, 2)])
        refuses(22, "out of order", "ranges that are not in order",
                add=[span(BASE + 0xa000, number), span(BASE + 0x9000, number)])
        refuses(22, "is empty", "an empty range", add=[span(BASE, number, 0)])
        refuses(22, "is empty", "a range above all addresses", add=[span((1 << 47) - 0x1000, number, 2)])
        refuses(22, "no such range", "the end of a range that is not there", delete=[span(BASE, number)])
        refuses(22, "no such range", "the end of a range with another offset",
                delete=[span(BASE + 0x1000, number, offset=8)])
        refuses(22, f"no table {other}", "the table of another process", add=[span(BASE, other)])
        refuses(22, "no table 4294967295", "a table that is not there", add=[span(BASE, (1 << 32) - 1)])
        with open(LIBRARY, "rb") as exe:
            file = family.do("file-get", exe_fd=exe)["id"]
        refuses(22, f"no table {file}", "the table of a file", add=[span(BASE, file)])
        refuses(22, "a range has start, end, offset and file", "a range without an end",
                add=[{"start": BASE, "offset": 0, "file": number}])
        generation = update(family, one.pid, generation, now[1])["generation"]
        check(code_of(family, one.pid)[1] == [], "code-update removes all ranges of a process")
        many = [span(BASE + 0x1000 * at, number) for at in range(MOST)]
        for at in range(0, MOST, 1024):     # a message has room for so many
            generation = update(family, one.pid, generation, add=many[at:at + 1024])["generation"]
        check(code_of(family, one.pid) == (generation, many),
              f"{MOST} ranges of a process are kept, and code-get tells them in many messages")
        check(refused(7, "more ranges than a process may have", update, family, one.pid, generation,
                      add=[span(BASE + 0x1000 * MOST, number)]), "one range more than a process may have is refused")
        check(len(family.dump("code-get")) > 10 and not code_of(family, two.pid)[1],
              "code-get tells the ranges of all processes, or of one")
        # Half way through a dump.
        family.do("table-del", id=other)
        check(refused(2, "no such file", family.do, "table-del", id=other),
              "a table of code without ranges can be removed")
    check(is_forgotten(family), "nothing is left of two processes with code in memory that have ended")


FORKS = """
import os, sys, time
print("ready", flush=True)
sys.stdin.readline()
if not (pid := os.fork()): time.sleep(1e6)
print(pid, flush=True)
sys.stdin.readline()
os.kill(pid, 9)
os.execl("/bin/sleep", "sleep", "infinity")"""


def others_have_none(family):
    with guest.Work("/usr/bin/python3", "-c", FORKS, stdin=-1) as work:

        def go_on():
            work.process.stdin.write("\n")
            work.process.stdin.flush()

        number = add(family, work.pid)
        update(family, work.pid, 0, add=[span(BASE, number)])
        go_on()
        child = int(work.process.stdout.readline())
        check(code_of(family, child) == (0, []) and code_of(family, work.pid)[1],
              "a forked child has no ranges of code")
        check(refused(22, f"no table {number}", update, family, child, 0, add=[span(BASE, number)]),
              "a forked child cannot get the table of its parent's code")
        own = add(family, child)
        update(family, child, 0, add=[span(BASE, own)])
        before = guest.totals(family)["code_procs"]
        os.kill(work.pid, signal.SIGCONT)
        go_on()
        guest.wait(lambda: guest.get(f"/proc/{work.pid}/comm") == "sleep\n")
        check(before == 2 and is_forgotten(family) and work.process.poll() is None,
              "ranges of code are gone after exec, and after a kill")
        check(code_of(family, work.pid) == (0, []), "a process has no ranges of code after exec")


def heaps_of(family, pid):
    return [message["heaps"] for message in family.dump("code-get", pid=pid) if "heaps" in message]


def heap_bytes(heaps, **more):
    """struct bee_code_heaps, for headers of JDK 17."""
    word = {"interpreter": 0, "interpreter_end": 0, "nr": len(heaps), "shift": 7, "used": 8, "blob": 16, "frame_size": 28,
            "complete": 20, "code": 32, "code_end": 40, "complete_size": 4, "code_size": 8, "code_end_size": 8} | more
    places = [word for heap in heaps for word in heap] + [0] * 3 * (8 - len(heaps))
    return struct.pack("=24Q5QI7H3B3x", *places, word["interpreter"], word["interpreter_end"], 0, 0, 0,
                       *list(word.values())[2:])


def heaps_are_checked(family):
    good = heap_bytes([(BASE, BASE + 0x100000, BASE + 0x200000), (BASE + 0x100000, BASE + 0x110000, BASE)])
    with guest.Work("/bin/sleep", "infinity", first_line=False) as work:
        generation = family.do("code-update", pid=work.pid, generation=0, heaps=good)["generation"]
        check(generation and heaps_of(family, work.pid) == [good],
              "code-get tells the code heaps that code-update has given")
        check(guest.totals(family)["code_procs"] == 1, "a process with code heaps only is one with code in memory")

        def refuses(words, name, heaps):
            check(refused(22, words, family.do, "code-update", pid=work.pid, generation=generation, heaps=heaps) and
                  heaps_of(family, work.pid) == [good], f"code-update refuses {name}, and code heaps stay")

        one = [(BASE, BASE + 0x100000, 0)]
        refuses("another size", "a struct of another size", good[:-8])
        refuses("overlap", "no heap", heap_bytes([]))
        refuses("overlap", "nine heaps", heap_bytes(one, nr=9))
        refuses("overlap", "heaps that overlap", heap_bytes([one[0], (BASE + 0xff000, BASE + 0x200000, 0)]))
        refuses("overlap", "an empty heap", heap_bytes([(BASE, BASE, 0)]))
        refuses("overlap", "a heap above all addresses", heap_bytes([(BASE, 1 << 47, 0)]))
        refuses("out of bounds", "segments of 2^21 bytes", heap_bytes(one, shift=21))
        refuses("out of bounds", "a field behind all headers", heap_bytes(one, code=1024))
        refuses("out of bounds", "a field across two words", heap_bytes(one, frame_size=30))
        refuses("out of bounds", "a field of three bytes", heap_bytes(one, code_size=3))
        refuses("out of bounds", "an offset of eight bytes", heap_bytes(one, complete_size=8))
        refuses("out of bounds", "an interpreter that ends before it begins", heap_bytes(one, interpreter=8))
        number = add(family, work.pid)
        generation = family.do("code-update", pid=work.pid, generation=generation, add=[span(BASE, number)])["generation"]
        check(heaps_of(family, work.pid) == [good], "code heaps stay if code-update does not name them")
        family.do("code-update", pid=work.pid, generation=generation, heaps=b"")
        check(not heaps_of(family, work.pid), "an empty attribute heaps removes code heaps")
    check(is_forgotten(family), "code heaps are gone when their process has ended")


def code_with(pid, stage):
    """Where a process has code, or nothing before it has mapped the memory that it copies code to."""
    places = [each[:2] for each in guest.maps(pid) if "x" in each[2]]
    return places if stage in (start for start, _ in places) else []


def heaps_lie(family):
    """The memory that is said to be a code heap is another's, and its segment map of any kind."""
    for path in (WORK, LIBRARY):
        guest.add(family, path)
    for number, size in enumerate((2, 4, 8)):
        with guest.Work(WORK, "copy", LIBRARY, OTHER) as work:
            guest.add_mapped(family, work.pid)
            stage = int(work.line.split()[0], 16)
            lie = heap_bytes([(stage, stage + 0x1000, stage + 0x800 * number)], shift=3 + number, code_size=size,
                             interpreter=stage + 0x100 * number, interpreter_end=stage + 0x400)
            family.do("code-update", pid=work.pid, generation=0, heaps=lie)
            places = guest.wait(lambda work=work, stage=stage: code_with(work.pid, stage))
            chains = guest.take(work.pid, SAMPLES)
            check(len(chains) >= SAMPLES and all(any(start <= ip < end for start, end in places)
                                                 for ips in chains for ip in ips),
                  f"code heaps with wrong addresses and fields of {size} bytes lead to no address without code")


def names(family):
    number = add(family, os.getpid(), name="x" * 255)
    check(family.do("file-get", id=number)["name"] == "x" * 255, "a table of code has a name of up to 255 bytes")
    family.do("table-del", id=number)
    with guest.table(LIBRARY) as table:
        for name, values in (("a name", {"table_fd": table}), ("a table", {"name": "code"}),
                             ("a name that is not empty", {"name": "", "table_fd": table})):
            check(refused(22, "code in memory has a table-fd and a name", family.do, "table-add", pid=os.getpid(),
                          **values), f"table-add refuses code in memory without {name}")
        ended = guest.Work("/bin/true", first_line=False)
        with ended:
            ended.process.wait()
        check(refused(3, "no such process", family.do, "table-add", pid=ended.pid, name="code", table_fd=table),
              "table-add refuses code of a process that has ended")
        check(refused(3, "a kernel thread", family.do, "table-add", pid=2, name="code", table_fd=table),
              "table-add refuses code of a kernel thread")
        check(refused(3, "no such process", family.dump, "code-get", pid=ended.pid),
              "code-get refuses a process that has ended")


def main():
    with guest.Module() as family:
        for test in (walks_use_it, diffs, others_have_none, heaps_are_checked, heaps_lie, names):
            test(family)
    guest.finish()


main()
