#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Stacks of Java virtual machines that run already and keep no frame pointers: complete, and with the frames that
the virtual machine itself tells of.

BEE_JAVA: the command of another JDK, for example one in a tree of its own: "chroot /srv/trixie java".
"""
# once: 1
# timeout: 1200
import collections
import os
import shutil
import signal
import struct
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../lib"))
import guest  # pylint: disable=wrong-import-position
from guest import check, note  # pylint: disable=wrong-import-position

JAVA = os.environ.get("BEE_JAVA", "java").split()
ROOT = JAVA[1] if JAVA[0] == "chroot" else ""
LONG = "BEE_LONG" in os.environ
SAMPLES = 2000 if LONG else 300
ANSWERS = 1500 if LONG else 200
SHARE = 0.995 if LONG else 0.98         # by chance more of so few may be incomplete, or differ
# spin(), 61 times down(), work(), main(), and the stub through which C calls Java: where the loop is, it has so many
FRAMES = 65
NO_INLINE = "-XX:-Inline"
# A name, the work, options of the virtual machine
RUNS = [
    ("compiled by C1 and C2", "depth", [NO_INLINE]),
    ("interpreted", "depth", ["-Xint"]),
    ("compiled by C1", "depth", ["-XX:TieredStopAtLevel=1", NO_INLINE]),
    ("compiled by C2", "depth", ["-XX:-TieredCompilation", NO_INLINE]),
    ("with ZGC", "depth", ["-XX:+UseZGC", NO_INLINE]),
    ("streams, inlined", "streams", []),
    ("exceptions", "exceptions", []),
    ("six threads with locks", "locks", []),
]
if LONG:        # it takes minutes
    RUNS += [("with G1", "depth", ["-XX:+UseG1GC", NO_INLINE]), ("javac", "javac", [])]
if ROOT:
    RUNS += [("virtual threads", "virtual", [NO_INLINE]),
             ("virtual threads that have waited", "waiting", [NO_INLINE])]
SAMPLE, CODE, ALL_TOLD = 1, 2, 3        # java_agent.c


class Memory:
    """What is mapped in a Java virtual machine, and what it has told the agent."""

    def __init__(self, family, pid):
        self.pid, self.memory = pid, []
        self.read_maps()
        self.libc = [each[:2] for each in guest.maps(pid) if os.path.basename(each[4]).startswith("libc")]
        heaps = next((each["heaps"] for each in family.dump("code-get", pid=pid) if "heaps" in each), bytes(256))
        *self.interpreter, _, _, self.entry = struct.unpack_from("=5Q", heaps, 8 * 24)
        # What is compiled, by page, and how often that was told.
        self.pages, self.codes = collections.defaultdict(list), 0

    def read_maps(self):
        self.memory = [each[:2] for each in guest.maps(self.pid) if "x" in each[2] and not each[4]]

    @staticmethod
    def have(spans, ip):
        return any(start <= ip < end for start, end in spans)

    def is_java(self, ip):
        return self.have(self.memory, ip)

    def is_complete(self, chain):
        return self.have(self.libc, chain[-1])

    def frames(self, chain):
        """How many frames are in code heaps; -1: frames of files are between them."""
        inside = [self.is_java(ip) for ip in chain]
        first = inside.index(True)
        count = sum(inside)
        return count if all(inside[first:first + count]) else -1

    def frame_name(self, ip):
        """For people: the method of compiled code, "interpreted" or "stub"."""
        name = "/".join(f"{code[2]:x}" for code in self.codes_at(ip))
        return f"{ip:x}={name or ('interpreted' if self.have([self.interpreter], ip) else 'stub')}"

    def codes_at(self, ip):
        return [code for code in self.pages[ip >> 12] if code[0] <= ip < code[0] + code[1]]

    def methods_fit(self, ips, methods):
        """Whether the frames at @ips are those of @methods, both from the outermost on.  A frame of compiled code is
        that of the methods that are inlined there: which, code tells for return addresses.  For the innermost frame
        the virtual machine takes the next place behind it (is_decipherable_compiled_frame(), share/prims/forte.cpp),
        so only the method that others are inlined in is compared."""
        places = {0}
        innermost = next((ip for ip in reversed(ips) if self.codes_at(ip) or self.have([self.interpreter], ip)), None)
        for ip in ips:
            found = set()
            if self.have([self.interpreter], ip):
                found = {place + 1 for place in places}
            codes = self.codes_at(ip)
            for _, _, method, inlined in codes:
                exact = inlined.get(ip) if ip != innermost else None
                for place in places:
                    found.update(place + len(each) for each in exact or []
                                 if methods[place:place + len(each)] == each)
                    if not exact and methods[place:place + 1] == [method]:
                        found.update(range(place + 1, len(methods) + 1))
            # Others are stubs.
            places = found if found or codes else places
        return len(methods) in places

    def is_entry(self, ip, returned):
        """Whether the interpreter begins a method: it is no place behind one of the return addresses @returned."""
        return self.have([self.interpreter], ip) and not any(0 <= ip - each < 32 for each in returned)

    def part_fits(self, ips, methods, stopped, returned):
        """Whether the answer has not all frames, as happens to the virtual machine.  It ends where a caller has made an
        exception.  And it follows rbp, which compiled code uses otherwise: from code in C, from stubs that have no
        frame, and where the interpreter begins a method."""
        stub = not self.codes_at(stopped) and not self.have([self.interpreter], stopped)
        lost = stub or self.is_entry(stopped, returned)
        return any(self.methods_fit(ips[n:], methods) or (lost and self.methods_fit(ips[:n], methods))
                   for n in range(1, len(ips)))


class Records:
    """The file that java_agent.c writes."""

    def __init__(self, path, memory):
        self.file, self.memory, self.samples, self.rest = open(path, "rb"), memory, [], b""
        self.all_told = False

    def read(self):
        data, at = self.rest + self.file.read(), 0
        while at + 16 <= len(data):
            kind, count = struct.unpack_from("=QQ", data, at)
            if at + 16 + 8 * count > len(data):
                break
            words = list(struct.unpack_from(f"={count}Q", data, at + 16))
            at += 16 + 8 * count
            if kind == SAMPLE:
                self.samples.append(words)
            elif kind == CODE:
                self.add_code(words)
            else:
                self.all_told = True
        self.rest = data[at:]
        return self.samples

    def add_code(self, words):
        inlined, at = {}, 3
        while at < len(words):
            ip, count = words[at:at + 2]
            inlined.setdefault(ip, []).append(words[at + 2:at + 2 + count][::-1])
            at += 2 + count
        for page in range(words[0] >> 12, (words[0] + words[1] >> 12) + 1):
            self.memory.pages[page].append((*words[:3], inlined))
        self.memory.codes += 1


def is_answer(words):
    return 0 < words[1] < 1 << 32


def compare(name, pid, memory, path):
    """Compare stacks with the virtual machine's own answers, after a signal that makes it give them."""
    records = Records(path, memory)
    os.kill(pid, signal.SIGURG)
    guest.wait(lambda: sum(map(is_answer, records.read())) >= ANSWERS, progress=lambda: len(records.samples))
    os.kill(pid, signal.SIGURG)
    guest.wait(lambda: records.read() and records.all_told, progress=lambda: memory.codes)
    memory.read_maps()          # code heaps have grown
    answers, bad, short = [words for words in records.samples if is_answer(words)], 0, 0
    stacks, returned = [], set()
    for stopped, count, *words in answers:
        chain = [ip for ip in words[count:] if ip < guest.CONTEXT_MAX]
        # The handler's frames are above that.
        behind = chain[chain.index(stopped):] if stopped in chain[:8] else []
        stacks.append([ip for ip in behind if memory.is_java(ip)][::-1])
        returned.update(ip for ip in behind[1:] if memory.have([memory.interpreter], ip))
    for (stopped, count, *words), ips in zip(answers, stacks):
        methods = words[:count][::-1]
        if ips and memory.methods_fit(ips, methods):
            continue
        if memory.part_fits(ips, methods, stopped, returned):
            short += 1
        else:
            bad += 1
            note(f"{name}: at {stopped:#x}: methods", *(f"{each:x}" for each in methods), "and frames",
                 *(memory.frame_name(ip) for ip in ips))
    note(f"{name}: {len(answers)} answers, {bad} differ, {short} lack frames; none:",
         collections.Counter(words[1] - (1 << 64) for words in records.samples if not is_answer(words)))
    check(len(answers) >= ANSWERS and bad <= (1 - SHARE) * len(answers),
          f"frames are those of the virtual machine: {name}")


def code_at(pid, ip):
    """For people who disassemble: the bytes before an address, and those there."""
    try:
        with open(f"/proc/{pid}/mem", "rb") as memory:
            memory.seek(ip - 24)
            code = memory.read(56).hex()
    except OSError as error:
        return error
    return f"{code[:48]} -> {code[48:]}"


def said(*words):
    text = subprocess.run([guest.BEECTL, *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          check=False).stdout
    note(text)
    return text


def stacks_of(family, name, mode, options):
    path = f"/tmp/agent.{name.replace(' ', '-')}"
    agent = f"-agentpath:{'/tmp' if ROOT else guest.TESTS}/libjava_agent.so={path}"
    with guest.Work(*JAVA, agent, *options, "-cp", "/tmp" if ROOT else guest.TESTS, "JavaWork", mode,
                    "/tmp/JavaWork.java") as work:
        load = said("load", work.pid)
        memory = Memory(family, work.pid)
        with guest.Samples() as samples:
            chains = []
            guest.wait(lambda: chains.extend(ips for pid, ips in samples.take()
                                             if pid == work.pid and any(map(memory.is_java, ips)))
                       or len(chains) >= SAMPLES, progress=lambda: len(chains))
        complete = sum(map(memory.is_complete, chains))
        note(f"{name}: {complete} of {len(chains)} complete")
        for chain in [chain for chain in chains if not memory.is_complete(chain)][:5]:
            note(f"{name}: ends early:", guest.place(work.pid, chain[0]), len(chain), guest.place(work.pid, chain[-1]),
                 code_at(work.pid, chain[-1]))
        check("code heaps of its Java virtual machine" in load, f"load finds the code heaps: {name}")
        if mode == "waiting" and not memory.entry:
            guest.skip(f"stacks through Java are complete: {name}", "this JDK does not tell who has entered the thread")
        else:
            check(len(chains) >= SAMPLES and complete >= SHARE * len(chains),
                  f"stacks through Java are complete: {name}")
        if mode == "depth":
            has_each_call(name, memory, chains)
        if mode != "waiting":       # the virtual machine tells of frames that no stack has
            compare(name, work.pid, memory, ROOT + path)


def has_each_call(name, memory, chains):
    """Where the loop is, each stack has all calls.  Other samples are taken on the way down and up, or while main()
    is compiled."""
    first = [next(filter(memory.is_java, chain)) for chain in chains]
    frames = list(map(memory.frames, chains))
    loop = {ip for ip, count in zip(first, frames) if count == FRAMES}
    fewer = [ip for ip, count in zip(first, frames) if count != FRAMES]
    note(f"{name}: frames of Java:", sorted(collections.Counter(frames).items()))
    check(max(frames) == FRAMES and len(fewer) <= 0.2 * len(frames) and
          (name == "interpreted" or not loop & set(fewer)), f"each call of Java is a frame: {name}")


def named(pid):
    done = subprocess.run([guest.BEECTL, "flame", "--java-names", "-e", "cpu-clock", "-F", "999", "-p", str(pid),
                           "-o", "/tmp/java.folded", "--", "sleep", "3"],
                          stderr=subprocess.PIPE, text=True, check=False)
    calls = collections.Counter()
    for line in guest.get("/tmp/java.folded").splitlines():
        stack, _, count = line.rpartition(" ")
        if stack.endswith(";int JavaWork.spin(int)_[j]"):
            calls[stack.count(";int JavaWork.down(int)_[j]")] += int(count)
    note(done.stderr, "calls of down() in stacks of the loop, and what they count:", calls)
    check(not done.returncode and calls[61] > 0.9 * sum(calls.values()) and "without a file" not in done.stderr,
          "flame --java-names names the methods of a Java virtual machine in a container")
    names = os.path.join("/proc", str(pid), "root", "tmp/perf-1.map")
    os.unlink(names)
    check(guest.run(guest.BEECTL, "record", "--java-names", "-e", "cpu-clock", "-p", str(pid),
                    "-o", "/tmp/java.data", "--", "sleep", "1") and os.path.exists(names),
          "record --java-names has a Java virtual machine in a container write its names")


def names_in_container():
    """The names of a virtual machine that runs as another user, with pids and a /tmp of its own."""
    inside = ("exec 3<\"$0\" && mount -t tmpfs tmpfs /tmp && cat <&3 >/tmp/JavaWork.class && exec "
              f"setpriv --reuid 65534 --regid 65534 --clear-groups java {NO_INLINE} -cp /tmp JavaWork depth")
    with guest.Work("unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc", "sh", "-c", inside,
                    f"{guest.TESTS}/JavaWork.class") as work:
        pid, = map(int, guest.get(f"/proc/{work.pid}/task/{work.pid}/children").split())
        try:
            named(pid)
        finally:        # to become another user ends what --kill-child does
            os.kill(pid, signal.SIGKILL)


OTHER_JAVA = """
import mmap, time
with open("/tmp/other/libjvm.so", "rb") as file:
    text = mmap.mmap(file.fileno(), 0, flags=mmap.MAP_PRIVATE, prot=mmap.PROT_READ | mmap.PROT_EXEC)
code = mmap.mmap(-1, 4096, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS,
                 prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
print("ready", flush=True)
time.sleep(1000000)"""


def told_in_words(family):
    def java(pid):
        return [line for line in said("status", pid).splitlines() if line.startswith("  Java: ")]

    with guest.Work(*JAVA, "-cp", guest.TESTS, "JavaWork", "depth") as work:
        check(java(work.pid) == [f'  Java: its code heaps are not known: "beectl load {work.pid}" makes them known'],
              "status says what makes the code heaps of a Java virtual machine known")
        before = guest.totals(family)
        said("load", work.pid)
        after = guest.totals(family)
        check(java(work.pid) == ["  Java: its code heaps are known"] and
              after["code_procs"] == before["code_procs"] + 1,
              "status says that the code heaps of a Java virtual machine are known")
        size = after["code_bytes"] - before["code_bytes"]
        note(f"memory of the module for a Java virtual machine: {size} bytes")
        check(0 < size <= 512, "what the module keeps of a Java virtual machine takes at most 512 bytes")
    os.makedirs("/tmp/other")
    shutil.copy(guest.BEECTL, "/tmp/other/libjvm.so")
    with guest.Work("/usr/bin/python3", "-c", OTHER_JAVA) as work:
        why = "its Java virtual machine is not HotSpot: it has no gHotSpotVMStructs"
        check(java(work.pid) == [f"  Java: its code heaps are not known: {why}"] and
              why in said("load", work.pid),
              "status and load say that a Java virtual machine is not HotSpot")


def main():
    if not shutil.which(JAVA[0]) or not os.path.exists(f"{guest.TESTS}/libjava_agent.so"):
        guest.skip("Java", "java or javac is not installed")
        guest.finish()
    source = os.path.join(os.path.dirname(os.path.realpath(__file__)), "walk/JavaWork.java")
    shutil.copy(source, ROOT + "/tmp")
    if ROOT:
        for name in ("JavaWork.class", "libjava_agent.so"):
            shutil.copy(f"{guest.TESTS}/{name}", ROOT + "/tmp")
        subprocess.run(["mount", "-t", "proc", "proc", ROOT + "/proc"], check=True)
    limit = "/proc/sys/kernel/perf_event_max_stack"
    before = guest.get(limit)
    guest.put(limit, "1024")
    with guest.Module() as family:
        for name, mode, options in RUNS:
            try:
                stacks_of(family, name, mode, options)
            except guest.NotStarted:
                if not ROOT:
                    raise
                guest.skip(name, "this JDK cannot do it")
        if not ROOT:
            told_in_words(family)
            names_in_container()
    guest.put(limit, before)
    if ROOT:
        subprocess.run(["umount", ROOT + "/proc"], check=True)
    guest.finish()


main()
