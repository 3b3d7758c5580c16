#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Check that what the pages name is there.

In the pages here and in README, CONTRIBUTING, MAINTAINERS: paths of the tree, "make TARGET",
functions that stand as ``name()``, and constants BEE_... and BEEUNWIND_....  ROOM, NAME, FILE
and PID in a name stand for any.  Prints what is not there; exits 1 if anything is not.
"""
import glob
import os
import re
import sys

TREE = os.path.realpath(os.path.join(os.path.dirname(__file__), ".."))
PAGES = ["README", "CONTRIBUTING", "MAINTAINERS", "Documentation/*.rst", "Documentation/man/*.rst"]
SOURCES = ["kmod/**/*.[ch]", "tools/**/*.[ch]", "include/**/*.h"]

PATH = re.compile(r"(?<![\w/.-])((?:kmod|tools|selftests|include|Documentation)/[\w./*-]*[\w/*])")
MAKE = re.compile(r"(?:``|\"|^\t|`)make ([a-z][\w.-]*)", re.M)
FUNCTION = re.compile(r"``([a-z][a-z0-9_]*)\(\)``")
CONSTANT = re.compile(r"\b(BEE(?:UNWIND)?_[A-Z]\w+)\b(?!\*)")
# Environment variables, and functions of others that the sources do not mention.
OUTSIDE = {
    "BEEUNWIND_CACHE", "BEEUNWIND_CACHE_SIZE", "BEE_ORACLE", "BEE_QEMU", "bpf_get_stack", "bpf_get_stackid",
    "makecontext", "mlockall", "task_work_add", "unwind_deferred_request", "uprobe_mmap",
    "uprobe_munmap",
}


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def expand(patterns):
    return [path for pattern in patterns
            for path in sorted(glob.glob(os.path.join(TREE, pattern), recursive=True))]


def is_path(name):
    pattern = re.sub(r"ROOM|NAME|FILE|PID", "*", name)
    return bool(glob.glob(os.path.join(TREE, pattern)))


def main():
    code = "\n".join(read(path) for path in expand(SOURCES))
    words = set(re.findall(r"\w+", code))
    targets = set(re.findall(r"^([\w.-]+):", read(os.path.join(TREE, "Makefile")), re.M))
    bad = 0
    for page in expand(PAGES):
        text = read(page)
        missing = [name for name in PATH.findall(text) if not is_path(name)]
        missing += [f"make {name}" for name in MAKE.findall(text) if name not in targets]
        missing += [name for name in FUNCTION.findall(text) + CONSTANT.findall(text)
                    if name not in words and name not in OUTSIDE]
        for name in sorted(set(missing)):
            print(f"{os.path.relpath(page, TREE)}: no {name}")
            bad = 1
    return bad


sys.exit(main())
