#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""The module can be loaded and unloaded, and works, while something else is attached to perf_callchain_user(): a
kprobe, the function tracer, an fentry program, a live patch; deferred stacks; and reloads while stacks are taken.

	HOOK_ROUNDS=COUNT	rounds of each (default 1)
	MODULE_LOADS=COUNT	reloads (default 20)
"""
# cpus: 1
# timeout: 900
import ctypes
import os
import signal
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../lib"))
import guest  # pylint: disable=wrong-import-position
from guest import check, get, note, put, run, wait  # pylint: disable=wrong-import-position

TARGET, TRACING = "perf_callchain_user", "/sys/kernel/tracing/"
PATCH = "/sys/kernel/livepatch/bee_livepatch"
MARK = 0x5eed0000beef       # the single entry that bee_livepatch.c stores instead of a callchain
DEEP = f"{guest.TESTS}/deep_work"
SAMPLES = 100
ROUNDS = int(os.environ.get("HOOK_ROUNDS") or 1)
RELOADS = int(os.environ.get("MODULE_LOADS") or 20)
HOOKS = ["__destroy_inode", "arch_stack_walk_user", TARGET] + (["unwind_user"] if guest.has_deferred() else [])


def hooked():
    return sorted(line.split()[0] for line in get(TRACING + "enabled_functions").splitlines())


class Kprobe:
    name, missing = "a kprobe", None

    def on(self):
        return not (put(TRACING + "kprobe_events", f"p:bee/callchain {TARGET}\n") or
                    put(TRACING + "events/bee/callchain/enable", "1"))

    def off(self):
        return not (put(TRACING + "events/bee/callchain/enable", "0") or put(TRACING + "kprobe_events", "\n"))

    def fired(self):
        return f"callchain: ({TARGET}" in get(TRACING + "trace")


class Tracer:
    name, missing, target = "the function tracer", None, TARGET

    def on(self):
        return not (put(TRACING + "set_ftrace_filter", self.target + "\n") or
                    put(TRACING + "current_tracer", "function"))

    def off(self):
        return not (put(TRACING + "current_tracer", "nop") or put(TRACING + "set_ftrace_filter", "\n"))

    def fired(self):
        return self.target + " <-" in get(TRACING + "trace")


class Fentry:
    """The program "return 0"; the kernel counts its runs."""
    name = "an fentry program"
    missing = None if os.path.exists("/sys/kernel/btf/vmlinux") else "this kernel has no BTF"

    def __init__(self):
        self.program = self.link = -1

    @staticmethod
    def number():
        """Of the function in the kernel's BTF; <linux/btf.h> tells what follows each type."""
        with open("/sys/kernel/btf/vmlinux", "rb") as file:
            btf = file.read()
        header, types, length, strings, _ = struct.unpack_from("=5I", btf, 4)
        fixed = {1: 4, 3: 12, 14: 4, 17: 4}
        each = {4: 12, 5: 12, 6: 8, 19: 12, 13: 8, 15: 12}
        name = btf.index(b"\0" + TARGET.encode() + b"\0", header + strings) + 1 - header - strings
        at, end, number = header + types, header + types + length, 1
        while at < end:
            this, info = struct.unpack_from("=II", btf, at)
            kind = info >> 24 & 31
            if kind == 12 and this == name:
                return number
            at += 12 + fixed.get(kind, 0) + each.get(kind, 0) * (info & 0xffff)
            number += 1
        return 0

    @staticmethod
    def bpf(command, attr):
        attr = attr.ljust(152, b"\0")
        return guest.libc.syscall(321, command, attr, len(attr))

    def on(self):
        put("/proc/sys/kernel/bpf_stats_enabled", "1")
        code = ctypes.create_string_buffer(bytes([0xb7, 0, 0, 0, 0, 0, 0, 0, 0x95, 0, 0, 0, 0, 0, 0, 0]))
        words = ctypes.create_string_buffer(b"GPL")
        # BPF_PROG_TYPE_TRACING, at BPF_TRACE_FENTRY
        self.program = self.bpf(5, struct.pack("=IIQQ", 26, 2, ctypes.addressof(code), ctypes.addressof(words)) +
                                bytes(68 - 24) + struct.pack("=I", 24) + bytes(108 - 72) + struct.pack("=I", self.number()))
        self.link = self.bpf(17, struct.pack("=QI", 0, self.program))
        return self.program >= 0 and self.link >= 0

    def off(self):
        os.close(self.link)
        os.close(self.program)
        return not put("/proc/sys/kernel/bpf_stats_enabled", "0")

    def fired(self):
        return any(line.startswith("run_cnt:") and int(line.split()[1])
                   for line in get(f"/proc/self/fdinfo/{self.program}").splitlines())


class Livepatch:
    name, ko = "a live patch", guest.TEST_KO + "/bee_livepatch.ko"
    missing = "this kernel has no live patches" if not os.path.exists(ko) else \
        "with PREEMPT_RT and lockdep klp_check_stack() warns that preemption is on" \
        if "PREEMPT_RT" in os.uname().version and os.path.exists("/proc/lockdep") else None
    fired = None

    def on(self):
        return run("insmod", self.ko) and wait(lambda: get(PATCH + "/transition") == "0\n")

    def off(self):
        return not put(PATCH + "/enabled", "0") and wait(lambda: not os.path.exists(PATCH)) and \
            guest.rmmod("bee_livepatch")


class Program:
    """deep_work, which runs only while its stacks are taken."""

    def __init__(self, work):
        self.work = work
        work.kill(signal.SIGSTOP)

    def take(self, **more):
        self.work.kill(signal.SIGCONT)
        chains = guest.take(self.work.pid, SAMPLES, **more)
        self.work.kill(signal.SIGSTOP)
        return chains

    def whole(self, when, **more):
        """All but one in a hundred; a page that is absent for a moment can make it more in one take."""
        chains = []
        for _ in range(2):
            chains += self.take(**more)
            share = guest.complete(self.work.pid, chains)
            if len(chains) >= SAMPLES and share >= 0.99 and [MARK] not in chains:
                return True
        note(f"{when}: of {len(chains)} stacks {share:.1%} complete, {chains.count([MARK])} of the live patch")
        return False

    def broken(self, when, patched=False, **more):
        chains = self.take(**more)
        share = guest.complete(self.work.pid, chains)
        if len(chains) >= SAMPLES and share < 0.5 and chains.count([MARK]) == (len(chains) if patched else 0):
            return True
        note(f"{when}: of {len(chains)} stacks {share:.1%} complete, {chains.count([MARK])} of the live patch")
        return False


def load():
    """With the program's table."""
    if not run("insmod", guest.KO):
        return False
    family = guest.ynl.Family()
    guest.add(family, DEEP)
    family.socket.close()
    return True


def beside(program, neighbour):
    def works():
        return not neighbour.fired or neighbour.fired() or note(neighbour.name, "has seen nothing")

    patched = not neighbour.fired
    # It attaches before the module is loaded, and stays when the module goes.
    first = neighbour.on() and load() and program.whole("it came first") and works() and guest.rmmod() and \
        program.broken("the module is gone", patched) and works() and load() and \
        program.whole("the module is back") and neighbour.off() and program.whole("it is gone")
    # It attaches to the loaded module twice; the second time the module goes first.
    return first and neighbour.on() and program.whole("it came later") and works() and neighbour.off() and \
        program.whole("it went again") and neighbour.on() and guest.rmmod() and \
        program.broken("the module went first", patched) and works() and neighbour.off() and \
        program.broken("both are gone")


def neighbours(program):
    for neighbour in (Kprobe(), Tracer(), Fentry(), Livepatch()):
        if neighbour.missing:
            guest.skip(f"stacks are complete beside {neighbour.name}", neighbour.missing)
            continue
        put(TRACING + "trace", "")
        if not check(all(beside(program, neighbour) for _ in range(ROUNDS)),
                     f"stacks are complete beside {neighbour.name}"):
            # What is left would make the next one fail.
            neighbour.off()
            if os.path.exists("/sys/module/beeunwind"):
                guest.rmmod()


def deferred(program):
    """Stacks that the kernel takes when the process returns to user space, beside the function tracer too."""
    if not guest.has_deferred():
        guest.skip("deferred stacks are complete with the module, beside the function tracer too",
                   "this kernel has none")
        return
    tracer = Tracer()
    tracer.target = "unwind_user"
    put(TRACING + "trace", "")
    good = program.broken("without the module", deferred=True) and load() and program.whole("with it", deferred=True)
    good = good and tracer.on() and program.whole("beside the function tracer", deferred=True) and tracer.fired()
    good = tracer.off() and good
    good = guest.rmmod() and good and program.broken("the module is gone", deferred=True)
    check(good, "deferred stacks are complete with the module, beside the function tracer too")


def ftrace_stays_on(program):
    """Since Linux 7.0 it can never be switched off."""
    path = "/proc/sys/kernel/ftrace_enabled"
    before = put(path, "0")
    put(path, "1")
    good = load()
    check(put(path, "0") == (before or 16) and get(path) == "1\n" and good and program.whole("ftrace stayed on"),
          "kernel.ftrace_enabled=0 is refused while the module is there")
    guest.rmmod()
    if before:
        guest.skip("kernel.ftrace_enabled=0 is accepted without the module",
                   "this kernel does not let it be switched off")
        return
    check(not put(path, "0"), "kernel.ftrace_enabled=0 is accepted without the module")
    check(not run("insmod", guest.KO) and not os.path.exists("/sys/module/beeunwind") and
          "ftrace is switched off" in os.popen("dmesg | grep beeunwind | tail -n 3").read(),
          "with ftrace switched off insmod is refused, and the log says why")
    put(path, "1")


def reloads(before):
    """While all stacks are taken."""
    good, walked = True, 0
    with guest.Work(DEEP), guest.Samples(period=500_000, keep=False):
        for number in range(RELOADS):
            with guest.Module() as family:
                if number % 10 == 0:
                    guest.add(family, DEEP)
                    walked += bool(wait(lambda f=family: f.do("info-get")["walks"]))
                    good &= set(HOOKS) <= set(hooked())
                family.socket.close()
    check(good and walked == (RELOADS + 9) // 10, f"the module is reloaded {RELOADS} times while all stacks are taken")
    check(wait(lambda: hooked() == before) is not None and hooked() == before,
          "no function is hooked after the reloads")


def main():
    before = hooked()
    with guest.Module():
        check(sorted(before + HOOKS) == hooked(), "the module hooks these functions: " + ", ".join(HOOKS))
    check(hooked() == before, "no function is hooked when the module is gone")
    with guest.Work(DEEP) as work:
        program = Program(work)
        neighbours(program)
        deferred(program)
        ftrace_stays_on(program)
    reloads(before)
    guest.finish()


main()
