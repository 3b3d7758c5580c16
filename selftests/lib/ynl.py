# SPDX-License-Identifier: GPL-2.0
"""Requests to the module, by the names that the spec of its protocol has.

	family = ynl.Family()
	family.do("table-add", exe_fd=file, table_fd=memfd)["id"]
	for file in family.dump("file-get"): ...

Attributes that may come more than once are lists of dictionaries.
"""
import os
import socket
import struct

import yaml

SPEC = os.path.join(os.path.dirname(os.path.abspath(__file__)),
                    "../../Documentation/netlink/specs/beeunwind.yaml")
NETLINK_GENERIC, SOL_NETLINK = 16, 270
NLM_F_REQUEST, NLM_F_ACK, NLM_F_DUMP = 1, 4, 0x300
NLMSG_ERROR, NLMSG_DONE = 2, 3
NUMBERS = {"u32": "I", "s32": "i", "u64": "Q"}


class Error(Exception):
    """A refusal; errno, and text: its sentence or ""."""

    def __init__(self, errno, text):
        super().__init__(f"{os.strerror(errno)}: {text}")
        self.errno, self.text = errno, text


def attr(number, data):
    data = struct.pack("=HH", 4 + len(data), number) + data
    return data + bytes(-len(data) % 4)


def attrs(data):
    while len(data) >= 4:
        length, number = struct.unpack_from("=HH", data)
        yield number & 0x3fff, data[4:length]
        data = data[(length + 3) & ~3:]


class Family:
    def __init__(self):
        with open(SPEC, encoding="utf-8") as file:
            # The one in C, if there is one: an emulated machine parses for seconds.
            spec = yaml.load(file, getattr(yaml, "CSafeLoader", yaml.SafeLoader))
        # Why walks end, each at the place of its number.
        self.reasons = [each["name"] for each in spec["definitions"][0]["entries"]]
        self.sets = {each["name"]: {each["name"]: (number, each) for number, each
                                    in enumerate(each["attributes"], 1)}
                     for each in spec["attribute-sets"]}
        self.operations = {each["name"]: (number, each["attribute-set"])
                           for number, each in enumerate(spec["operations"]["list"], 1)}
        self.socket = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, NETLINK_GENERIC)
        # Sentences of refusals; requests are not sent back with them.
        self.socket.setsockopt(SOL_NETLINK, 10, 1)
        self.socket.setsockopt(SOL_NETLINK, 11, 1)
        self.seq = 0
        reply = self.exchange(16, 3, attr(2, spec["name"].encode() + b"\0"), NLM_F_ACK)
        controller = dict(attrs(reply[0]))
        self.number, = struct.unpack("=H", controller[1])
        group = dict(attrs(next(data for _, data in attrs(controller[7]))))
        self.group, = struct.unpack("=I", group[2])

    def exchange(self, family, command, payload, flags):
        """The attributes of each message of the answer."""
        self.seq += 1
        message = struct.pack("=BBH", command, 2, 0) + payload
        self.socket.send(struct.pack("=IHHII", 16 + len(message), family, NLM_F_REQUEST | flags,
                                     self.seq, 0) + message)
        answer = []
        while True:
            data = self.socket.recv(1 << 20)
            while data:
                length, kind, nlflags, seq, _ = struct.unpack_from("=IHHII", data)
                body, data = data[16:length], data[(length + 3) & ~3:]
                if seq != self.seq:
                    continue
                if kind not in (NLMSG_ERROR, NLMSG_DONE):
                    answer.append(body[4:])
                    continue
                error, = struct.unpack_from("=i", body)
                if not error:
                    return answer
                rest = body[4 if kind == NLMSG_DONE else 20:]
                text = dict(attrs(rest)).get(1, b"") if nlflags & 0x200 else b""
                raise Error(-error, text.rstrip(b"\0").decode())

    def encode(self, name, values):
        out = b""
        for key, value in values.items():
            number, spec = self.sets[name][key.replace("_", "-")]
            if spec["type"] == "nest":
                for each in value:
                    out += attr(number | 0x8000, self.encode(spec["nested-attributes"], each))
            elif spec["type"] == "flag":
                out += attr(number, b"") if value else b""
            elif spec["type"] == "string":
                out += attr(number, os.fsencode(value) + b"\0")
            elif spec["type"] == "binary":
                out += attr(number, value)
            else:
                out += attr(number, struct.pack("=" + NUMBERS[spec["type"]],
                                                getattr(value, "fileno", lambda: value)()))
        return out

    def decode(self, name, data):
        specs = {number: spec for number, spec in self.sets[name].values()}
        out = {}
        for number, value in attrs(data):
            spec = specs[number]
            key = spec["name"].replace("-", "_")
            if spec["type"] == "nest":
                out.setdefault(key, []).append(self.decode(spec["nested-attributes"], value))
            elif spec["type"] == "flag":
                out[key] = True
            elif spec["type"] == "string":
                out[key] = os.fsdecode(value.rstrip(b"\0"))   # names are any bytes
            elif spec["type"] in NUMBERS:
                out[key], = struct.unpack("=" + NUMBERS[spec["type"]], value)
            elif spec["type"] != "pad":
                out[key] = value
        return out

    def ask(self, operation, values, flags):
        number, name = self.operations[operation]
        return [self.decode(name, each) for each in
                self.exchange(self.number, number, self.encode(name, values), flags)]

    def do(self, operation, **values):
        return (self.ask(operation, values, NLM_F_ACK) or [{}])[0]

    def dump(self, operation, **values):
        return self.ask(operation, values, NLM_F_DUMP)

    def listen(self):
        """A socket that gets a message when there is news."""
        listener = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, NETLINK_GENERIC)
        # Without a number of its own a socket gets none of the kernel's messages.
        listener.bind((0, 0))
        listener.setsockopt(SOL_NETLINK, 1, self.group)
        return listener
