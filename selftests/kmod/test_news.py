#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""News: what walks have met that is not known, in a ring; and the message that there is some."""
# timeout: 600
import os
import select
import shutil
import struct
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../lib"))
import guest  # pylint: disable=wrong-import-position
from guest import check  # pylint: disable=wrong-import-position

LIBRARY, WORK = f"{guest.TESTS}/libtorture16.so", f"{guest.TESTS}/lookup_work"
RING = 1024


def last(family):
    return family.do("info-get")["news"]


def of(family, pid, seq=0):
    return [each for each in family.dump("news-get", seq=seq) if each["pid"] == pid]


def files(family, directory):
    path = shutil.copy(f"{guest.TESTS}/deep_work", directory)
    with guest.Work(path) as work:
        guest.take(work.pid, 20)
        first = of(family, work.pid)
        check(first and first[0]["kind"] == 0 and
              (first[0]["start"], first[0]["end"]) in [each[:2] for each in guest.maps(work.pid)],
              "a sample in an unknown file is news with the file's mapping")
        where = f"/proc/{work.pid}/map_files/{first[0]['start']:x}-{first[0]['end']:x}"
        check(os.path.samefile(where, path), "an unknown file can be opened by the mapping of its news")
        check(not of(family, work.pid, last(family)) and all(each["seq"] > first[0]["seq"] for each in
                                                             of(family, work.pid, first[0]["seq"])),
              "news-get with a number tells only later news")

        def again():
            guest.take(work.pid, 20)
            return of(family, work.pid, first[0]["seq"])

        check(guest.wait(again), "an unknown file is news again after a second")
        check(len(of(family, work.pid)) < 30, "an unknown file is not news at each sample")
        guest.add(family, path)
        guest.take(work.pid, 20)    # a sample may have been at work
        seq = last(family)
        guest.take(work.pid, 100)
        check(not of(family, work.pid, seq), "a file that has got a table is no news any more")


def messages(family, directory):
    path = shutil.copy(f"{guest.TESTS}/deep_work", directory)
    check(not family.do("info-get")["listeners"], "info-get tells that nobody listens for news")
    with family.listen() as listener:
        check(family.do("info-get")["listeners"] == 1, "info-get counts who listens for news")
        with guest.Work(path) as work:
            before = last(family)
            guest.take(work.pid, 20)
            check(select.select([listener], [], [], guest.PATIENCE)[0], "a listener gets a message when there is news")
            data = listener.recv(65536)
            length, kind, _, _, _, command = struct.unpack_from("=IHHIIB", data)
            number = family.operations["news-ntf"][0]
            told = family.decode("news-item", data[20:length])
            check(kind == family.number and command == number and list(told) == ["seq"] and told["seq"] > before,
                  "the message to listeners has the number of the last news, and nothing else")
            check(of(family, work.pid, told["seq"] - 1), "news-get has the news whose number a message has told")
            check(guest.wait(lambda: path in [each.get("name") for each in of(family, work.pid, before)]),
                  "news have the file's path while somebody listens")
    check(not family.do("info-get")["listeners"], "info-get tells that nobody listens for news any more")


def overflow(family):
    """Each file of a process that maps ever new ones is news."""
    guest.add(family, WORK)
    with guest.Work(WORK, "still", LIBRARY) as work:
        guest.add_mapped(family, work.pid)
    begin = last(family)
    with guest.Work(WORK, "many", LIBRARY) as work, guest.Samples(work.pid, 200_000, keep=False):
        guest.wait(lambda: last(family) > begin + RING + 200, 10 * guest.PATIENCE)
    news, end = family.dump("news-get"), last(family)
    seqs = [each["seq"] for each in news]
    guest.note(f"{end - begin} news, of which {len(news)} are kept")
    check(end > begin + RING and seqs == list(range(end - RING + 1, end + 1)),
          f"the last {RING} news are kept, in order")
    check([each["seq"] for each in family.dump("news-get", seq=end - 10)] == seqs[-10:],
          "news-get tells the last ten news to a client that knows those before")
    check([each["seq"] for each in family.dump("news-get", seq=begin)] == seqs,
          "a client that has missed news gets the kept ones, whose numbers show the gap")


def main():
    with guest.Module() as family:
        with tempfile.TemporaryDirectory() as directory:
            files(family, directory)
        with tempfile.TemporaryDirectory() as directory:
            messages(family, directory)
        overflow(family)
    guest.finish()


main()
