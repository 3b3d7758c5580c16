// SPDX-License-Identifier: GPL-2.0
/* Files and their tables: identity of files, tables that come late or go, messages about files. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "guest.h"
#include "kselftest.h"
#include "events.h"

#define LIB	"/lib/x86_64-linux-gnu/libcrypt.so.1"
#define DIR	"/tmp/file_test"
#define ONE	DIR "/one.so"
#define TWO	DIR "/two.so"

static struct guest g;

static void copy_file(const char *from, const char *to)
{
	char command[256];

	snprintf(command, sizeof(command), "cp -L %s %s", from, to);
	if (system(command))
		guest_die("cp", to);
}

static void *map_fd(int fd)
{
	return mmap(NULL, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
}

static void *map_path(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	void *p = map_fd(fd);

	close(fd);
	if (p == MAP_FAILED)
		guest_die(path, strerror(errno));
	return p;
}

/* The id of the file that a process has mapped at an address, or 0. */
static uint32_t file_at(pid_t pid, const void *p)
{
	struct netlink_proc proc;
	uint32_t id = 0;
	size_t i;

	guest_get_proc(&g, pid, &proc);
	for (i = 0; i < proc.ranges.count; i++)
		if (proc.ranges.range[i].start <= (uintptr_t)p &&
		    (uintptr_t)p < proc.ranges.range[i].end)
			id = proc.ranges.range[i].file;
	ranges_free(&proc.ranges);
	return id;
}

static uint32_t own_file_at(const void *p)
{
	return file_at(getpid(), p);
}

static struct netlink_file table_of(uint32_t id)
{
	struct netlink_file t;

	guest_get_table(&g, id, &t);
	return t;
}

/* Tables that are added to files already mapped, and deleted */

static void map_it(void *arg)
{
	*(void **)arg = map_path(ONE);
}

static void test_late_table(void)
{
	void **where = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int table = guest_table_fd(ONE), exe = open(ONE, O_RDONLY | O_CLOEXEC);
	uint32_t id, again = 0;
	struct netlink_file t;
	pid_t pid[3];
	bool same = true;
	int i;

	for (i = 0; i < 3; i++)
		pid[i] = guest_spawn(map_it, &where[i]);
	id = file_at(pid[0], where[0]);
	for (i = 0; i < 3; i++)
		same = same && file_at(pid[i], where[i]) == id;
	t = table_of(id);
	ksft_test_result(id && same && !t.loaded && t.users == 3 && strstr(t.name, "/one.so"),
			 "three processes map a file without a table\n");
	ksft_test_result(!netlink_table_set(g.nl, table, id, &g.error) && table_of(id).loaded &&
			 file_at(pid[2], where[2]) == id && table_of(id).users == 3,
			 "its table serves them all at once\n");
	ksft_test_result(netlink_table_del(g.nl, id, false, &g.error) && g.error.code == EBUSY &&
			 strstr(g.error.text, "3 mappings") && table_of(id).loaded,
			 "it is not deleted while they use it\n");
	ksft_test_result(!netlink_table_del(g.nl, id, true, &g.error) && !table_of(id).loaded &&
			 file_at(pid[1], where[1]) == id && table_of(id).users == 3,
			 "unless by force; then they have the file without it\n");
	ksft_test_result(!netlink_table_add(g.nl, table, exe, &again, &g.error) && again == id &&
			 table_of(id).loaded,
			 "the file that is opened is the file that is mapped\n");
	for (i = 0; i < 3; i++)
		guest_reap(pid[i]);
	t = table_of(id);
	ksft_test_result(t.loaded && !t.users, "the table stays when they are gone\n");
	ksft_test_result(!netlink_table_del(g.nl, id, false, &g.error) && !table_of(id).id,
			 "the file goes with its table\n");
	close(table);
	close(exe);
	munmap(where, PAGE);
}

/* Which file is which */

static void test_bind_mount(void)
{
	void *p, *q;

	mkdir(DIR "/bind", 0700);
	if (mount(DIR, DIR "/bind", NULL, MS_BIND, NULL)) {
		ksft_test_result_skip("bind mount # SKIP %s\n", strerror(errno));
		return;
	}
	p = map_path(ONE);
	q = map_path(DIR "/bind/one.so");
	ksft_test_result(own_file_at(p) && own_file_at(p) == own_file_at(q),
			 "a file has one entry, whichever mount it is mapped from\n");
	munmap(p, PAGE);
	munmap(q, PAGE);
	umount(DIR "/bind");
}

/* The guest's root is an overlayfs: a mapping has another inode than the one that stat() shows. */
static void test_overlay(void)
{
	void *p = map_path(LIB), *q;
	int table = guest_table_fd(LIB), exe = open(LIB, O_RDONLY | O_CLOEXEC);
	uint32_t id = 0;

	ksft_test_result(!netlink_table_add(g.nl, table, exe, &id, &g.error) &&
			 id == own_file_at(p), "overlayfs is looked through\n");
	q = map_path(LIB);
	ksft_test_result(own_file_at(q) == id, "also by mappings that come later\n");
	munmap(p, PAGE);
	munmap(q, PAGE);
	netlink_table_del(g.nl, id, false, &g.error);
	close(table);
	close(exe);
}

static void test_memfd(void)
{
	int a = memfd_create("a", MFD_CLOEXEC), b = memfd_create("b", MFD_CLOEXEC);
	void *p, *q, *r;

	if (ftruncate(a, PAGE) || ftruncate(b, PAGE))
		guest_die("memfd", strerror(errno));
	p = map_fd(a);
	q = map_fd(b);
	r = map_fd(a);
	ksft_test_result(own_file_at(p) && own_file_at(p) == own_file_at(r) &&
			 own_file_at(q) && own_file_at(q) != own_file_at(p),
			 "memfds are files, each its own\n");
	munmap(p, PAGE);
	munmap(q, PAGE);
	munmap(r, PAGE);
	close(a);
	close(b);
}

/* A new link changes ctime; perf record makes one of each file in its build-id cache. */
static void test_linked(void)
{
	void *p = map_path(ONE), *q;

	guest_next_tick();
	if (link(ONE, TWO))
		guest_die("link", strerror(errno));
	q = map_path(ONE);
	ksft_test_result(own_file_at(p) && own_file_at(q) == own_file_at(p),
			 "a file that gets another name is the same\n");
	munmap(p, PAGE);
	munmap(q, PAGE);
	unlink(TWO);
}

/* The file is written to in place while it is mapped. */
static void test_written(void)
{
	void *p = map_path(ONE), *q;
	int fd = open(ONE, O_WRONLY | O_CLOEXEC);
	uint32_t id = own_file_at(p);

	guest_next_tick();
	if (pwrite(fd, "\177", 1, 0) != 1)
		guest_die("write", strerror(errno));
	close(fd);
	mprotect(p, PAGE, PROT_READ);
	mprotect(p, PAGE, PROT_READ | PROT_EXEC);
	guest_add(&g, getpid());
	ksft_test_result(id && own_file_at(p) == id,
			 "a mapping keeps its file when that is written to\n");
	q = map_path(ONE);
	ksft_test_result(own_file_at(p) && own_file_at(q) && own_file_at(q) != own_file_at(p),
			 "a file that is written to is another\n");
	munmap(p, PAGE);
	munmap(q, PAGE);
}

#define VERSIONS	40

/*
 * The file is written to again and again, and each version mapped.  The module knows the latest of an
 * inode's files only (INODE_FILES_MAX), and an old mapping that is reported again has that one.
 */
static void test_written_often(void)
{
	static uint32_t ids[VERSIONS];
	static void *map[VERSIONS];
	int fd = open(ONE, O_WRONLY | O_CLOEXEC), i, j;
	struct timespec times[2] = { { .tv_nsec = UTIME_OMIT } };
	bool ok = fd >= 0;

	for (i = 0; ok && i < VERSIONS; i++) {
		times[1].tv_sec = 1000 + i;
		ok = !futimens(fd, times);
		map[i] = map_path(ONE);
		ids[i] = own_file_at(map[i]);
		for (j = 0; j < i; j++)
			ok = ok && ids[j] && ids[j] != ids[i];
	}
	ksft_test_result(ok && own_file_at(map[0]) == ids[0],
			 "each of %d versions of a file is another\n", VERSIONS);
	for (i = 0; i < VERSIONS; i++) {
		mprotect(map[i], PAGE, PROT_READ);
		mprotect(map[i], PAGE, PROT_READ | PROT_EXEC);
	}
	ksft_test_result(own_file_at(map[0]) == ids[VERSIONS - 1] &&
			 own_file_at(map[VERSIONS - 2]) == ids[VERSIONS - 2],
			 "an inode's latest versions are known, and taken for older ones\n");
	for (i = 0; i < VERSIONS; i++)
		munmap(map[i], PAGE);
	close(fd);
}

/* The file is replaced by rename(), as package managers do. */
static void test_replaced(void)
{
	void *p = map_path(ONE), *q;
	uint32_t id = own_file_at(p);

	copy_file(LIB, TWO);
	if (rename(TWO, ONE))
		guest_die("rename", strerror(errno));
	q = map_path(ONE);
	ksft_test_result(own_file_at(p) == id && own_file_at(q) && own_file_at(q) != id,
			 "a file of the same name that replaces it is another\n");
	munmap(p, PAGE);
	munmap(q, PAGE);
}

static void test_deleted(void)
{
	char *p = map_path(ONE), path[96];
	uint32_t id = own_file_at(p);
	int table, fd;

	unlink(ONE);
	mprotect(p, PAGE, PROT_READ);
	mprotect(p, PAGE, PROT_READ | PROT_EXEC);
	ksft_test_result(own_file_at(p) == id, "a file that is deleted while mapped is the same\n");
	snprintf(path, sizeof(path), "/proc/self/map_files/%lx-%lx", (uintptr_t)p,
		 (uintptr_t)p + PAGE);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	table = guest_table_fd(path);
	ksft_test_result(fd >= 0 && !netlink_table_set(g.nl, table, id, &g.error) &&
			 table_of(id).loaded, "and can be given its table\n");
	guest_add(&g, getpid());
	ksft_test_result(own_file_at(p) == id, "a new look does not take it for another\n");
	munmap(p, PAGE);
	netlink_table_del(g.nl, id, false, &g.error);
	close(table);
	close(fd);
}

/* A write in place keeps the inode, but what is mapped after it is another file to the module. */
static void test_rewritten(void)
{
	uint32_t id, before, after;
	void *p, *q;
	int fd;

	copy_file(LIB, ONE);
	p = map_path(ONE);
	id = own_file_at(p);
	munmap(p, PAGE);
	p = map_path(ONE);
	/* With PREEMPT_RT it is looked up by a worker, or now. */
	before = own_file_at(p);
	fd = open(ONE, O_WRONLY | O_CLOEXEC);
	guest_next_tick();
	if (pwrite(fd, "x", 1, 8192) != 1)
		guest_die("pwrite", strerror(errno));
	close(fd);
	q = map_path(ONE);
	after = own_file_at(q);
	ksft_print_msg("file %u at first, %u before the write, %u after it\n", id, before, after);
	ksft_test_result(id && before && after && after != before,
			 "a file that is written to is another from then on\n");
	munmap(p, PAGE);
	munmap(q, PAGE);
}

static void *library_base(void *lib)
{
	void **link_map = lib;	/* its first member is l_addr */

	return *link_map;
}

static void test_dlopen_at_same_address(void)
{
	void *lib, *first, *second;
	uint32_t one, two;

	copy_file(LIB, ONE);
	copy_file(LIB, TWO);
	lib = dlopen(ONE, RTLD_NOW);
	first = library_base(lib);
	one = own_file_at((char *)dlsym(lib, "crypt_r"));
	dlclose(lib);
	lib = dlopen(TWO, RTLD_NOW);
	second = library_base(lib);
	two = own_file_at((char *)dlsym(lib, "crypt_r"));
	if (first != second)
		ksft_test_result_skip("dlclose and dlopen of another library at the same address "
				      "# SKIP it came to another\n");
	else
		ksft_test_result(one && two && one != two && strstr(table_of(two).name, "/two.so"),
				 "dlclose and dlopen of another library at the same address\n");
	dlclose(lib);
	ksft_test_result(!table_of(one).id && !table_of(two).id,
			 "files without a table go with their last mapping\n");
}

static void test_vdso(void)
{
	int table = guest_table_fd("/bin/true");	/* any table will do */
	struct netlink_proc proc;
	uint32_t id = 0;
	bool found = false;
	size_t i;

	if (netlink_table_add(g.nl, table, NETLINK_VDSO, &id, &g.error))
		guest_die("vdso", g.error.text);
	guest_get_proc(&g, getpid(), &proc);
	for (i = 0; i < proc.ranges.count; i++)
		found |= proc.ranges.range[i].file == id;
	ksft_test_result(found && !strcmp(table_of(id).name, "[vdso]"), "the vDSO can be named\n");
	ranges_free(&proc.ranges);
	netlink_table_del(g.nl, id, true, &g.error);
	close(table);
}

/* Messages about files (announce=sampled) */

/* Code in a file (a memfd) that can have no table: mov $n, %ecx; 1: dec %ecx; jnz 1b; ret */
static void *map_spinner(void)
{
	static const uint8_t code[] = { 0xb9, 0, 0, 0, 2, 0xff, 0xc9, 0x75, 0xfc, 0xc3 };
	int fd = memfd_create("spinner", MFD_CLOEXEC);
	void *p;

	if (write(fd, code, sizeof(code)) != sizeof(code) || ftruncate(fd, PAGE))
		guest_die("memfd", strerror(errno));
	p = map_fd(fd);
	close(fd);
	return p;
}

/*
 * Count messages about a file until so many have come, and then no other for half a second; the last
 * goes to @last.
 */
static int count_events(struct netlink_events *events, uint32_t file, int wanted,
			struct netlink_file *last)
{
	struct pollfd fd = { .fd = netlink_events_fd(events), .events = POLLIN };
	const long deadline = guest_deadline();
	struct netlink_file t;
	int count = 0;

	while (poll(&fd, 1, 500) > 0 || (count < wanted && guest_waits(deadline)))
		while (netlink_events_next(events, &t) != NETLINK_EVENT_NONE)
			if (t.id == file) {
				*last = t;
				count++;
			}
	return count;
}

static void test_sampled(void)
{
	struct netlink_events *events = netlink_events_open(&g.error);
	int failed = netlink_config_set(g.nl, BEEUNWIND_A_CONFIG_ANNOUNCE,
					BEEUNWIND_ANNOUNCE_SAMPLED, &g.error);
	int sampler;
	void *code = map_spinner();
	void (*spin)(void) = (void (*)(void))code;
	uint32_t id = own_file_at(code);
	struct netlink_file t = {}, seen;

	if (failed)
		guest_die("announce", g.error.text);
	sampler = guest_sampler_open(0, 500000, 0);
	ksft_test_result(!count_events(events, id, 0, &t), "what is mapped only is no news\n");
	spin();
	ksft_test_result(count_events(events, id, 1, &t) == 1 && t.pid == (uint32_t)getpid() &&
			 t.start == (uintptr_t)code && t.end == (uintptr_t)code + PAGE &&
			 strstr(t.name, "spinner"), "the first sample in it is\n");
	seen = table_of(id);
	ksft_test_result(seen.hits && seen.missed && seen.pid == t.pid && !seen.loaded,
			 "it counts its samples and misses\n");
	spin();
	ksft_test_result(!count_events(events, id, 0, &t) && table_of(id).missed > seen.missed,
			 "the next ones are not\n");
	close(sampler);
	munmap(code, PAGE);
	netlink_events_close(events);
}

int main(void)
{
	struct netlink_info start, end;

	ksft_print_header();
	ksft_set_plan(31);
	system("rm -rf " DIR);
	mkdir(DIR, 0700);
	copy_file(LIB, ONE);
	guest_open(&g);
	guest_info(&g, &start);
	guest_add(&g, getpid());

	test_late_table();
	test_bind_mount();
	test_overlay();
	test_memfd();
	test_linked();
	test_written();
	test_written_often();
	test_replaced();
	test_deleted();
	test_rewritten();
	test_dlopen_at_same_address();
	test_vdso();
	test_sampled();
	ksft_test_result(guest_is_exact(&g, getpid()), "the ranges are what is mapped\n");

	if (netlink_proc_del(g.nl, getpid(), &g.error))
		guest_die("proc-del", g.error.text);
	ksft_test_result(guest_settles(&g, &start), "everything is given back\n");
	guest_info(&g, &end);
	ksft_test_result(!end.follow_lost, "nothing was lost\n");
	system("rm -rf " DIR);
	ksft_finished();
}
