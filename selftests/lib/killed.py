#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Kill beectl flame at random moments; its output must be whole whenever it is looked at.

    killed.py write BEECTL DIR      while it writes DIR/out.svg, made from DIR/stacks
    killed.py record BEECTL DIR     while it records a process and writes checkpoints

Prints the seed on failure; DIR may have nothing else afterwards but what a run leaves.
"""
import os
import random
import signal
import subprocess
import sys
import time
import xml.etree.ElementTree

WRITE_KILLS = 20    # before the file is there, and as many after
RECORD_KILLS = 3
BUSY = "import time\nwhile True:\n    sum(range(20000))\n    time.sleep(.002)\n"


def group_is_running(group):
    """Is there a process of the group that is no zombie?"""
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
                state, _, pgrp = file.read().rsplit(")", 1)[1].split()[:3]
        except (FileNotFoundError, ProcessLookupError):
            continue
        if int(pgrp) == group and state != "Z":
            return True
    return False


def kill(beectl):
    """SIGKILL, then wait for those it has started: they end as their pipes do."""
    beectl.kill()
    beectl.wait()
    while group_is_running(beectl.pid):
        time.sleep(.01)


def check(folder, known):
    left = set(os.listdir(folder)) - known
    assert left <= {"out.svg"}, f"left behind: {left}"
    if left:
        xml.etree.ElementTree.parse(folder + "/out.svg")
    return bool(left)


def run(words, folder):
    return subprocess.Popen([*words, "-o", folder + "/out.svg"], start_new_session=True,
                            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def write(beectl, folder):
    words = [beectl, "flame", folder + "/stacks"]
    known = {"stacks"}
    with open(folder + "/stacks", "w", encoding="utf-8") as file:
        file.writelines(f"p;a{i};b{i * 7919 % 1000};c 1\n" for i in range(5000))
    start = time.monotonic()
    assert run(words, folder).wait() == 0
    took = time.monotonic() - start
    os.unlink(folder + "/out.svg")
    before = after = 0
    while before < WRITE_KILLS or after < WRITE_KILLS:
        process = run(words, folder)
        time.sleep(random.uniform(took / 2, took))
        kill(process)
        if check(folder, known):
            after += 1
            took /= 1.1
            os.unlink(folder + "/out.svg")
        else:
            before += 1
            took *= 1.1


def record(beectl, folder):
    with subprocess.Popen([sys.executable, "-c", BUSY]) as busy:
        try:
            for _ in range(RECORD_KILLS):
                process = run([beectl, "flame", "--checkpoint", "1", "-m", "1", "-F", "4999",
                               "-e", "cpu-clock", "-p", str(busy.pid)],
                              folder)
                while not os.path.exists(folder + "/out.svg"):
                    assert process.poll() is None, f"beectl flame ended: {process.returncode}"
                    time.sleep(.01)
                time.sleep(random.uniform(0, 1.2))
                kill(process)
                assert check(folder, set())
                os.unlink(folder + "/out.svg")
        finally:
            busy.send_signal(signal.SIGKILL)


def main():
    what, beectl, folder = sys.argv[1:]
    seed = int.from_bytes(os.urandom(4), "little")
    random.seed(seed)
    print(f"seed {seed}")
    {"write": write, "record": record}[what](beectl, folder)


main()
