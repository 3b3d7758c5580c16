# SPDX-License-Identifier: GPL-2.0
"""What tests of the loaded module in Python share; they run in a guest, as root.

	with guest.Module() as family:	the module is loaded meanwhile
	    guest.add(family, path)	it gets the table of a file
	guest.check(ok, name)		a result in KTAP
	guest.finish()			ends the test
"""
import ctypes
import mmap
import os
import signal
import struct
import subprocess
import sys
import tempfile
import time

import ynl

TREE = os.path.realpath(os.path.join(os.path.dirname(__file__), "..", ".."))
RELEASE = os.uname().release
KO = os.environ.get("BEE_KO", f"{TREE}/build/kmod/{RELEASE}/beeunwind.ko")
TEST_KO = os.environ.get("BEE_TEST_KO", f"{TREE}/build/test-modules/{RELEASE}")
KCSAN = "/sys/kernel/debug/kcsan"
BEECTL = os.environ.get("BEECTL", f"{TREE}/beectl")
TESTS = f"{TREE}/build/selftests/kmod"
DEBUG = os.environ.get("BEE_KERNEL") == "debug"
PATIENCE = 150 if DEBUG else 30         # seconds, ample even in an emulated machine
VERSION = 2                             # of the family

results = failures = skips = 0


def note(*text):
    for line in " ".join(map(str, text)).splitlines():
        print("#", line, flush=True)


def check(good, name):
    """A result.  Return: good"""
    global results, failures  # pylint: disable=global-statement
    results += 1
    failures += not good
    print("ok" if good else "not ok", results, name, flush=True)
    return good


def skip(name, why):
    global results, skips  # pylint: disable=global-statement
    results += 1
    skips += 1
    print(f"ok {results} {name} # SKIP {why}", flush=True)


def finish():
    print(f"1..{results}")
    sys.exit(1 if failures else 4 if results == skips else 0)


def clock():
    """Seconds that this guest ran or slept, without those in which it waited for a CPU of the host."""
    while True:
        try:
            with open("/run/bee/clock", encoding="ascii") as file:
                text = file.read()
        except FileNotFoundError:       # no guest of selftests/vm/run
            return time.monotonic()
        if text.endswith("\n"):
            return float(text)


def wait(condition, patience=PATIENCE, progress=lambda: None):
    """Wait until condition() is true; patience ends while progress() stays the same.
    Return: the value of condition(), or the last one that was not true."""
    end, done = clock() + patience, progress()
    while not (value := condition()) and clock() <= end:
        if progress() != done:
            end, done = clock() + patience, progress()
        time.sleep(0.02)
    return value


def put(path, text):
    """Write a setting of the kernel.  Return: 0 or the error"""
    try:
        with open(path, "w", encoding="ascii") as file:
            file.write(text)
    except OSError as error:
        return error.errno
    return 0


def get(path):
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()


def run(*command, **more):
    """Run a command.  Return: whether it has succeeded; if not its words are in the log"""
    done = subprocess.run(command, check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, **more)
    if done.returncode:
        note(command, done.returncode, done.stdout)
    return not done.returncode


def rmmod(name="beeunwind"):
    """Whoever was killed just now may have a netlink socket still."""
    return wait(lambda: not subprocess.run(["rmmod", name], check=False).returncode)


def report_races():
    """Have a kernel with KCSAN report races between the module's functions; it would find its drivers' own, too."""
    functions = [line.split()[2] for line in get("/proc/kallsyms").splitlines()
                 if line.endswith("\t[beeunwind]") and line.split()[1] in "tT"]
    failed = [each for each in ("whitelist", *("!" + each for each in functions), "on") if put(KCSAN, each)]
    note(f"KCSAN reports races between {len(functions)} functions; it refused:", *failed)


class Module:
    """The module is loaded; with what family.do() and so on take."""

    def __init__(self, *parameters, ko=KO):
        self.command = ["insmod", ko, *parameters]

    def __enter__(self):
        subprocess.run(self.command, check=True)
        if os.path.exists(KCSAN):
            report_races()
        return ynl.Family()

    def __exit__(self, *_):
        if not rmmod():
            check(False, "the module can be removed at the end of the test")


compiled = {}


def table(path, *options):
    """A memfd with the table of an ELF file, open for reading."""
    key = (os.path.realpath(path), os.stat(path).st_mtime_ns, options)
    if key not in compiled:
        with tempfile.TemporaryDirectory() as work:
            subprocess.run([BEECTL, "compile", "-q", *options, path, "-o", work + "/table"], check=True)
            with open(work + "/table", "rb") as file:
                compiled[key] = file.read()
    return memfd(compiled[key])


def memfd(content):
    fd = os.memfd_create("table")
    file = os.fdopen(fd, "r+b")
    file.write(content)
    file.flush()
    file.seek(0)
    return file


def add(family, path, content=None, **more):
    """Give the module the table of a file, or that of another file.  Return: the id"""
    with open(path, "rb") as exe, table(content or path) as tab:
        return family.do("table-add", exe_fd=exe, table_fd=tab, **more)["id"]


def known(family, path):
    """What the module knows of a file, or None."""
    with open(path, "rb") as exe:
        try:
            return family.do("file-get", exe_fd=exe)
        except ynl.Error as error:
            if error.errno != 2:
                raise
    return None


def refused(errno, words, request, *arguments, **values):
    """Whether a request is refused with this error, in these words."""
    try:
        answer = request(*arguments, **values)
    except ynl.Error as error:
        if error.errno == errno and words in error.text:
            return True
        note(f"refused otherwise: {error}")
        return False
    note(f"not refused: {answer}")
    return False


def maps(pid):
    """(start, end, permissions, offset, path) of each mapping of a process."""
    for line in get(f"/proc/{pid}/maps").splitlines():
        where, permissions, offset, _, _, *path = line.split(maxsplit=5)
        start, end = where.split("-")
        yield int(start, 16), int(end, 16), permissions, int(offset, 16), (path or [""])[0].rstrip()


def place(pid, ip):
    """An address for people: where in which file, or in memory."""
    return next((f"{path or 'memory'}+{ip - start + offset:#x}" for start, end, _, offset, path in maps(pid)
                 if start <= ip < end), f"{ip:#x}")


def add_mapped(family, pid):
    """Give the module tables of all files whose code a process has mapped, and the vDSO's none."""
    for path in {path for _, _, permissions, _, path in maps(pid) if "x" in permissions}:
        if path.startswith("/"):
            add(family, path)
    family.do("table-add", vdso=True)


class NotStarted(Exception):
    """A process has printed nothing."""


class Work:
    """A process that works, ended with the block; .line: the first line that it has printed, if it prints one."""

    def __init__(self, *command, first_line=True, **more):
        self.command, self.first_line, self.more, self.line = command, first_line, more, ""

    def __enter__(self):
        self.process = subprocess.Popen(self.command, stdout=subprocess.PIPE, text=True, **self.more)
        self.pid = self.process.pid
        if self.first_line:
            self.line = self.process.stdout.readline()
            if not self.line:
                raise NotStarted(self.command)
        else:
            # Popen() returns before the end of exec(), which makes the process another one for the module.  Until
            # then its command line is empty, or that of this script (Linux 6.1, after vfork()).
            before = "", get("/proc/self/cmdline")
            wait(lambda: get(f"/proc/{self.pid}/cmdline") not in before or self.process.poll() is not None)
        return self

    def kill(self, number=signal.SIGKILL):
        self.process.send_signal(number)

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()


PYTHON = "/usr/bin/python3", "-u", "-c", """
def f(n):
    return f(n - 1) + 1 if n else sum(i * i for i in range(300))
print("ready")
while True: f(10)"""
PERL = "/usr/bin/perl", "-e", """$| = 1; print "ready\\n";
sub f { my $n = shift; return f($n - 1) + 1 if $n; my $s = 0; $s += $_ for 1 .. 300; $s } f(10) while 1;"""


def entry(pid):
    """The address of a program's first instruction (AT_ENTRY)."""
    with open(f"/proc/{pid}/auxv", "rb") as file:
        aux = file.read()
    return dict(struct.iter_unpack("QQ", aux))[9]


libc = ctypes.CDLL(None, use_errno=True)
PERF_EVENT_OPEN, CONTEXT_MAX = 298, 0xfffffffffffff001
RING = 1 << 20


class Samples:
    """User callchains of a process, or of all; each is (pid, [ip, ...])."""

    def __init__(self, pid=-1, period=1_000_000, deferred=False, max_stack=0, keep=True):
        flags = 1 << 21 | (3 << 38 | 1 << 18 if deferred else 0)
        attr = bytearray(128)
        # IP, TID, CALLCHAIN of PERF_COUNT_SW_CPU_CLOCK.
        struct.pack_into("=IIQQQQQ", attr, 0, 1, 128, 0, period, 1 | 2 | 32, 0, flags)
        struct.pack_into("=H", attr, 108, max_stack)
        self.rings = []
        self.kind = 22 if deferred else 9       # PERF_RECORD_CALLCHAIN_DEFERRED, PERF_RECORD_SAMPLE
        for cpu in range(os.cpu_count()) if pid == -1 else (-1,):
            fd = libc.syscall(PERF_EVENT_OPEN, (ctypes.c_char * 128).from_buffer(attr), pid, cpu, -1, 8)
            if fd < 0:
                error = ctypes.get_errno()
                raise OSError(error, f"perf_event_open: {os.strerror(error)}")
            self.rings.append((fd, mmap.mmap(fd, 4096 + RING) if keep else None))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for fd, ring in self.rings:
            if ring:
                ring.close()
            os.close(fd)

    @staticmethod
    def words(ring, at, size):
        at %= RING
        data = ring[4096 + at:4096 + min(at + size, RING)]
        return data + ring[4096:4096 + size - len(data)]

    def take(self):
        """All since the last call."""
        for _, ring in self.rings:
            head, at = struct.unpack_from("QQ", ring, 1024)
            while at < head:
                kind, _, size = struct.unpack("=IHH", self.words(ring, at, 8))
                if kind == self.kind:
                    yield from self.sample(kind, self.words(ring, at, size))
                at += size
            struct.pack_into("Q", ring, 1032, at)

    @staticmethod
    def sample(kind, data):
        if kind == 9:
            pid, nr = struct.unpack_from("=I4xQ", data, 16)
            ips = struct.unpack_from(f"={nr}Q", data, 32)
        else:       # a deferred callchain: a cookie, their number, the addresses; pid and tid at the end
            nr, = struct.unpack_from("=Q", data, 16)
            ips = struct.unpack_from(f"={nr}Q", data, 24)
            pid, = struct.unpack_from("=I", data, len(data) - 8)
        ips = [ip for ip in ips if ip < CONTEXT_MAX]
        if ips:
            yield pid, ips


def take(pid, least=200, wanted=lambda ips: True, **more):
    """At least so many callchains of a process that are wanted, or what there is when patience ends."""
    got = []
    with Samples(pid, **more) as samples:
        wait(lambda: got.extend(ips for _, ips in samples.take() if wanted(ips)) or len(got) >= least,
             progress=lambda: len(got))
    return got


def complete(pid, chains):
    """The share of callchains whose outermost frame is in _start, whose length is at most 0x30."""
    start = entry(pid)
    return sum(0 <= ips[-1] - start < 0x30 for ips in chains) / max(len(chains), 1)


def has_deferred():
    try:
        with Samples(os.getpid(), deferred=True):
            return True
    except OSError:
        return False


def clear(family):
    """Remove all tables."""
    for each in family.dump("file-get"):
        try:
            family.do("table-del", id=each["id"])
        except ynl.Error as error:      # its inode has ended
            if error.errno != 2:
                raise


def is_empty(family):
    """Whether nothing is kept any more, sooner or later."""
    return wait(lambda: not any(totals(family).values()))


def totals(family):
    """What the module keeps."""
    info = family.do("info-get")
    return {key: info[key] for key in ("files", "tables", "table_bytes", "code_procs", "code_bytes")}
