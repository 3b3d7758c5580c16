#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Write an ELF file that is made to hurt whoever compiles it.

    hostile.py KIND FILE

Prints the bytes of CFI that it has.
"""
import random
import struct
import sys
import zlib

TEXT = 0x1000
NOPS = b"\x90" * 4096
# Version 1, no augmentation; CFA = rsp+8, RA at CFA-8
CIE = struct.pack("<II", 20, 0) + b"\1\0\1\x78\x10\x0c\7\x08\x90\1" + bytes(6)
EXECUTE, COMPRESSED = 5, 0x800


def fde(at, cie, pc, size, insns=b""):
    """An FDE at offset @at of its section, whose CIE is at offset @cie."""
    body = struct.pack("<IQQ", at + 4 - cie, pc, size) + insns
    body += bytes(-len(body) % 4)
    return struct.pack("<I", len(body)) + body


ONE = CIE + fde(len(CIE), 0, TEXT, 16)


def elf(texts, sections, more_sections=(), more_segments=b""):
    """texts: (vaddr, bytes).  sections: (name, vaddr, bytes, flags)."""
    out, names, heads, segments = bytearray(4096), b"\0", [bytes(64)], b""
    for vaddr, code in texts:
        segments += struct.pack("<IIQQQQQQ", 1, EXECUTE, len(out), vaddr, vaddr, len(code), len(code), 4096)
        out += code
    strings = b"\0" + b"".join(s[0].encode() + b"\0" for s in sections)
    for name, vaddr, data, flags in [*sections, ("", 0, strings, 0)]:
        heads.append(struct.pack("<IIQQQQIIQQ", len(names) if name else 0, 1, flags, vaddr, len(out),
                                 len(data), 0, 0, 1, 0))
        names += name.encode() + b"\0" if name else b""
        out += data
    index = len(heads) - 1
    heads += [h(out, heads) for h in more_sections]
    segments += more_segments(out) if more_segments else b""
    phoff, shoff = len(out), len(out) + len(segments)
    out += segments + b"".join(heads)
    out[:64] = b"\x7fELF\2\1\1" + bytes(9) + struct.pack(
        "<HHIQQQIHHHHHH", 3, 62, 1, 0, phoff, shoff, 0, 64, 56, len(segments) // 56, 64, len(heads), index)
    return bytes(out), sum(len(s[2]) for s in sections)


def one_fde(insns, text):
    """A file with one FDE, of @text bytes."""
    return elf([(TEXT, b"\x90" * text)], [(".eh_frame", 1 << 30, CIE + fde(len(CIE), 0, TEXT, text, insns), 2)])


def compressed():
    """A .debug_frame that is a thousand times as long as what it takes in the file."""
    size, step = 2560 << 20, 1 << 24
    z = zlib.compressobj(9, wbits=-zlib.MAX_WBITS)
    block = z.compress(bytes(step)) + z.flush(zlib.Z_FULL_FLUSH)
    # Behind the header of zlib the same block again and again, and behind these the Adler-32 of zeros.
    data = b"\x78\xda" + block * (size // step) + z.flush() + struct.pack(">HH", size % 65521, 1)
    return elf([(TEXT, NOPS)], [(".eh_frame", 1 << 30, ONE, 2),
                                (".debug_frame", 0, struct.pack("<IIQQ", 1, 0, size, 1) + data, COMPRESSED)])


def references():
    """FDEs that refer to as many places, descending, where there is no CIE."""
    n, data = 800000, bytearray(ONE)
    for i in range(n):
        at = len(data)
        data += struct.pack("<IIHH", 8, (at + 4 - 4 * (n - i) - 8) & 0xffffffff or 1, TEXT, 1)
    return elf([(TEXT, NOPS)], [(".eh_frame", 1 << 30, bytes(data), 2)])


def nested():
    """FDEs that refer to as many CIEs, one inside the other, each up to the end of the section."""
    n, length = 80000, 15
    # The last instruction of each is an expression: the next one's bytes up to its instruction.
    heads = b"".join(struct.pack("<II", n * length + 13 - 4 - length * i, 0) + b"\1\0\1\x78\x10\x0f\x0d"
                     for i in range(n)) + bytes(13)
    data, at = bytearray(ONE) + struct.pack("<II", len(heads) + 4, 1), len(ONE) + 8
    data += heads
    for i in range(n):
        data += struct.pack("<IIQQ", 20, len(data) + 4 - (at + length * i), TEXT, 1)
    return elf([(TEXT, NOPS)], [(".eh_frame", 1 << 30, bytes(data), 2)])


def expression():
    """An expression of 200,000 operations, and as many rows with it."""
    n = 200000
    length = struct.pack("BBB", n + 2 & 127 | 128, n + 2 >> 7 & 127 | 128, n + 2 >> 14)
    return one_fde(b"\x0f" + length + b"\x77\x08" + b"\x96" * n + b"\x41" * n, n + 4096)


def rows():
    """As many rows as there is room for, without a pattern."""
    pick = random.Random(1)
    insns = b"".join(struct.pack("BBBB", 0x41, 0x0e, 8 * v & 127 | 128, 8 * v >> 7)
                     for v in (pick.randrange(16, 2048) for _ in range(250000)))
    return one_fde(insns, 300000)


def cies():
    """CIEs of the smallest size, which take much more memory."""
    data = (struct.pack("<II", 11, 0) + b"\1\0\1\x78\x10\0\0") * 100000
    return elf([(TEXT, NOPS)], [(".eh_frame", 1 << 30, data + ONE, 2)])


def span():
    """Two FDEs, at the ends of 4 GiB."""
    return elf([(TEXT, NOPS), (0xffe00000, NOPS)],
               [(".eh_frame", 1 << 33, ONE + fde(len(ONE), 0, 0xffe00000, 16), 2)])


def notes():
    """60,000 PT_DYNAMIC and PT_NOTE of 1 MiB each, without what would end them."""
    def segments(out):
        at = len(out)
        out += bytes(range(1, 256)) * 5000
        return b"".join(struct.pack("<IIQQQQQQ", 4 if i % 2 else 2, 4, at + i % 1000 * 16, 0, 0, 1 << 20,
                                    1 << 20, 4) for i in range(60000))
    return elf([(TEXT, NOPS)], [(".eh_frame", 1 << 30, ONE, 2)], more_segments=segments)


def small_notes():
    """60,000 PT_NOTE of 16 bytes each, none at the place of another."""
    def segments(out):
        at = len(out)
        out.extend(bytes(range(1, 256)) * 5000)
        return b"".join(struct.pack("<IIQQQQQQ", 4, 4, at + i * 16, 0, 0, 16, 16, 4) for i in range(60000))
    return elf([(TEXT, NOPS)], [(".eh_frame", 1 << 30, ONE, 2)], more_segments=segments)


def headers():
    """16,000,000 section headers, whose number is in the first one.  The others take no room on disk."""
    made, cfi = elf([(TEXT, NOPS)], [(".eh_frame", 1 << 30, ONE, 2)])
    made, count, at = bytearray(made), 16000000, 1 << 20
    made[40:48] = struct.pack("<Q", at)
    made[60:64] = bytes(4)
    made += bytes(at - len(made)) + struct.pack("<IIQQQQIIQQ", 0, 0, 0, 0, 0, count, 0, 0, 0, 0)
    return bytes(made), cfi, at + 64 * count


def sections():
    """500 sections .eh_frame, which share the same 16 MiB."""
    def head(i):
        return lambda out, heads: struct.pack("<IIQQQQIIQQ", 1, 1, 2, 1 << 30, 8192 + len(ONE) + i * 16,
                                              (16 << 20) - i * 16, 0, 0, 1, 0)
    made, size = elf([(TEXT, NOPS)], [(".eh_frame", 1 << 30, ONE, 2), (".data", 0, bytes(16 << 20), 0)],
                     more_sections=[head(i) for i in range(500)])
    return made, 8 * size


def relocations():
    """20,000 sections of relocations, which share the same 16 MiB, in a file with code without CFI
    of which nothing is proven."""
    size, count = 16 << 20, 20000

    def head(i):
        return lambda out, heads: struct.pack("<IIQQQQIIQQ", 0, 4, 2, 0, 8192 + i * 24, size, 0, 0, 8, 24)
    text = NOPS[:16] + b"\xff\xd0\xeb\xfc" * 16
    made, cfi = elf([(TEXT, text)], [(".eh_frame", 1 << 30, ONE, 2)],
                    [code(len(text)), *(head(i) for i in range(count))])
    return made, cfi, 8192 + count * 24 + size


def callees():
    """Rows whose CFA is in rbx, each with a call of one of some functions that have long CFI."""
    calls, functions, steps = 1000000, 500, 10000
    callee = TEXT + 5 * calls
    code = b"".join(b"\xe8" + struct.pack("<i", callee + i % functions * steps - (TEXT + 5 * i + 5))
                    for i in range(calls)) + b"\x90" * (functions * steps)
    data = bytearray(CIE) + CIE[:14] + b"\3" + CIE[15:]
    data += fde(len(data), len(CIE), TEXT, 5 * calls, b"\x45\x0e\x08\x45\x0e\x10" * (calls // 2))
    for i in range(functions):
        data += fde(len(data), 0, callee + i * steps, steps, b"\x41" * (steps - 1))
    return elf([(TEXT, code)], [(".eh_frame", 1 << 30, bytes(data), 2)])


def go():
    """Go functions that have all of the text each, and share a long list of depths and a long name."""
    functions, steps = 40000, 400000
    names = b"\0" + b"f" * steps + b"\0"
    depths = b"\0" + b"\2\1" * steps + b"\0"
    at = [72]
    for part in (names, b"\0", depths):
        at.append(at[-1] + len(part))
    # struct pcHeader: magic, minLC, ptrSize, nfuncs, textStart and offsets
    table = bytearray(struct.pack("<IHBB8Q", 0xfffffff1, 0, 1, 8, functions, 0, TEXT, at[0], at[1], 0, at[2],
                                  at[3]))
    table += names + b"\0" + depths
    record = 8 * (functions + 1)
    for i in range(functions):
        table += struct.pack("<II", steps * (i % 2), record)
    table += struct.pack("<II", steps, 0) + struct.pack("<IIIII", 0, 1, 0, 0, 1) + bytes(44)
    return elf([(TEXT, b"\x90" * steps)], [(".gopclntab", 1 << 30, table, 2),
                                           (".go.buildinfo", 1 << 31, bytes(16), 2)])


def code(size):
    """The header of a section of code, for more_sections."""
    return lambda out, heads: struct.pack("<IIQQQQIIQQ", 0, 1, 6, TEXT, 4096, size, 0, 0, 1, 0)


def symbols():
    """20,000,000 symbols, in a part of the file that takes no room on disk."""
    size, note = 480 << 20, struct.pack("<III", 4, 4, 3) + b"GNU\0" + b"1234"

    def segments(out):
        at = len(out)
        out += note
        return struct.pack("<IIQQQQQQ", 4, 4, at, 0, 0, len(note), len(note), 4)

    def table(out, heads):
        return struct.pack("<IIQQQQIIQQ", 0, 2, 0, 0, 1 << 20, size, 0, 0, 8, 24)
    text = NOPS[:16] + b"\xc3" * 16
    made, cfi = elf([(TEXT, text)], [(".eh_frame", 1 << 30, ONE, 2)], [code(len(text)), table],
                    segments)
    return made, cfi, (1 << 20) + size


def names():
    """1,000,000 functions in code without CFI, whose names have 128 MiB each, without an end."""
    count, size = 1000000, 128 << 20
    text = NOPS[:16] + b"\xff\xd0\xeb\xfc" * 16
    symbol = struct.pack("<IBBHQQ", 1, 2, 0, 1, TEXT + 16, 4)

    def table(out, heads):
        at = len(out)
        out += symbol * count
        return struct.pack("<IIQQQQIIQQ", 0, 2, 0, 0, at, 24 * count, len(heads) + 2, 0, 8, 24)

    def strings(out, heads):
        at = len(out)
        out += b"x" * size
        return struct.pack("<IIQQQQIIQQ", 0, 3, 0, 0, at, size, 0, 0, 1, 0)
    return elf([(TEXT, text)], [(".eh_frame", 1 << 30, ONE, 2)], [code(len(text)), table, strings])


def far_calls():
    """16 MiB without CFI that call two functions 1 MiB apart by turns."""
    size, count = 1 << 20, (16 << 20) // 10
    text = bytearray(b"\xc3" * size)
    for to in (0, size - 4096) * count:
        text += b"\xe8" + struct.pack("<i", to - len(text) - 5)
    return elf([(TEXT, bytes(text))], [(".eh_frame", 1 << 30, CIE + fde(len(CIE), 0, TEXT, size), 2)],
               [code(len(text))])


def synth(body, size):
    """Code without CFI."""
    text = NOPS[:16] + body * (size // len(body))
    return elf([(TEXT, text)], [(".eh_frame", 1 << 30, ONE, 2)], [code(len(text))])


def returns():
    """16 MiB without CFI, of which each byte is a function."""
    return synth(b"\xc3", 16 << 20)


def pushes():
    """4 MiB without CFI, with another row for each byte."""
    return synth(b"\x53\x5b" * 9000 + b"\xc3", 4 << 20)


def plts():
    """4 MiB of a PLT without CFI, as lld writes it."""
    first = b"\xff\x35" + bytes(4) + b"\xff\x25" + bytes(4) + b"\x0f\x1f\x40\x00"
    text = NOPS[:16] + first + (b"\xff\x25" + bytes(4) + b"\x68" + bytes(4) + b"\xe9" + bytes(4)) * (1 << 18)
    return elf([(TEXT, text)], [(".eh_frame", 1 << 30, ONE, 2)], [code(len(text))])


KINDS = {f.__name__: f for f in (compressed, references, nested, expression, rows, cies, span, notes,
                                 small_notes, headers, sections, relocations, callees, go, symbols,
                                 names, far_calls, returns, pushes, plts)}

if __name__ == "__main__":
    made, cfi, *size = KINDS[sys.argv[1]]()
    with open(sys.argv[2], "wb") as file:
        file.write(made)
        file.truncate(*size or [len(made)])
    print(cfi)
