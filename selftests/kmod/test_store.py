#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""The store: tables hang on inodes, come, are replaced and go; which file is which; how much there may be."""
# timeout: 600
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../lib"))
import guest  # pylint: disable=wrong-import-position
from guest import add, check, known, refused  # pylint: disable=wrong-import-position

ONE, TWO = "/bin/true", "/bin/cat"
MIB = 1 << 20
MAPPED = """
import mmap, sys, time
files = [open(path, "rb") for path in sys.argv[1:]]
kept = [mmap.mmap(file.fileno(), 4096, mmap.MAP_PRIVATE, mmap.PROT_READ | mmap.PROT_EXEC) for file in files]
print("ready", flush=True)
time.sleep(1e6)"""


def mapped(*paths):
    """A process that has files mapped."""
    return guest.Work("/usr/bin/python3", "-c", MAPPED, *paths)


def copies(directory, nr, of=ONE):
    paths = [f"{directory}/{number}" for number in range(nr)]
    for path in paths:
        shutil.copy(of, path)
    return paths


def by_id(family, number):
    return family.do("file-get", id=number)


def table_comes_and_goes(family, directory):
    path, = copies(directory, 1)
    number = add(family, path)
    first, st = known(family, path), os.stat(path)
    check(first["id"] == number and first["loaded"] and first["name"] == path and first["uid"] == 0 and
          first["size"] == st.st_size and first["inode"] == st.st_ino and first["rows"] and first["identity"] and
          "mapped" not in first, "file-get tells a table with its file's name, size, inode and owner")
    check(number in [each["id"] for each in family.dump("file-get")],
          "a file with a table is among all files of file-get")
    time.sleep(0.3)
    check(add(family, path) == number and known(family, path)["idle_ms"] >= 300,
          "adding an equal table again keeps the file's id and idle time")
    with mapped(path):
        check(by_id(family, number).get("mapped"), "file-get tells that somebody has a file mapped")
    with guest.Work(*guest.PYTHON) as work:
        guest.add_mapped(family, work.pid)
        guest.take(work.pid, 20)
        own = known(family, "/usr/bin/python3")
        check(own["hits"] >= 20 and own["stop"], "samples in a file, and walks that end there, are counted")
        counted = {each["id"] for each in family.dump("file-get", counts=True)}
        check(own["id"] in counted and number not in counted, "file-get with counts has only files with counts")
        check(add(family, "/usr/bin/python3", ONE) == own["id"] and
              by_id(family, own["id"])["hits"] >= own["hits"] and
              by_id(family, own["id"])["rows"] == first["rows"],
              "another table of a file replaces the one before, and keeps id and counters")
    family.do("table-del", id=number)
    check(not known(family, path) and refused(2, "no such file", family.do, "table-del", id=number),
          "a file whose table was removed is unknown")
    check(add(family, path) != number, "a file that gets a table after its removal has another id")
    with open(path, "rb") as exe:
        family.do("table-add", exe_fd=exe)
    empty = known(family, path)
    check("loaded" not in empty and "rows" not in empty and "identity" not in empty,
          "a file can be added without a table")
    family.do("table-add", vdso=True)
    check(family.do("file-get", vdso=True)["name"] == "[vdso]", "the vDSO can be added without a table")


def without_a_table(family, directory):
    """What is known to have no table is no news, and frame pointers are gone by all the same."""
    guest.clear(family)
    own = shutil.copy(guest.PERL[0], directory)
    with guest.Work(own, *guest.PERL[1:]) as work:
        for path in {path for *_, path in guest.maps(work.pid) if path.startswith("/")}:
            with open(path, "rb") as exe:
                family.do("table-add", exe_fd=exe)
        seq, walks = family.do("info-get")["news"], family.do("info-get")["walks"]
        guest.take(work.pid, 100)
        check(not [each for each in family.dump("news-get", seq=seq) if each["pid"] == work.pid] and
              family.do("info-get")["walks"] == walks,
              "files added without a table are no news, and stacks in them are left to perf")
        with open(own, "rb") as exe:
            family.do("table-del", id=family.do("file-get", exe_fd=exe)["id"])
        guest.take(work.pid, 100)
        check([each for each in family.dump("news-get", seq=seq) if each["pid"] == work.pid],
              "files that were added without a table and removed are news again")


def which_file(family, directory):
    one, two = copies(directory, 2)
    number = add(family, one)
    os.link(one, directory + "/link")
    check(known(family, directory + "/link")["id"] == number, "a hard link to a file has the file's table")
    pin = os.open(one, os.O_PATH)
    check(family.do("file-get", exe_fd=pin)["id"] == number, "file-get takes a file that is open with O_PATH")
    with guest.table(ONE) as table:
        check(refused(9, "no such open file", family.do, "table-add", exe_fd=pin, table_fd=table),
              "table-add refuses a file that is open with O_PATH")
    os.close(pin)
    os.rename(one, directory + "/renamed")
    check(known(family, directory + "/renamed")["id"] == number, "a file that is renamed keeps its table")
    check(not known(family, two), "a copy of a file does not have its table")
    os.rename(two, directory + "/renamed")
    check(not known(family, directory + "/renamed"),
          "a file that is renamed over another does not have the other's table")
    with open(directory + "/link", "r+b") as file:
        os.truncate(file.fileno(), 8000)
    check(by_id(family, number)["size"] > 8000 and "written" in by_id(family, number),
          "a file that was truncated keeps its entry until it is replaced, and is known as written to")
    add(family, directory + "/link", ONE)
    check(by_id(family, number)["size"] == 8000 and "written" not in by_id(family, number),
          "a file that was truncated and added again has its new size")
    os.utime(directory + "/link")
    check("written" in by_id(family, number), "a file with another mtime is known as written to")
    add(family, directory + "/link", ONE)
    with mapped(directory + "/link") as work:
        os.unlink(directory + "/link")
        guest.put("/proc/sys/vm/drop_caches", "2")
        start, end = next((start, end) for start, end, *_, path in guest.maps(work.pid) if "/link" in path)
        with open(f"/proc/{work.pid}/map_files/{start:x}-{end:x}", "rb") as exe:
            check(family.do("file-get", exe_fd=exe)["id"] == number,
                  "a deleted file that is mapped has its table, by /proc/PID/map_files")
    check(guest.wait(lambda: number not in [each["id"] for each in family.dump("file-get")]),
          "the table of a deleted file is gone when nobody has it mapped")
    with guest.memfd(b"x" * 4096) as one, guest.memfd(b"x" * 4096) as two, guest.table(ONE) as table:
        number = family.do("table-add", exe_fd=one, table_fd=table)["id"]
        check("memfd:" in by_id(family, number)["name"] and refused(2, "does not know", family.do, "file-get", exe_fd=two),
              "a memfd with equal content does not have the table of another")
    check(guest.wait(lambda: number not in [each["id"] for each in family.dump("file-get")]),
          "the table of a memfd is gone when the memfd is closed")


def have(*modules, tools=()):
    """What is missing of these, or None."""
    for tool in tools:
        if not shutil.which(tool):
            return f"{tool} is not installed"
    for module in modules:
        if subprocess.run(["modprobe", "-d", os.environ.get("BEE_KERNEL_FILES", "/"), module], check=False,
                          stderr=subprocess.DEVNULL).returncode:
            return f"this kernel has no {module}"
    return None


class Mounted:
    """A file system for a while."""

    def __init__(self, directory, *mount):
        self.directory, self.mount = directory, mount

    def __enter__(self):
        os.makedirs(self.directory, exist_ok=True)
        subprocess.run(["mount", *self.mount, self.directory], check=True)
        return self.directory

    def __exit__(self, *_):
        subprocess.run(["umount", self.directory], check=True)


def inodes_end(family, directory):
    names = [f"{directory}/tmpfs{number}" for number in range(2)]
    with Mounted(names[0], "-t", "tmpfs", "tmpfs"), Mounted(names[1], "-t", "tmpfs", "tmpfs"):
        twins = [shutil.copy2(ONE, name) for name in names]
        ids = [add(family, twins[0])]
        check(os.stat(twins[0]).st_ino == os.stat(twins[1]).st_ino and not known(family, twins[1]),
              "files of two file systems with equal inode numbers, sizes and times are two")
        ids.append(add(family, twins[1], TWO))
    check(guest.wait(lambda: not {each["id"] for each in family.dump("file-get")} & set(ids)),
          "file systems are unmounted though files have tables, which go with them")
    # The kernel's files of the host: nobody keeps their inodes.
    path = next(path for path in ("/usr/bin/factor", "/usr/bin/tac", "/usr/bin/shuf") if os.path.exists(path))
    number = add(family, path, ONE)

    def evicted():
        guest.put("/proc/sys/vm/drop_caches", "2")
        return number not in [each["id"] for each in family.dump("file-get")]

    check(guest.wait(evicted) and not known(family, path),
          "a file whose inode is evicted is unknown when it is read again")


def layers(family, directory):
    name = "overlayfs: the open file is the overlay's, and the table hangs on the layer below, which is mapped"
    why = have("overlay")
    if why:
        guest.skip(name, why)
        return
    # The upper layer cannot be on an overlayfs, as the guest's / is.
    with Mounted(directory + "/layers", "-t", "tmpfs", "tmpfs") as layer:
        for part in ("lower", "upper", "work"):
            os.mkdir(f"{layer}/{part}")
        library = shutil.copy(f"{guest.TESTS}/deep_work", f"{layer}/lower/deep_work")
        with Mounted(directory + "/over", "-t", "overlay", "-o", f"lowerdir={layer}/lower,"
                     f"upperdir={layer}/upper,workdir={layer}/work", "overlay") as over:
            number = add(family, over + "/deep_work")
            with guest.Work(over + "/deep_work") as work:
                chains = guest.take(work.pid, 100)
                check(guest.complete(work.pid, chains) > 0.95 and known(family, library)["id"] == number and
                      known(family, over + "/deep_work")["id"] == number, name)
            os.utime(over + "/deep_work")
            check(not known(family, over + "/deep_work") and known(family, library)["id"] == number,
                  "overlayfs: a file that is copied up is another one")


def images(family, directory):
    """Files that look alike on one loop device, one image after the other."""
    name = "squashfs: the table of one image is not that of the next on the same device"
    why = have("squashfs", "loop", tools=("mksquashfs", "losetup"))
    if why:
        guest.skip(name, why)
        return
    for number, path in enumerate((f"{guest.TESTS}/twin64", f"{guest.TESTS}/twin448")):
        os.mkdir(f"{directory}/tree{number}")
        twin = shutil.copy(path, f"{directory}/tree{number}/twin")
        os.truncate(twin, 65536)
        os.utime(twin, (1, 1))
        guest.run("mksquashfs", f"{directory}/tree{number}", f"{directory}/image{number}", "-quiet", "-no-progress")
    loop = subprocess.run(["losetup", "-f"], check=True, stdout=subprocess.PIPE, text=True).stdout.strip()
    good, looks = True, []
    for turn in range(6):
        subprocess.run(["losetup", loop, f"{directory}/image{turn % 2}"], check=True)
        with Mounted(directory + "/squash", "-t", "squashfs", "-o", "ro", loop) as squash:
            twin = squash + "/twin"
            good &= not known(family, twin)
            add(family, twin, f"{guest.TESTS}/twin{(64, 448)[turn % 2]}")
            looks.append(tuple(os.stat(twin))[:2] + (known(family, twin)["device"],))
        subprocess.run(["losetup", "-d", loop], check=True)
    check(good and len(set(looks)) == 1, name)


def subvolumes(family, directory):
    """Two files that look alike, in two subvolumes."""
    name = "btrfs: files of two subvolumes that look alike are two"
    why = have("btrfs", "loop", tools=("mkfs.btrfs", "btrfs"))
    if why:
        guest.skip(name, why)
        return
    image = directory + "/btrfs.img"
    with open(image, "wb") as file:
        file.truncate(256 * MIB)
    guest.run("mkfs.btrfs", "-q", image)
    with Mounted(directory + "/btrfs", "-o", "loop", image) as btrfs:
        twins = []
        for number in range(2):
            guest.run("btrfs", "-q", "subvolume", "create", f"{btrfs}/{number}")
            twins.append(shutil.copy(ONE, f"{btrfs}/{number}/twin"))
            os.utime(twins[-1], (1, 1))
        number = add(family, twins[0])
        check(os.stat(twins[0]).st_ino == os.stat(twins[1]).st_ino and not known(family, twins[1]) and
              add(family, twins[1], TWO) != number and known(family, twins[0])["id"] == number, name)
        guest.run("btrfs", "-q", "subvolume", "snapshot", f"{btrfs}/0", f"{btrfs}/snapshot")
        check(not known(family, f"{btrfs}/snapshot/twin"), "btrfs: the file of a snapshot has a table of its own")
    guest.run("losetup", "-D")


def fill(family, paths, **more):
    """Give files tables until one is refused.  Return: the refusal, or None"""
    for path in paths:
        try:
            add(family, path, **more)
        except guest.ynl.Error as error:
            return error
    return None


def loaded(family, paths):
    return {path for path in paths if known(family, path)}


def budget(family, directory):
    """More tables than there is room for.  They are small: within ten seconds the guest has to add twenty."""
    guest.clear(family)
    before = family.do("info-get")
    paths = copies(directory, 60)
    add(family, paths[0])
    size = known(family, paths[0])["bytes"]
    family.do("table-del", id=known(family, paths[0])["id"])
    room = before["table_bytes"] + 20 * size
    family.do("config-set", budget=room)
    with mapped(*paths[:5]):
        error = fill(family, paths)
        kept = loaded(family, paths)
        check(not error and family.do("info-get")["table_bytes"] <= room and 5 < len(kept) < 30,
              "over the budget new tables displace others")
        check(set(paths[:5]) <= kept and paths[-1] in kept,
              "over the budget tables of files that nobody has mapped go first, the older first")
    for each in paths:
        if known(family, each):
            family.do("table-del", id=known(family, each)["id"])
    with mapped(*paths):
        error = fill(family, paths)
        check(error and error.errno == 28 and "over budget" in error.text,
              "over the budget tables mapped and used a moment ago stay, and the next is refused with why")
        if error:
            guest.note(error)
        kept = loaded(family, paths)
        check(refused(28, "bytes are in use", family.do, "config-set", budget=1) and loaded(family, paths) == kept,
              "a budget below the bytes in use is refused")
        check(kept == set(paths[:len(kept)]) and len(kept) >= 10, "a refused table displaces no other")

        def makes_room():
            try:
                return add(family, paths[-1])
            except guest.ynl.Error:
                return 0

        check(guest.wait(makes_room),
              "over the budget a table has room once mapped ones were not used for some seconds")
        check(paths[0] not in loaded(family, paths), "of mapped tables the one that was used longest ago is displaced")
    family.do("config-set", budget=before["budget"])


def share(family, directory):
    guest.clear(family)
    before = family.do("info-get")
    paths = copies(directory, 40)
    add(family, paths[0])
    size = known(family, paths[0])["bytes"]
    roots = loaded(family, paths)
    # A share of ten tables.
    family.do("config-set", budget=max(40 * size, before["table_bytes"] + 30 * size), share=25)
    most = family.do("info-get")["budget"] // 4
    with mapped(*paths):
        error = fill(family, paths[1:], uid=1000)
        kept = loaded(family, paths)
        check(error and error.errno == 122 and "user 1000 has" in error.text and
              sum(known(family, path)["bytes"] for path in kept - roots) <= most,
              "a user who has used up the share of the budget is refused the next table, with why")
        check(add(family, paths[30], uid=1001) and known(family, paths[30])["uid"] == 1001,
              "another user has a share when one has used up his")
        others = {path for path in paths[31:36] if add(family, path)}
        check(known(family, paths[31])["uid"] == 0, "root is not bound to a user's share of the budget")
    check(add(family, paths[38], uid=1000) and paths[38] in loaded(family, paths) and
          roots | others | {paths[30]} <= loaded(family, paths) and not kept - roots <= loaded(family, paths),
          "a user's new table displaces own old ones that nobody has mapped, and no other's")
    family.do("config-set", budget=before["budget"], share=before["share"])


def pressure(family, directory):
    paths = copies(directory, 6)
    for path in paths:
        add(family, path)
    with mapped(*paths[:3]):

        def dropped():
            guest.put("/proc/sys/vm/drop_caches", "2")
            return not set(paths[3:]) & loaded(family, paths)

        check(guest.wait(dropped) and set(paths[:3]) <= loaded(family, paths),
              "under memory pressure tables of files that nobody has mapped go, and no others")


def races(family, directory):
    """Tables come, go and are listed all at once, while walks use them and their files end."""
    failures = []
    end = threading.Event()

    def worker(number):
        own = guest.ynl.Family()
        paths = copies(f"{directory}", 1) if not number else []
        with guest.table(ONE) as one, guest.table(TWO) as two:
            while not end.is_set():
                try:
                    for each in (one, two):
                        for path in (guest.PERL[0], guest.TESTS + "/deep_work", *paths):
                            with open(path, "rb") as exe:
                                number = own.do("table-add", exe_fd=exe, table_fd=each)["id"]
                            own.dump("file-get")
                            own.do("file-get", id=number)
                            own.do("table-del", id=number)
                    for path in paths:
                        os.unlink(path)
                        shutil.copy(ONE, path)
                except guest.ynl.Error as error:
                    if error.errno != 2:    # another one has removed it
                        failures.append(error)

    with guest.Work(*guest.PERL) as work, guest.Work(guest.TESTS + "/deep_work") as deep, \
         guest.Samples(work.pid, 100_000, keep=False), guest.Samples(deep.pid, 100_000, keep=False):
        threads = [threading.Thread(target=worker, args=(number,)) for number in range(3)]
        start = family.do("info-get")["walks"]
        for thread in threads:
            thread.start()
        time.sleep(5)
        walked = guest.wait(lambda: family.do("info-get")["walks"] - start > 100)
        end.set()
        for thread in threads:
            thread.join()
        guest.note(*failures[:3])
        check(walked and not failures and work.process.poll() is None and deep.process.poll() is None,
              "walks go on while the tables that they use come and go")


def main():
    """Or only those tests that are named."""
    tests = [table_comes_and_goes, without_a_table, which_file, inodes_end, layers, images, subvolumes, budget,
             share, pressure, races]
    tests = [test for test in tests if test.__name__ in sys.argv[1:]] or tests
    with guest.Module() as family:
        for test in tests:
            with tempfile.TemporaryDirectory() as directory:
                test(family, directory)
        guest.clear(family)
        check(guest.is_empty(family), "no file or table is left after all tests of the store")
    guest.finish()


main()
