#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Are the stacks of a Go program complete, and was each frame called by the next?

	go_stacks.py PERF.DATA PROGRAM [SYMBOLS]

SYMBOLS is PROGRAM before it was stripped.  Prints {"samples", "complete", "pairs", "wrong"} as
JSON, and examples of what is incomplete or wrong to standard error.

A stack is complete if its outermost frame is in a function where Go says that a stack begins, or
where a thread of C begins.  A pair of frames is wrong if there is no call before the outer one's
return address, or if it calls another function than the inner frame's.
"""

import bisect
import collections
import json
import os
import re
import subprocess
import sys

import stacks

BEGIN = re.compile(r"runtime\.(goexit|mstart|rt0_go|mcall|morestack)(\.abi0)?$|_rt0_amd64")
# A new thread begins here, on a stack without a return address.
CLONE = re.compile(r"runtime\.clone(\.abi0)?$")
# The kernel or the runtime has put the return addresses of these on the stack.
NOT_CALLED = re.compile(r"runtime\.(sigreturn|asyncPreempt|sigpanic|goexit|systemstack_switch)")
INJECTED = re.compile(r"runtime\.(sigreturn|asyncPreempt|sigpanic)")
# Functions that run on two stacks; in older versions of Go rbp skips their callers.
SWITCH = re.compile(r"(runtime\.|)(systemstack|mcall|morestack\w*|asmcgocall|asmcgocall_landingpad|gogo|cgocallback|"
                    r"nanotime1|time\.now|walltime|vgetrandom1|clone|rawVforkSyscall|"
                    r"callCgo\w+|sigfwd|switchToCrashStack0)(\.abi0)?$")
# The kernel calls these for signals.
HANDLER = re.compile(r"runtime\.(cgoS|s)igtramp(\.abi0)?$")
# A jump leads to these, from a function of another name.
JUMPED_TO = re.compile(r"gcWriteBarrier|aeshashbody|runtime\.(call\d+|gcWriteBarrier|panic\w+|goPanic\w+|memmove|memclr\w+|"
                       r"mallocgc\w*|memequal\w*|memhash\w*|strhash\w*|badmcall\w*)|"
                       r"(internal/bytealg|cmp|index|mem|count)")


class Symbols:
    """Functions of the program by address."""

    def __init__(self, path):
        names = subprocess.run(["nm", path], check=True, capture_output=True, text=True).stdout
        self.known = sorted((int(words[0], 16), words[2]) for words in
                            (line.split(" ", 2) for line in names.splitlines())
                            if words[0] and words[1] in "tTwW")
        self.starts = [start for start, _ in self.known]

    def name(self, pc):
        at = bisect.bisect(self.starts, pc) - 1
        return self.known[at][1] if at >= 0 else "?"


# What signal handlers return to: mov $15,%rax; syscall
SIGRETURN = b"\x48\xc7\xc0\x0f\0\0\0\x0f\x05"


def call_before(code, offset):
    """None: no call ends at the offset; 0: an indirect one; else how far a direct one leads."""
    for size in range(2, 8):
        modrm, sib = code[offset - size + 1], code[offset - size + 2]
        mod, rm = modrm >> 6, modrm & 7
        length = 2 + (mod != 3 and rm == 4) + (0, 1, 4, 0)[mod]
        length += 4 if mod == 0 and (rm == 5 or rm == 4 and sib & 7 == 5) else 0
        if code[offset - size] == 0xff and modrm >> 3 & 7 == 2 and length == size:
            return 0
    if code[offset - 5] == 0xe8:
        return int.from_bytes(code[offset - 4:offset], "little", signed=True)
    return None


class Verdict:
    def __init__(self, program, symbols):
        program = os.path.realpath(program)
        self.program, self.symbols = os.path.basename(program), Symbols(symbols)
        self.judge, self.count = stacks.Judge(), collections.Counter()
        self.elf = self.judge.files.get(program)
        self.examples = collections.Counter()
        self.frames = {}        # by ip: the program has one address space
        self.threads = set()    # that had a sample elsewhere than where they begin

    def frame(self, sample, ip):
        """(name, ELF file, offset, pc) of an ip; only the program's names are known."""
        if ip not in self.frames:
            self.frames[ip] = self.find_frame(sample, ip)
        return self.frames[ip]

    def find_frame(self, sample, ip):
        place = sample.places.find(ip)
        if not place:
            return f"{ip:#x}", None, 0, 0
        elf = self.judge.files.get(place[0])
        pc = elf.pc(place[1]) if elf else None
        name = os.path.basename(place[0])
        if name == self.program and pc is not None:
            name = self.symbols.name(pc)
        else:
            name += f"+{place[1]:#x}"
        return name, elf, place[1], pc

    def is_trampoline(self, sample, ip):
        _, elf, offset, _ = self.frame(sample, ip)
        # The topmost ip can be at the second instruction too, and behind it in the system call.
        return elf is not None and any(
            elf.data.startswith(SIGRETURN, offset - before)
            for before in (0, SIGRETURN.index(b"\x0f\x05"), len(SIGRETURN)))

    def is_complete(self, sample, frames):
        name = self.frame(sample, frames[-1] - (len(frames) > 1))[0]
        place = sample.places.find(frames[-1])
        if sample.tid not in self.threads and len(frames) == 1 and \
                (CLONE.match(name) or place and self.judge.is_behind_clone(place)):
            return True
        self.threads.add(sample.tid)
        return bool(BEGIN.match(name) or place and self.judge.is_start(place))

    def is_called(self, sample, inner, outer):
        """Has the function of the inner frame been called before the outer one's ip?"""
        callee, file, _, _ = self.frame(sample, inner)
        caller, elf, offset, pc = self.frame(sample, outer)
        if elf is None or NOT_CALLED.match(caller) or NOT_CALLED.match(callee) or \
                self.is_trampoline(sample, inner) or self.is_trampoline(sample, outer):
            return elf is not None or caller.startswith("[")
        distance = call_before(elf.data, offset)
        if not distance or file is not elf or elf is not self.elf or SWITCH.match(callee) or \
                JUMPED_TO.match(callee):
            return distance is not None
        return self.leads_to(pc + distance, callee)

    def leads_to(self, target, callee):
        """Does a call of this pc lead to the function, if it jumps to no other than we know?"""
        called = self.symbols.name(target)
        return called.split(".abi")[0] == callee.split(".abi")[0] or bool(SWITCH.match(called))

    def is_handler_start(self, sample, ip):
        """Is this where a signal handler starts?

        x64_setup_rt_frame() sets the user's ip before sp: a sample taken between the two has the
        handler's ip and the stack of the interrupted function.
        """
        name, _, _, pc = self.frame(sample, ip)
        return bool(HANDLER.match(name)) and self.symbols.name(pc - 1) != name

    def places(self, sample, frames):
        """Addresses in the functions of the frames.  Those of callers are return addresses.

        Handlers return to the first instruction of a trampoline.  Behind one ips are exact, as they
        are where the runtime has put them on the stack.
        """
        exact, places = True, []
        for ip in frames:
            trampoline = self.is_trampoline(sample, ip)
            places.append(ip - (not exact and not trampoline))
            exact = trampoline or INJECTED.match(self.frame(sample, places[-1])[0])
        return places

    def take(self, sample, frames):
        self.count["samples"] += 1
        places = self.places(sample, frames)
        names = [self.frame(sample, place)[0] for place in places]
        if self.is_complete(sample, frames):
            self.count["complete"] += 1
        else:
            self.examples["incomplete: " + " ".join(names[-4:])] += 1
        for i in range(1, len(frames)):
            self.count["pairs"] += 1
            if not self.is_called(sample, places[i - 1], frames[i]):
                self.count["wrong"] += 1
                self.examples[f"wrong: {names[i - 1]} in {names[i]}"] += 1


def main():
    data, program = sys.argv[1:3]
    verdict = Verdict(program, sys.argv[3] if len(sys.argv) > 3 else program)
    for sample in stacks.PerfData(data).samples():
        frames = sample.user
        if sample.comm != verdict.program[:15] or not frames:
            continue
        if verdict.judge.is_in_execve(sample, frames):
            continue
        if sample.in_kernel and verdict.is_handler_start(sample, frames[0]):
            continue
        verdict.take(sample, frames)
    for text, number in verdict.examples.most_common(25):
        print(f"{number:6} {text}", file=sys.stderr)
    print(json.dumps({key: verdict.count[key]
                      for key in ("samples", "complete", "pairs", "wrong")}))


if __name__ == "__main__":
    main()
