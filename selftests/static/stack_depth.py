#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""How much stack a function of the module needs, with all functions of the objects that it calls.

	stack_depth.py FUNCTION OBJECT...
	stack_depth.py calls FUNCTION[,FUNCTION]... OBJECT...

Adds up pushes, "sub $n,%rsp" and "add $-n,%rsp" in the machine code, and 8 bytes for each call.
A call of a function that is in none of the objects counts as 8 bytes.  Prints the bytes and the
deepest chain.  Fails if there is recursion or a call through a register, as the depth of those
cannot be known.

"calls" prints the functions of none of the objects that these functions call, themselves or by others.
"""

import re
import subprocess
import sys

FUNCTION = re.compile(r"^[0-9a-f]+ <([^>]+)>:$")
MOVE = re.compile(r"\b(sub|add)\s+\$0x([0-9a-f]+),%rsp$")
CALL = re.compile(r"\t(?:call|j[a-z]+)\b")
RELOCATION = re.compile(r"R_X86_64_(?:PLT32|PC32)\s+([\w.]+?)([-+]0x[0-9a-f]+)?$")
TARGET = re.compile(r"\t(?:call|j[a-z]+)\s+[0-9a-f]+ <([^>+]+)>$")
INDIRECT = re.compile(r"\bcall\s+(?:\*|[0-9a-f]+ <__x86_indirect_thunk)")


def taken(is_sub, operand):
    """The bytes that an instruction takes from the stack; 0 if it gives some back."""
    signed = operand - (operand >> 63 << 64)
    return max(0, signed if is_sub else -signed)


def functions(path):
    """{name: [bytes, {callees}]} of an object's functions."""
    text = subprocess.run(["objdump", "-dr", "--no-show-raw-insn", path], check=True,
                          stdout=subprocess.PIPE, text=True).stdout
    found, name, calling = {}, None, False
    lines = text.splitlines()
    for line, following in zip(lines, lines[1:] + [""]):
        start = FUNCTION.match(line)
        if start:
            name, calling = start[1], False
            found[name] = [0, set()]
            continue
        if name is None:
            continue
        line = line.split("#")[0].rstrip()
        relocation = RELOCATION.search(line)
        if relocation:
            if calling:
                found[name][1].add(relocation[1])
            continue
        calling = bool(CALL.search(line))
        target = TARGET.search(line)
        if INDIRECT.search(line):
            found[name][1].add("*")
        # The target of a call with a relocation is not filled in yet: objdump shows a wrong one.
        elif target and target[1] != name and not RELOCATION.search(following):
            found[name][1].add(target[1])
        if re.search(r"\bpush\b", line):
            found[name][0] += 8
        move = MOVE.search(line)
        if move:
            found[name][0] += taken(move[1] == "sub", int(move[2], 16))
    return found


def deepest(name, known, above=()):
    """(bytes, chain) of a call of the function, its return address included."""
    if name == "*" or name.startswith("__x86_indirect"):
        sys.exit(f"stack_depth: indirect call in {' > '.join(above)}")
    if name in above:
        sys.exit(f"stack_depth: recursion: {' > '.join((*above, name))}")
    own, callees = known.get(name, (0, ()))
    below = max((deepest(callee, known, (*above, name)) for callee in callees),
                default=(0, ()))
    return 8 + own + below[0], (name, *below[1])


def outside(names, known):
    """The functions that are not known and are called by these, or by what they call."""
    seen, left = set(), list(names)
    while left:
        name = left.pop()
        if name not in seen:
            seen.add(name)
            left += known.get(name, (0, ()))[1]
    return sorted(seen - known.keys() - {"*"})


def main():
    calls = sys.argv[1] == "calls"
    names, *paths = sys.argv[1 + calls:]
    known = {}
    for path in paths:
        known.update(functions(path))
    for name in names.split(","):
        if name not in known:
            sys.exit(f"stack_depth: no {name} in {' '.join(paths)}")
    if calls:
        print(*outside(names.split(","), known), sep="\n")
    else:
        size, chain = deepest(names, known)
        print(size, " > ".join(chain))


if __name__ == "__main__":
    main()
