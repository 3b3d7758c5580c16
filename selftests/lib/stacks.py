#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""How complete are the user stacks in a perf.data file?

Judged by addresses, never by names: a user stack is complete when its
outermost frame lies in the function at which a program, its interpreter
(ld.so) or a thread starts.

	stacks.py judge PERF.DATA [OPTION]...    figures as JSON
	stacks.py why PERF.DATA [OPTION]...      where incomplete stacks end
	stacks.py fold PERF.DATA                 folded stacks, one a line
	stacks.py places PERF.DATA               each frame's lookup offset and file

--dwarf: the stacks are what "perf script" makes of the copied stack memory.
--root: the processes ran in a chroot, so the kernel named their files as they are below it.
"""

import argparse
import collections
import json
import os
import re
import struct
import subprocess
import sys

RECORD_MMAP, RECORD_LOST, RECORD_COMM, RECORD_FORK, RECORD_SAMPLE = 1, 2, 3, 7, 9
RECORD_MMAP2 = 10
MISC_COMM_EXEC = 1 << 13

# enum perf_event_sample_format, in the order in which a record has the fields.
SAMPLE_IP, SAMPLE_TID, SAMPLE_TIME, SAMPLE_ADDR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
SAMPLE_READ, SAMPLE_CALLCHAIN, SAMPLE_ID, SAMPLE_CPU = 1 << 4, 1 << 5, 1 << 6, 1 << 7
SAMPLE_PERIOD, SAMPLE_STREAM_ID, SAMPLE_IDENTIFIER = 1 << 8, 1 << 9, 1 << 16

CONTEXT_MAX = 2**64 - 4095
CONTEXT_KERNEL = 2**64 - 128
CONTEXT_USER = 2**64 - 512
KERNEL_START = 1 << 63

DEPENDS = (1, 25, 26)       # DT_NEEDED, DT_INIT_ARRAY, DT_FINI_ARRAY
DT_FLAGS_1, DF_1_PIE = 0x6ffffffb, 0x08000000

START_BYTES = 0x30          # length of _start
LDSO_START_BYTES = 0x60     # ld.so: _start and _dl_start_user
# The code to which a thread's first function returns: exit(its result), as libcs encode it:
# mov %eax,%edi (or %rax,%rdi); mov $60,%eax (or xor %eax,%eax; mov $60,%al); syscall
THREAD_EXITS = (b"\x89\xc7\xb8\x3c\0\0\0\x0f\x05", b"\x48\x89\xc7\xb8\x3c\0\0\0\x0f\x05",
                b"\x89\xc7\x31\xc0\xb0\x3c\x0f\x05")
# Before that: xor %ebp,%ebp, a few instructions, and the call of the thread's first function.
THREAD_BEGIN, THREAD_CALL_BYTES = b"\x31\xed", 12
# And before that the system call that has made the thread, and a few jumps by its result.
SYSCALL, RESULT_BYTES = b"\x0f\x05", 12
# What the function of a fiber of Boost.Context returns to, and before that what has entered it:
# push %rbp; jmp *%rbx; xor %rdi,%rdi; call _exit; hlt
FIBER_END = re.compile(rb"\x55\xff\xe3\x48\x31\xff\xe8....\xf4", re.S)
FIBER_END_BYTES = 12
EXECVE = b"\xb8\x3b\0\0\0\x0f\x05"     # mov $59,%eax; syscall


def is_library(dynamic):
    """Does an ELF file with this dynamic section, and no interpreter, have no start?

    ld.so needs no other file and has no constructors; a static program is marked as PIE.
    """
    tags = dict(struct.iter_unpack("<QQ", dynamic[:len(dynamic) & ~15]))
    return not tags.get(DT_FLAGS_1, 0) & DF_1_PIE and any(tag in tags for tag in DEPENDS)


def is_thread_start(data, offset, code):
    """Is a return address here, which perf script prints less one, or the only ip of a new thread?

    Such a thread has the stack that clone() has given it, and has not called its function yet.
    """
    at = data.find(code, offset, offset + THREAD_CALL_BYTES + len(code))
    begin = data.rfind(THREAD_BEGIN, at - THREAD_CALL_BYTES, at) if at > 0 else -1
    return at >= 0 and (at - offset <= 1 or 0 <= begin <= offset)


def is_fiber_start(data, offset):
    """Is a return address here, or an ip, where fibers of Boost.Context begin and end?"""
    found = FIBER_END.search(data, max(offset - FIBER_END_BYTES + 1, 0), offset + FIBER_END_BYTES)
    return bool(found) and found.start() <= offset


class Elf:
    """The few facts of an ELF file that the judgement needs."""

    def __init__(self, path):
        with open(path, "rb") as file:
            self.data = file.read()
        if self.data[:5] != b"\x7fELF\x02":
            raise ValueError(f"{path}: not a 64-bit ELF file")
        self.entry, phoff = struct.unpack_from("<QQ", self.data, 24)
        phentsize, phnum = struct.unpack_from("<HH", self.data, 54)
        self.loads, self.interpreter, library = [], None, False
        for i in range(phnum):
            kind, _, offset, vaddr, _, filesz = struct.unpack_from(
                "<IIQQQQ", self.data, phoff + i * phentsize)
            if kind == 1:
                self.loads.append((offset, vaddr, filesz))
            elif kind == 2:
                library = is_library(self.data[offset:offset + filesz])
            elif kind == 3:
                self.interpreter = self.data[offset:offset + filesz].rstrip(b"\0").decode()
        # GNU ld up to 2.35 wrote an entry point into libraries, which nobody enters; but musl's libc.so is
        # the interpreter, too, and begins like one: xor %rbp,%rbp.
        if library and not self.interpreter and not self.text(self.entry).startswith(b"\x48\x31\xed"):
            self.entry = 0

    def text(self, pc):
        """The first bytes at a pc."""
        at = next((pc - vaddr + start for start, vaddr, size in self.loads if vaddr <= pc < vaddr + size), 0)
        return self.data[at:at + 16]

    def pc(self, offset):
        """The pc of a file offset, or None."""
        for start, vaddr, size in self.loads:
            if start <= offset < start + size:
                return vaddr + offset - start
        return None


class Files:
    """ELF files by their path below a root directory, read once."""

    def __init__(self, root=""):
        self.root = root
        self.known = {}

    def get(self, path):
        if path not in self.known:
            try:
                self.known[path] = Elf(self.root + path)
            except (OSError, ValueError, struct.error):
                self.known[path] = None
        return self.known[path]


class Space:
    """The executable mappings of one process."""

    def __init__(self, maps=(), before=None):
        self.maps = list(maps)
        self.before = before    # the Space of the program before the exec

    def add(self, start, size, offset, path):
        end = start + size
        kept = []
        for old in self.maps:
            if old[1] <= start or end <= old[0]:
                kept.append(old)
                continue
            if old[0] < start:
                kept.append((old[0], start, old[2], old[3]))
            if old[1] > end:
                kept.append((end, old[1], old[2] + end - old[0], old[3]))
        self.maps = kept + [(start, end, offset, path)]

    def find(self, ip):
        """(path, file offset) at ip, or None."""
        for start, end, offset, path in self.maps:
            if start <= ip < end:
                return path, ip - start + offset
        return None


class Judge:
    """Says whether a frame is where a program or a thread starts."""

    def __init__(self, root=""):
        self.files = Files(root)
        self.memo = {}

    def is_start(self, place):
        if place not in self.memo:
            self.memo[place] = self._is_start(*place)
        return self.memo[place]

    def _is_start(self, path, offset):
        elf = self.files.get(path)
        if elf is None:
            return False
        pc = elf.pc(offset)
        # Neither ld.so nor a static program has an interpreter; the longer length serves both.
        length = START_BYTES if elf.interpreter else LDSO_START_BYTES
        if pc is not None and elf.entry and elf.entry <= pc < elf.entry + length:
            return True
        return any(is_thread_start(elf.data, offset, code) for code in THREAD_EXITS) or \
            is_fiber_start(elf.data, offset)

    def is_behind_clone(self, place):
        """Has a thread that is here, and has one frame, just been made?

        It goes on where its maker does, which has a caller; its own stack has nothing yet.
        """
        path, offset = place
        elf = self.files.get(path)
        if elf is None or elf.data.rfind(SYSCALL, max(offset - RESULT_BYTES, 0), offset) < 0:
            return False
        begin = elf.data.find(THREAD_BEGIN, offset, offset + RESULT_BYTES)
        return begin >= 0 and self.is_start((path, begin))

    def is_in_execve(self, sample, frames):
        """Was the sample taken in execve(), between the old address space and the new program?

        The user registers are still those of the old program, whose stack is gone.  Without address space
        randomization the new program's stack can be where rbp pointed, and have a second frame.
        """
        if not 1 <= len(frames) <= 2 or isinstance(frames[0], tuple):
            return False
        before = sample.places.before
        place = sample.places.find(frames[0])
        if not place and before:
            if not before.maps:
                return sample.in_kernel     # perf has told nothing of the old program
            place = before.find(frames[0])
        elf = self.files.get(place[0]) if place else None
        return bool(elf) and elf.data[place[1] - len(EXECVE):place[1]] == EXECVE


class Sample:
    """One sample: its process, its user frames innermost first, its size in the file."""

    __slots__ = ("pid", "tid", "time", "user", "size", "places", "comm", "in_kernel")

    def __init__(self, pid, tid, time, user, size):
        self.pid, self.tid, self.time, self.user, self.size = pid, tid, time, user, size
        self.places = self.comm = None
        self.in_kernel = False


class PerfData:
    """A perf.data file with one kind of event that has samples.  perf 7 has a further event for the
    mappings, with another sample type; then perf has each record tell its event by an id."""

    def __init__(self, path):
        with open(path, "rb") as file:
            self.data = file.read()
        if self.data[:8] != b"PERFILE2":
            raise ValueError(f"{path}: not a perf.data file")
        head = struct.unpack_from("<8Q", self.data, 8)
        _, attr_size, attrs_at, attrs_size, self.start, self.size = head[:6]
        self.types = {}         # id -> sample type
        types = set()
        for at in range(attrs_at, attrs_at + attrs_size, attr_size):
            sample_type = struct.unpack_from("<Q", self.data, at + 24)[0]
            types.add(sample_type)
            # Behind the attr: where its ids are.
            ids_at, ids_size = struct.unpack_from("<QQ", self.data, at + attr_size - 16)
            for i in struct.unpack_from(f"<{ids_size // 8}Q", self.data, ids_at):
                self.types[i] = sample_type
        self.only_type = types.pop() if len(types) == 1 else None
        if self.only_type is None and not all(kind & SAMPLE_IDENTIFIER for kind in types):
            raise ValueError(f"{path}: events with different sample types, and no id in records")
        if any(kind & SAMPLE_READ for kind in types | {self.only_type or 0}):
            raise ValueError(f"{path}: PERF_SAMPLE_READ is not supported")
        if not self.size:
            self.size = len(self.data) - self.start    # perf was killed before it wrote the size
        self.lost = 0
        self.spaces = collections.defaultdict(Space)
        self.comms = {}         # tid -> name

    def records(self):
        """(type, misc, offset of the payload, offset of the end), in the order of the file."""
        at, end = self.start, self.start + self.size
        while at + 8 <= end:
            kind, misc, size = struct.unpack_from("<IHH", self.data, at)
            if size < 8:
                raise ValueError("perf.data: broken record")
            yield kind, misc, at + 8, at + size
            at += size

    def type_of(self, kind, at, end):
        """The sample type of a record's event; samples begin with the id, others end with it.
        None: perf itself made the record, before all samples, and gave it no id."""
        if self.only_type is not None:
            return self.only_type
        where = at if kind == RECORD_SAMPLE else end - 8
        return self.types.get(struct.unpack_from("<Q", self.data, where)[0])

    def sample_at(self, at, end):
        kind = self.type_of(RECORD_SAMPLE, at, end)
        if kind is None:
            raise ValueError("perf.data: a sample of an unknown event")
        fields = {}
        size = end - at + 8
        for bit in (SAMPLE_IDENTIFIER, SAMPLE_IP, SAMPLE_TID, SAMPLE_TIME, SAMPLE_ADDR,
                    SAMPLE_ID, SAMPLE_STREAM_ID, SAMPLE_CPU, SAMPLE_PERIOD):
            if kind & bit:
                fields[bit] = struct.unpack_from("<Q", self.data, at)[0]
                at += 8
        user, chain = None, ()
        if kind & SAMPLE_CALLCHAIN:
            count = struct.unpack_from("<Q", self.data, at)[0]
            chain = struct.unpack_from(f"<{count}Q", self.data, at + 8)
            user = self.user_part(chain)
        who = fields[SAMPLE_TID]
        sample = Sample(who & 0xffffffff, who >> 32, fields.get(SAMPLE_TIME, 0), user, size)
        sample.in_kernel = CONTEXT_KERNEL in chain
        return sample

    @staticmethod
    def user_part(chain):
        """The frames after PERF_CONTEXT_USER; None when there is no user context."""
        user = None
        for entry in chain:
            if entry == CONTEXT_USER:
                user = []
            elif entry >= CONTEXT_MAX:
                if user is not None:
                    break
            elif user is not None:
                user.append(entry)
        return user

    def string(self, at, end):
        return self.data[at:end].split(b"\0", 1)[0].decode(errors="replace")

    def note(self, kind, misc, at, end):
        """Keep track of the processes' mappings and names."""
        if kind in (RECORD_MMAP, RECORD_MMAP2):
            pid, _, start, size, offset = struct.unpack_from("<IIQQQ", self.data, at)
            name_at = at + (32 if kind == RECORD_MMAP else 64)
            if start < KERNEL_START:
                self.spaces[pid].add(start, size, offset, self.string(name_at, end))
        elif kind == RECORD_COMM:
            pid, tid = struct.unpack_from("<II", self.data, at)
            self.comms[tid] = self.string(at + 8, end)
            if misc & MISC_COMM_EXEC:
                self.spaces[pid] = Space(before=Space(self.spaces[pid].maps))
        elif kind == RECORD_FORK:
            pid, parent, tid, parent_tid = struct.unpack_from("<IIII", self.data, at)
            self.comms[tid] = self.comms.get(parent_tid, "")
            if pid != parent:
                self.spaces[pid] = Space(self.spaces[parent].maps)
        elif kind == RECORD_LOST:
            self.lost += struct.unpack_from("<QQ", self.data, at)[1]

    def time_of(self, kind, at, end):
        """The record's time; records other than samples have it in a trailer (sample_id_all)."""
        if kind >= 64:
            return None
        wanted = self.type_of(kind, at, end)
        if wanted is None:
            return 0
        if kind == RECORD_SAMPLE:
            return self.sample_at(at, end).time if wanted & SAMPLE_TIME else 0
        if not wanted & SAMPLE_TIME:
            return None
        trailer = sum(8 for bit in (SAMPLE_TID, SAMPLE_TIME, SAMPLE_ID, SAMPLE_STREAM_ID,
                                    SAMPLE_CPU, SAMPLE_IDENTIFIER) if wanted & bit)
        before = 8 if wanted & SAMPLE_TID else 0
        return struct.unpack_from("<Q", self.data, end - trailer + before)[0]

    def samples(self):
        """All samples in order of time, each with its frames' places in files."""
        records = []
        for number, (kind, misc, at, end) in enumerate(self.records()):
            time = self.time_of(kind, at, end)
            if time is not None:
                records.append((time, number, kind, misc, at, end))
        for _, _, kind, misc, at, end in sorted(records):
            if kind != RECORD_SAMPLE:
                self.note(kind, misc, at, end)
                continue
            sample = self.sample_at(at, end)
            sample.places = self.spaces[sample.pid]
            sample.comm = self.comms.get(sample.tid, "")
            yield sample


def scripted_stacks(path):
    """User frames by (tid, time), as perf script unwinds them: (file, offset) each.

    For frames it unwinds itself, perf prints offsets in files, not addresses.
    """
    command = ["perf", "script", "-f", "-i", path, "--no-inline", "--ns", "--max-stack", "4096",
               "-F", "tid,time,ip,dso"]
    stacks, key, frames = {}, None, []
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          text=True) as perf:
        for line in perf.stdout:
            words = line.strip().split(" ", 1)
            if not words[0]:
                if key:
                    stacks[key] = frames
                key, frames = None, []
            elif key is None:
                seconds, nanoseconds = words[1].strip().rstrip(":").split(".")
                key = int(words[0]), int(seconds) * 10**9 + int(nanoseconds)
            else:
                ip = int(words[0], 16)
                if ip < KERNEL_START:
                    frames.append((words[1].strip()[1:-1], ip))
        if key:
            stacks[key] = frames
    if perf.returncode:
        raise ValueError(f"perf script failed on {path}")
    return stacks


def user_samples(perf_data, opts):
    """(sample, user frames) for every sample of a process in user context."""
    scripted = scripted_stacks(opts.file) if opts.dwarf else None
    for sample in perf_data.samples():
        if opts.pid and sample.pid != opts.pid:
            continue
        if opts.comm and sample.comm != opts.comm[:15]:
            continue
        if opts.not_comm and sample.comm == opts.not_comm[:15]:
            continue
        if opts.user_mode and sample.in_kernel:
            continue
        frames = sample.user
        if scripted is not None:
            frames = scripted.get((sample.tid, sample.time)) or []
            if not frames and not sample.places.maps:
                continue
        if frames is not None and goes_through(sample, frames, opts.through):
            yield sample, frames


def goes_through(sample, frames, path):
    places = (frame if isinstance(frame, tuple) else sample.places.find(frame)
              for frame in frames)
    return path is None or any(place and place[0] == path for place in places)


def outermost(sample, frames):
    """(path, file offset) of the last frame, or None."""
    if not frames:
        return None
    last = frames[-1]
    return last if isinstance(last, tuple) else sample.places.find(last)


def judge(opts):
    perf_data, verdict = PerfData(opts.file), Judge(opts.root)
    count = complete = depth = size = skipped = 0
    first = None
    for sample, frames in user_samples(perf_data, opts):
        if opts.no_exec and verdict.is_in_execve(sample, frames):
            skipped += 1
            continue
        depth += len(frames)
        size += sample.size
        place = outermost(sample, frames)
        if place and verdict.is_start(place):
            first = count if first is None else first
            complete += 1
        count += 1
    figures = {"samples": count, "complete": complete, "lost": perf_data.lost,
               "share": complete / count if count else 0,
               "depth": depth / count if count else 0,
               "bytes": size / count if count else 0, "in_execve": skipped,
               "before_first": first}     # samples before the first complete one; null: none is
    json.dump(figures, sys.stdout)
    print()


def why(opts):
    perf_data, verdict = PerfData(opts.file), Judge(opts.root)
    ends = collections.Counter()
    for sample, frames in user_samples(perf_data, opts):
        place = outermost(sample, frames)
        if place and verdict.is_start(place):
            continue
        if opts.no_exec and verdict.is_in_execve(sample, frames):
            continue
        text = "no frames"
        if place:
            elf = verdict.files.get(place[0])
            pc = elf.pc(place[1]) if elf else None
            text = f"{place[0]}+{pc if pc is not None else place[1]:#x}"
        elif frames:
            text = f"no mapping at {frames[-1]}"
        ends[text, len(frames)] += 1
    for (text, length), count in ends.most_common(40):
        print(f"{count:6} {length:4} frames  {text}")


def fold(opts):
    command = ["perf", "script", "-f", "-i", opts.file, "--no-inline", "--max-stack", "4096",
               "-F", "comm,ip,sym,dso"]
    folded, comm, frames = collections.Counter(), None, []

    def done():
        if comm is not None and frames:
            folded[";".join([comm] + frames[::-1])] += 1

    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          text=True) as perf:
        for line in perf.stdout:
            if not line.strip():
                done()
                comm, frames = None, []
            elif comm is None:
                comm = line.strip().replace(";", ":")
            else:
                frames.append(frame_name(line))
        done()
    for stack, count in sorted(folded.items()):
        print(stack, count)


def places(opts):
    """Print hexadecimal offset and path of each user frame in a file; a blank line per stack."""
    perf_data = PerfData(opts.file)
    for sample, frames in user_samples(perf_data, opts):
        for number, frame in enumerate(frames):
            place = sample.places.find(frame - (number > 0))
            if place:
                print(f"{place[1]:x} {place[0]}")
        print()


def frame_name(line):
    """The name of a frame in a line "ip symbol (dso)"; without a symbol, the file's name."""
    _, _, rest = line.strip().partition(" ")
    symbol, _, dso = rest.rpartition(" (")
    if symbol in ("", "[unknown]"):
        symbol = "[" + os.path.basename(dso.rstrip(")")).strip("[]") + "]"
    return symbol.replace(";", ":")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("verb", choices=("judge", "why", "fold", "places"))
    parser.add_argument("file")
    parser.add_argument("--dwarf", action="store_true")
    parser.add_argument("--pid", type=int, help="only this process")
    parser.add_argument("--comm", help="only threads of this name")
    parser.add_argument("--not-comm", help="no threads of this name")
    parser.add_argument("--through", metavar="PATH", help="only stacks with a frame in this mapping")
    parser.add_argument("--root", default="", metavar="DIR", help="where the processes had their /")
    parser.add_argument("--user-mode", action="store_true",
                        help="only what was sampled outside the kernel")
    parser.add_argument("--no-exec", action="store_true",
                        help="without samples in the midst of execve()")
    opts = parser.parse_args()
    try:
        {"judge": judge, "why": why, "fold": fold, "places": places}[opts.verb](opts)
    except BrokenPipeError:
        os._exit(141)
    except (OSError, ValueError) as error:
        sys.exit(f"stacks.py: {error}")


if __name__ == "__main__":
    main()
