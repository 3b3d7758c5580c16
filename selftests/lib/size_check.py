#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Check the figures of "beectl size --json" and selftests/bench/sizes by other means.

    size_check.py rows BEECTL ELF...		tables and CFI, from listings
    size_check.py formats BEECTL SIZES ELF...	sizes of all formats, from listings of the rows
    size_check.py sframe SIZES.json ELF		against the .sframe section that as and ld made

Prints differences; exits 1 if there are any.
"""
import json
import re
import struct
import subprocess
import sys


def run(*command):
    # readelf exits with an error if the debug file that an ELF file names is missing.
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                          check=command[0] != "readelf", errors="surrogateescape").stdout


def sections(elf):
    """Sizes of the sections: {name: bytes}."""
    found = {}
    for line in run("readelf", "-SW", elf).splitlines():
        match = re.match(r"\s*\[ *\d+\] (\S+)\s+\S+\s+\S+\s+\S+\s+(\S+)", line)
        if match:
            found[match[1]] = int(match[2], 16)
    return found


def text_bytes(elf):
    """Bytes of executable segments, from the program headers."""
    with open(elf, "rb") as file:
        image = file.read()
    phoff, = struct.unpack_from("<Q", image, 32)
    phnum, = struct.unpack_from("<H", image, 56)
    total = 0
    for i in range(phnum):
        kind, flags, _, _, _, filesz = struct.unpack_from("<IIQQQQ", image, phoff + 56 * i)
        if kind == 1 and flags & 1:
            total += filesz
    return total


class Row:
    """A line of beectl dump --rows --unpacked."""

    def __init__(self, line):
        pc, *self.rule = line.split("\t")
        self.pc = int(pc, 16)
        cfa = re.fullmatch(r"(r[a-z0-9]+)([+-]\d+)", self.rule[0])
        self.base, self.offset = (cfa[1], int(cfa[2])) if cfa else (None, 0)
        self.is_rules = len(self.rule) >= 3
        self.is_special = (not self.is_rules or self.rule[0].startswith("plt") or
                           self.rule[2] == "undef")

    def fp_offset(self):
        """The offset from the CFA at which FP is saved; 0: not saved; None: any other rule."""
        if self.rule[1] == "same":
            return 0
        match = re.fullmatch(r"cfa(-\d+)", self.rule[1])
        return int(match[1]) if match and int(match[1]) <= -16 and not int(match[1]) % 8 else None

    def fits_word(self):
        """Do its offsets fit into a rule of four bytes?  See BEE_WORD_CFA_MAX, BEE_WORD_FP_MAX."""
        return self.is_usual() and self.offset <= 8 * 0x7ff0 and self.fp_offset() >= -8 * 0x3ff

    def is_usual(self):
        return (self.is_rules and len(self.rule) == 3 and self.base in ("rsp", "rbp") and
                self.offset >= 0 and not self.offset % 8 and self.rule[2] == "cfa-8" and
                self.fp_offset() is not None)


def merges(a, b):
    """(bytes between the rows, change of the CFA offset) if one entry can hold both, or None."""
    step = b.offset - a.offset
    if (b.pc - a.pc <= 2 and a.base and a.base == b.base and a.rule[1:] == b.rule[1:] and
            step in (8, -8)):
        return b.pc - a.pc, step
    return None


def expected_sizes(lines):
    rows = [Row(line) for line in lines[:-1]]
    end = int(lines[-1].split("\t")[0], 16)
    odd = {tuple(r.rule) for r in rows if r.is_rules and not r.fits_word()}
    pages = (end - 1) // 65536 - rows[0].pc // 65536 + 1
    unfit = sum(not r.is_special and not (r.is_usual() and r.offset <= 2040 and
                                          r.fp_offset() >= -120) for r in rows)
    deltas, dictionary, delta_pages, i = 0, set(), set(), 0
    while i < len(rows):
        form = merges(rows[i], rows[i + 1]) if i + 1 < len(rows) else None
        if not rows[i].is_special and "signal" not in rows[i].rule:
            dictionary.add((tuple(rows[i].rule), form))
        delta_pages.add(rows[i].pc // 65536)
        deltas += 1
        i += 2 if form else 1
    return {
        "rows": len(rows),
        "rows8": 8 * len(rows) + 24 * len(odd),
        "rows4": 4 * len(rows) + 4 * pages + 8 * unfit,
        "deltas": 4 * deltas + 12 * len(dictionary) + 24 * len(delta_pages),
        "orc": 10 * len(rows) + 4 * ((end - rows[0].pc + 255) // 256 + 1),
        "unsupported_rows": sum(r.rule[0].startswith("unsupported") for r in rows),
    }


def known(lines):
    """The text that is no gap: {(start, end)}, a pair for each row."""
    pcs = [int(line.split("\t")[0], 16) for line in lines]
    return {(pcs[i], pcs[i + 1]) for i in range(len(lines) - 1) if not lines[i].endswith("\tgap")}


def bytes_of(ranges):
    return sum(end - start for start, end in ranges)


def synth_size(beectl, path, listing, cfi):
    """Text that has rows made from code, by proof and by the ABI, as verify counts it.

    Together at most the bytes that are a gap with --cfi-only.  The rest of these is padding before it, less
    than 64 bytes in each place.
    """
    more = bytes_of(known(listing)) - bytes_of(known(cfi))
    places = len({start for start, _ in known(listing)} - {start for start, _ in known(cfi)})
    total = json.loads(run(beectl, "verify", "--json", path))["total"]
    both = total["synth"] + total["abi"]
    good = both == more or more - 64 * places < both < more
    return (total["synth"], total["abi"]) if good else (-1, -1)


def compare(what, said, expected):
    bad = 0
    for key, value in expected.items():
        if said[key] != value:
            print(f"{what}: {key} is {said[key]}, not {value}")
            bad += 1
    return bad


SIZE_KEYS = ("path", "text", "cfi", "fdes", "rows", "table", "synth", "abi", "unsupported_rows")
FORMAT_KEYS = ("path", "text", "cfi", "fdes", "rows", "table", "rows8", "rows4", "deltas", "orc")


def check_files(said, keys, beectl, files):
    bad = len(said["problems"]) or len(said["files"]) != len(files)
    totals = dict.fromkeys(said["total"], 0) | {"files": len(files)}
    for path, one in zip(files, said["files"]):
        has = sections(path)
        listing = run(beectl, "dump", "--rows", "--unpacked", path).splitlines()
        cfi = run(beectl, "dump", "--rows", "--unpacked", "--cfi-only", path).splitlines()
        synth, abi = synth_size(beectl, path, listing, cfi)
        expected = expected_sizes(listing) | {
            "path": path,
            "synth": synth,
            "abi": abi,
            "text": text_bytes(path),
            "cfi": has.get(".eh_frame", 0) + has.get(".eh_frame_hdr", 0),
            "fdes": run("readelf", "--debug-dump=frames", path).count(" FDE "),
            "table": int(re.search(r"^table .* (\d+) bytes", run(beectl, "dump", path), re.M)[1]),
        }
        bad += compare(path, one, {key: expected[key] for key in keys})
        for key in totals.keys() - {"files"}:
            totals[key] += one[key]
    return bad + compare("total", said["total"], totals)


def check_sframe(size_json, elf):
    with open(size_json, encoding="utf-8") as file:
        one = json.load(file)["files"][0]
    with open(elf, "rb") as file:
        image = file.read()
    match = re.search(r"\.sframe\s+\S+\s+\S+\s+(\S+)\s+(\S+)", run("readelf", "-SW", elf))
    offset, size = (int(word, 16) for word in match.groups())
    magic, version = struct.unpack_from("<HB", image, offset)
    nfdes, nfres = struct.unpack_from("<II", image, offset + 8)
    if magic != 0xdee2 or version not in (1, 2):
        print(f"as made .sframe of version {version}")
        return 1
    # Version 1 differs from version 2 in its function entries, which are three bytes shorter.
    if version == 1:
        size += 3 * nfdes
    print(f"version {version}: {size} bytes, {nfdes} functions, {nfres} rows")
    return compare(elf, one, {"sframe": size, "sframe_fdes": nfdes, "sframe_fres": nfres})


def main():
    if sys.argv[1] == "rows":
        beectl, *files = sys.argv[2:]
        said = json.loads(run(beectl, "size", "--json", "-j", "2", *files))
        bad = check_files(said, SIZE_KEYS, beectl, files)
    elif sys.argv[1] == "formats":
        beectl, sizes, *files = sys.argv[2:]
        bad = check_files(json.loads(run(sizes, *files)), FORMAT_KEYS, beectl, files)
    else:
        bad = check_sframe(*sys.argv[2:])
    sys.exit(bad != 0)


main()
