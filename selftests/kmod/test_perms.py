#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""What those may do and see who have neither CAP_PERFMON nor CAP_SYS_ADMIN in the initial user namespace."""
# once: 1
import json
import os
import re
import select
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../lib"))
import guest  # pylint: disable=wrong-import-position
from guest import check  # pylint: disable=wrong-import-position

NOBODY = "setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"
PERFMON = *NOBODY, "--ambient-caps", "+perfmon", "--inh-caps", "+perfmon"
REQUESTS = ("info-get", {}), ("table-add", {"vdso": True}), ("table-del", {"id": 1}), ("file-get", {"vdso": True}), \
           ("code-update", {"pid": 1}), ("stats-get", {}), ("config-set", {"hook": 1})
DUMPS = "file-get", "code-get", "proc-get", "news-get"


def asked():
    """Of a process of its own: what comes of each request, as JSON."""
    try:
        family = guest.ynl.Family()
    except guest.ynl.Error as error:
        print(json.dumps({"family": [error.errno, error.text]}))
        return

    def outcome(request, *arguments, **values):
        try:
            request(*arguments, **values)
        except guest.ynl.Error as error:
            return [error.errno, error.text]
        except PermissionError as error:
            return [error.errno, ""]
        return [0, ""]

    answers = {name: outcome(family.do, name, **values) for name, values in REQUESTS}
    answers |= {"dump " + name: outcome(family.dump, name) for name in DUMPS}
    answers["listen"] = outcome(family.listen)
    budget, share = sys.argv[2:4]
    answers["lower"] = outcome(family.do, "config-set", budget=int(budget) - 1, share=int(share) - 1)
    answers["raise budget"] = outcome(family.do, "config-set", budget=int(budget))
    answers["raise share"] = outcome(family.do, "config-set", share=int(share))
    print(json.dumps(answers))


def answers_of(family, *command):
    info = family.do("info-get")
    said = subprocess.run([*command, sys.executable, os.path.realpath(__file__), "ask", str(info["budget"]),
                           str(info["share"])], stdout=subprocess.PIPE, check=True).stdout
    family.do("config-set", budget=info["budget"], share=info["share"])
    return json.loads(said)


def is_denied(answers):
    for name, (errno, text) in answers.items():
        if name != "listen" and (errno != 1 or text != "needs CAP_PERFMON or CAP_SYS_ADMIN"):
            guest.note(name, errno, text)
            return False
    return answers["listen"][0] == 1 and len(answers) == len(REQUESTS) + len(DUMPS) + 4


def requests(family):
    check(is_denied(answers_of(family, *NOBODY)), "the user nobody may send no request")
    check(is_denied(answers_of(family, *NOBODY, "unshare", "-Ur")), "root of a user namespace may send no request")
    check(is_denied(answers_of(family, "setpriv", "--bounding-set", "-perfmon,-sys_admin",
                               "--inh-caps", "-perfmon,-sys_admin")),
          "root without CAP_PERFMON and CAP_SYS_ADMIN may send no request")
    for name, command in ("root of a user and network namespace", (*NOBODY, "unshare", "-Urn")), \
                         ("root in a network namespace", ("unshare", "-n")):
        answers = answers_of(family, *command)
        check(list(answers) == ["family"] and answers["family"][0] == 2, f"{name} does not see the family")
    answers = answers_of(family, *PERFMON)
    guest.note(answers)
    check(not any("CAP_" in text for name, (_, text) in answers.items() if not name.startswith("raise")) and
          answers["lower"][0] == 0 and answers["info-get"][0] == 0, "a user with CAP_PERFMON may send all requests")
    check(answers["listen"][0] == 1, "a user with CAP_PERFMON may not listen for news")
    check(all(answers[f"raise {what}"] == [1, "to raise a limit needs CAP_SYS_ADMIN"] for what in ("budget", "share")),
          "a user with CAP_PERFMON may not raise budget and share")
    check(not any(errno for name, (errno, _) in answers_of(family).items() if name.startswith(("raise", "listen"))),
          "root may raise budget and share, and listen for news")


def kernel_log():
    return subprocess.run(["dmesg"], check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()


def readable(family, before):
    """Nothing that nobody can read has an address, a path, or a name of a process."""
    secret = re.compile(r"ffff[0-9a-f]{12}|0x0*[1-9a-f][0-9a-f]{8,}|/bin/|/lib/|deep_work")
    guest.put("/proc/sys/kernel/kptr_restrict", "1")
    with guest.Work(f"{guest.TESTS}/deep_work") as work:
        guest.add(family, f"{guest.TESTS}/deep_work")
        guest.take(work.pid, 20)
        said = subprocess.run([*NOBODY, "sh", "-c", "find /sys/module/beeunwind -type f -readable -exec cat {} +; "
                               "grep beeunwind /proc/modules /proc/kallsyms"], check=False, stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, text=True, errors="replace").stdout
        check(said and not secret.search(said),
              "files in /sys and /proc that anybody can read have no address, path or process")
    guest.put("/proc/sys/kernel/kptr_restrict", "0")
    ours = [line for line in kernel_log() if "beeunwind" in line and line not in before]
    guest.note(*ours)
    check(not any(secret.search(line) or str(work.pid) in line.split() for line in ours),
          "the module's messages in the kernel's log have no address, path or process")


EARLY = """
import os, select, socket, sys
groups = [socket.socket(16, socket.SOCK_RAW, 16) for _ in range(64)]
for number, each in enumerate(groups, 1):
    each.bind((0, 0))
    try: each.setsockopt(270, 1, number)
    except OSError: pass
print("ready", flush=True)
while True:
    for each in select.select(groups, [], [])[0]:
        data = each.recv(65536)
        print(data.hex(), flush=True)"""


def early():
    """Who joins the number of the group before the module has it: the kernel lets that pass."""
    with guest.Work(*NOBODY, "/usr/bin/python3", "-c", EARLY) as spy, guest.Module() as family:
        with guest.Work(f"{guest.TESTS}/deep_work") as work, family.listen() as listener:
            guest.take(work.pid, 50)
            select.select([listener], [], [], guest.PATIENCE)
        guest.wait(lambda: not os.path.exists(f"/proc/{work.pid}"))
        spy.kill()
        messages = [bytes.fromhex(line) for line in spy.process.stdout.read().split()]
    told = [family.decode("news-item", each[20:]) for each in messages
            if each[4:6] == family.number.to_bytes(2, sys.byteorder)]
    guest.note(*told)
    check(all(list(each) == ["seq"] for each in told),
          "a user who joined the group's number before the module came learns numbers only")


def main():
    if sys.argv[1:2] == ["ask"]:
        asked()
        return
    before = set(kernel_log())
    with guest.Module() as family:
        requests(family)
        readable(family, before)
    early()
    guest.finish()


main()
