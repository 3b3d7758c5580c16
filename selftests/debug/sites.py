#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""The places in a module where memory is allocated, from its relocations.

	sites.py list MODULE.KO		one line each: SECTION OFFSET FUNCTION+OFFSET ALLOCATOR
	sites.py seen MODULE.KO <LOG	FUNCTION+OFFSET and how often it failed, by the stack
					traces that fault injection left in the kernel's log

OFFSET is that of the call's return address, as in a stack trace.  A tail call has no return
address in the function: OFFSET is 0, and FUNCTION+tail stands for FUNCTION+OFFSET.
"""

import collections
import re
import subprocess
import sys

# Kernel functions that allocate for their callers.  Calls of any other function are not listed:
# whoever uses another allocator in the module adds it here.
ALLOCATOR = re.compile(
    r"^(_*kmalloc\w*|_*kvmalloc\w*|kmem_cache_alloc\w*|"
    r"_*v[mz]alloc\w*|_*vmalloc\w*|__alloc_percpu\w*|pcpu_alloc\w*|_*alloc_pages\w*|get_free_pages\w*|"
    r"k(v|vm)?mem\w*dup\w*|kstr\w*dup\w*|kasprintf|nla_strdup|__alloc_skb|skb_(copy|clone)|"
    r"_*xa_(store|alloc|alloc_cyclic|insert|cmpxchg)|alloc_workqueue\w*|"
    r"genl_register_family|_*register_ftrace_function\w*|ftrace_set_filter\w*|"
    r"netlink_broadcast\w*|register_shrinker|shrinker_alloc)$")


def sites(path):
    """(section, offset of the return address, function+offset, allocator)"""
    text = subprocess.run(["objdump", "-dr", "--no-show-raw-insn", path], check=True,
                          stdout=subprocess.PIPE, text=True).stdout
    section = function = start = None
    pending, opcode = None, None
    for line in text.splitlines():
        if line.startswith("Disassembly of section "):
            section = line.split()[-1].rstrip(":")
            continue
        label = re.match(r"([0-9a-f]+) <(.+)>:$", line)
        if label:
            start, function = int(label.group(1), 16), label.group(2)
            continue
        instruction = re.match(r"\s*([0-9a-f]+):\t(\S+)", line)
        if instruction and "R_X86_64" not in line:
            if pending:
                yield section, int(instruction.group(1), 16), \
                    f"{function}+{int(instruction.group(1), 16) - start:#x}", pending
            pending, opcode = None, instruction.group(2)
            continue
        reloc = re.search(r"R_X86_64_(PLT32|PC32)\s+([\w.]+)-0x4", line)
        if reloc and opcode == "jmp" and ALLOCATOR.match(reloc.group(2)):
            yield section, 0, f"{function}+tail", reloc.group(2)
        if reloc and opcode == "call" and ALLOCATOR.match(reloc.group(2)):
            pending = reloc.group(2)


def seen(path, log):
    """Counts the sites in stack traces; a site is the innermost frame of the module."""
    known = {place: allocator for _, _, place, allocator in sites(path)}
    tails = {allocator: place for place, allocator in known.items() if place.endswith("+tail")}
    above, found = "", collections.Counter()
    for line in log:
        frame = re.search(r" (?:\? )?([\w.]+)(\+0x[0-9a-f]+)/0x[0-9a-f]+(.*)", line)
        if "FAULT_INJECTION" in line:
            above = "start"
        elif "</TASK>" in line:
            above = ""
        if not frame or " ? " in line or not above:
            continue
        if "[beeunwind]" in frame.group(3):
            place = tails.get(above, frame.group(1) + frame.group(2))
            # Stack traces show the module's init function as beeunwind_init, objdump as its
            # alias init_module.
            place = re.sub(r"^beeunwind_init\+", "init_module+", place)
            found[place if place in known else f"{place}?"] += 1
            above = ""
        else:
            above = re.sub(r"\.part\.\d+$", "", frame.group(1))
    return found


def main():
    if sys.argv[1] == "seen":
        for place, count in sorted(seen(sys.argv[2], sys.stdin).items()):
            print(place, count)
        return 0
    for section, offset, place, allocator in sites(sys.argv[2]):
        if section.startswith((".text", ".init.text", ".exit.text")):
            print(section, f"{offset:#x}", place, allocator)
    return 0


if __name__ == "__main__":
    sys.exit(main())
