# SPDX-License-Identifier: GPL-2.0
"""Write perf.data as perf record does: events, threads, mappings, samples with callchains."""
import struct

ATTR_SIZE = 136
# IP, TID, TIME, PERIOD, IDENTIFIER
SAMPLE_TYPE = 1 | 2 | 4 | 256 | 1 << 16
SAMPLE_CALLCHAIN = 32
SAMPLE_RAW = 1024
USER, KERNEL, DEFERRED = (1 << 64) - 512, (1 << 64) - 128, (1 << 64) - 640


def text(string, align=8):
    data = (string if isinstance(string, bytes) else string.encode()) + b"\0"
    return data + b"\0" * (-len(data) % align)


class Recording:
    """Records in the order of their times."""

    def __init__(self, events=1, chains=True, name=None):
        """name: of a tracepoint, whose samples have raw data"""
        self.events = events
        self.chains = chains
        self.name = name
        self.records = []
        self.time = 1
        self.cmdline = []

    def add(self, kind, misc, body, pid=None):
        self.time += 1
        if pid is not None:
            body += struct.pack("<IIQQ", pid, pid, self.time, 1)
        self.records.append(struct.pack("<IHH", kind, misc, 8 + len(body)) + body)

    def comm(self, pid, name):
        self.add(3, 0, struct.pack("<II", pid, pid) + text(name), pid)

    def fork(self, parent, pid, tid=None, found=False):
        """a new process, or thread @tid of @parent; found: perf has found it running"""
        self.add(7, 1 << 13 if found else 0, struct.pack("<IIIIQ", pid, parent, tid or pid, parent, 0), pid)

    def exit(self, pid, tid=None):
        self.add(4, 0, struct.pack("<IIIIQ", pid, 1, tid or pid, 1, 0), pid)

    def map(self, pid, start, size, path, offset=0, build_id=b"", inode=0, generation=0, dev=(0, 0)):
        body = struct.pack("<IIQQQ", pid, pid, start, size, offset)
        if build_id:
            body += struct.pack("<BxH", len(build_id), 0) + build_id.ljust(20, b"\0")
        else:
            body += struct.pack("<IIQQ", *dev, inode, generation)
        self.add(10, 2 | (1 << 14 if build_id else 0), body + struct.pack("<II", 5, 2) + text(path), pid)

    def build_id(self, path, build_id):
        """what perf says of a file at the end"""
        name = text(path)
        self.records.append(struct.pack("<IHHI20sB3x", 67, 1 << 15, 36 + len(name), 0xffffffff, build_id, len(build_id)) + name)

    def kernel(self, symbol, address):
        """where the kernel is, as perf says it: by a symbol"""
        self.add(1, 1, struct.pack("<IIQQQ", 0xffffffff, 0, address, 1 << 30, address) +
                 text("[kernel.kallsyms]" + symbol), 0)

    def kernel_symbol(self, name, address, size, gone=False):
        """a BPF program, or other code that the kernel has made; gone: not any more"""
        self.add(17, 0, struct.pack("<QIHH", address, size, 1, gone) + text(name), 0)

    def sample(self, pid, chain, event=1, period=1, raw=b""):
        """chain: ips and USER or KERNEL, the innermost first"""
        self.time += 1
        body = struct.pack("<QQIIQQ", event, chain[1], pid, pid, self.time, period)
        if self.chains:
            body += struct.pack(f"<{len(chain) + 1}Q", len(chain), *chain)
        if self.name:
            body += struct.pack("<I", len(raw)) + raw
        self.records.append(struct.pack("<IHH", 9, 2, 8 + len(body)) + body)

    def switch(self, pid, chain, to):
        """a sample of sched:sched_switch: thread @pid stops, and @to runs"""
        self.sample(pid, chain, raw=struct.pack("<8x16siiq16sii4x", b"", pid, 120, 1, b"", to, 120))

    def switched(self, pid, out=False):
        """PERF_RECORD_SWITCH: thread @pid runs again; out: stops"""
        self.add(14, 1 << 13 if out else 0, b"", pid)

    def user_stack(self, pid, cookie, chain):
        """the rest of samples whose chains end with DEFERRED and this cookie"""
        self.add(22, 2, struct.pack("<QQ", cookie, len(chain)) + b"".join(struct.pack("<Q", ip) for ip in chain), pid)

    def round(self):
        self.records.append(struct.pack("<IHH", 68, 0, 8))

    def attr(self):
        flags = 1 << 18 | 1 << 38    # sample_id_all, defer_callchain
        attr = struct.pack("<IIQQQQQ", 1, ATTR_SIZE, 0, 1,
                           SAMPLE_TYPE | SAMPLE_CALLCHAIN * self.chains | SAMPLE_RAW * bool(self.name), 0, flags)
        return attr.ljust(ATTR_SIZE, b"\0")

    def pipe_header(self):
        """what stands before the records in perf's pipe; with one event"""
        return b"PERFILE2" + struct.pack("<QIHH", 16, 64, 0, 8 + ATTR_SIZE + 8) + self.attr() + struct.pack("<Q", 1)

    def write(self, path):
        attr = self.attr()
        attrs, ids = self.events * (ATTR_SIZE + 16), 8 * self.events
        start = 104 + attrs + ids
        size = sum(map(len, self.records))
        words = b"".join(struct.pack("<I", len(text(word))) + text(word) for word in self.cmdline)
        name = text(self.name or "")
        parts = {}
        if words:
            parts[11] = struct.pack("<I", len(self.cmdline)) + words    # HEADER_CMDLINE
        if self.name:
            parts[12] = struct.pack("<II", self.events, ATTR_SIZE)      # HEADER_EVENT_DESC
            for event in range(self.events):
                parts[12] += attr + struct.pack("<II", 1, len(name)) + name + struct.pack("<Q", event + 1)
        with open(path, "wb") as file:
            file.write(b"PERFILE2" + struct.pack("<QQQQQQ", 104, ATTR_SIZE + 16, 104, attrs, start, size) + b"\0" * 16 +
                       struct.pack("<Q", sum(1 << part for part in parts)) + b"\0" * 24)
            for event in range(self.events):
                file.write(attr + struct.pack("<QQ", 104 + attrs + 8 * event, 8))
            file.write(struct.pack(f"<{self.events}Q", *range(1, self.events + 1)))
            file.writelines(self.records)
            at = start + size + 16 * len(parts)
            for part in parts.values():
                file.write(struct.pack("<QQ", at, len(part)))
                at += len(part)
            file.writelines(parts.values())
