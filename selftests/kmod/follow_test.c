// SPDX-License-Identifier: GPL-2.0
/* The module's ranges of a process follow its mappings through every system call on them. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "guest.h"
#include "kselftest.h"
#include "events.h"

#define KNOWN	"/lib/x86_64-linux-gnu/libm.so.6"
#define UNKNOWN	"/lib/x86_64-linux-gnu/libcrypt.so.1"
#define PAGES	16

static struct guest g;
static uint32_t table;

/* Find the range that the module has at an address of a process. */
static bool range_at(pid_t pid, const void *p, struct range *out)
{
	struct netlink_proc proc;
	bool found = false;
	size_t i;

	guest_get_proc(&g, pid, &proc);
	for (i = 0; i < proc.ranges.count; i++) {
		const struct range *r = &proc.ranges.range[i];

		if (r->start <= (uintptr_t)p && (uintptr_t)p < r->end) {
			*out = *r;
			found = true;
		}
	}
	ranges_free(&proc.ranges);
	return found;
}

static bool is_covered(const void *p, size_t pages, bool covered)
{
	struct range r;
	size_t i;

	for (i = 0; i < pages; i++)
		if (range_at(getpid(), (const char *)p + i * PAGE, &r) != covered)
			return false;
	return true;
}

/* The file offset of a library's executable segment, which starts on a page of its own. */
static off_t find_text_offset(const char *path)
{
	char line[512], perms[8];
	unsigned long start, end, offset = 0, found = 0;
	void *lib = dlopen(path, RTLD_NOW);
	FILE *maps = fopen("/proc/self/maps", "r");
	const char *base = strrchr(path, '/');

	while (lib && fgets(line, sizeof(line), maps))
		if (sscanf(line, "%lx-%lx %7s %lx", &start, &end, perms, &offset) == 4 &&
		    strchr(perms, 'x') && strstr(line, base))
			found = offset;
	fclose(maps);
	if (lib)
		dlclose(lib);
	return found;
}

/* The offset is looked up once: later, /proc/self/maps has the test's own mappings of the file. */
static off_t text_offset(const char *path)
{
	static off_t known, unknown;
	off_t *offset = strcmp(path, KNOWN) ? &unknown : &known;

	if (!*offset)
		*offset = find_text_offset(path);
	return *offset;
}

static void *map_text(const char *path, void *where, size_t pages)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	void *p = mmap(where, pages * PAGE, PROT_READ | PROT_EXEC,
		       MAP_PRIVATE | (where ? MAP_FIXED : 0), fd, text_offset(path));

	close(fd);
	return p;
}

static void test_mmap(void)
{
	struct range r = {}, twin = {};
	char *p = map_text(KNOWN, NULL, PAGES), *q = map_text(KNOWN, NULL, PAGES);
	char *u = map_text(UNKNOWN, NULL, 4), *data;

	ksft_test_result(range_at(getpid(), p, &r) && r.file == table,
			 "a mapping of a known file is attached\n");
	range_at(getpid(), q, &twin);
	ksft_test_result(r.offset == (uint64_t)text_offset(KNOWN) && twin.offset == r.offset,
			 "with the offset that is mapped there\n");
	ksft_test_result(range_at(getpid(), u, &r) && r.file && !guest_is_loaded(&g, r.file),
			 "a mapping of an unknown file has no table\n");
	data = mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE, open(KNOWN, O_RDONLY), 0);
	ksft_test_result(!range_at(getpid(), data, &r), "a mapping of data is none\n");
	munmap(data, PAGE);
	munmap(u, 4 * PAGE);
	munmap(q, PAGES * PAGE);
	munmap(p, PAGES * PAGE);
	ksft_test_result(is_covered(p, PAGES, false) && is_covered(q, PAGES, false) &&
			 is_covered(u, 4, false), "munmap takes the ranges along\n");
}

/* Count messages about a file until so many have come, and then no other for half a second. */
static int count_events(struct netlink_events *events, uint32_t file, int wanted)
{
	struct pollfd fd = { .fd = netlink_events_fd(events), .events = POLLIN };
	const long deadline = guest_deadline();
	struct netlink_file t;
	int count = 0;

	while (poll(&fd, 1, 500) > 0 || (count < wanted && guest_waits(deadline)))
		while (netlink_events_next(events, &t) != NETLINK_EVENT_NONE)
			count += t.id == file && t.pid == (uint32_t)getpid();
	return count;
}

static void test_events(void)
{
	struct netlink_events *events = netlink_events_open(&g.error);
	struct range r = {};
	char *p;

	if (!events || netlink_config_set(g.nl, BEEUNWIND_A_CONFIG_ANNOUNCE,
					  BEEUNWIND_ANNOUNCE_MAPPED, &g.error))
		guest_die("events", g.error.text);
	p = map_text(KNOWN, NULL, 4);
	ksft_test_result(!count_events(events, table, 0), "a known file is no news\n");
	munmap(p, 4 * PAGE);
	p = map_text(UNKNOWN, NULL, 4);
	range_at(getpid(), p, &r);
	ksft_test_result(count_events(events, r.file, 1) == 1, "an unknown file is announced\n");
	munmap(p, 4 * PAGE);
	netlink_events_close(events);
	if (netlink_config_set(g.nl, BEEUNWIND_A_CONFIG_ANNOUNCE,
			       BEEUNWIND_ANNOUNCE_SAMPLED, &g.error))
		guest_die("announce", g.error.text);
}

static void test_partial_munmap(void)
{
	char *p = map_text(KNOWN, NULL, PAGES);
	struct range before = {}, head = {}, tail = {};

	range_at(getpid(), p, &before);
	munmap(p + 4 * PAGE, 4 * PAGE);
	ksft_test_result(is_covered(p, 4, true) && is_covered(p + 4 * PAGE, 4, false) &&
			 is_covered(p + 8 * PAGE, 8, true),
			 "munmap in the middle leaves two ranges\n");
	range_at(getpid(), p, &head);
	range_at(getpid(), p + 8 * PAGE, &tail);
	ksft_test_result(head.file == table && tail.file == table && head.offset == before.offset &&
			 tail.offset == before.offset + 8 * PAGE,
			 "with file and offset as before\n");
	munmap(p, PAGES * PAGE);
}

static void test_map_fixed(void)
{
	char *p = map_text(KNOWN, NULL, PAGES);
	struct range r = {};

	map_text(UNKNOWN, p, 4);
	ksft_test_result(range_at(getpid(), p, &r) && r.file && !guest_is_loaded(&g, r.file) &&
			 range_at(getpid(), p + 4 * PAGE, &r) && r.file == table,
			 "a fixed mapping of another file replaces the range below it\n");
	mmap(p, PAGES * PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	ksft_test_result(is_covered(p, PAGES, false), "a fixed anonymous mapping removes it\n");
	munmap(p, PAGES * PAGE);
}

static bool has_table(const char *p, size_t pages)
{
	struct range r;
	size_t i;

	for (i = 0; i < pages; i++)
		if (!range_at(getpid(), p + i * PAGE, &r) || r.file != table ||
		    r.offset - r.start != text_offset(KNOWN) - (uintptr_t)p)
			return false;
	return true;
}

/*
 * Unmap the PAGES pages of KNOWN at @p, and map @pages pages of @path there at once: the module has
 * not removed the range of KNOWN by then, unless its worker runs just in between.
 */
static void *unmap_and_map(void *p, const char *path, size_t pages)
{
	munmap(p, PAGES * PAGE);
	return map_text(path, p, pages);
}

static void test_again(void)
{
	char *p = map_text(KNOWN, NULL, 2 * PAGES);
	int i, fd = open(UNKNOWN, O_RDONLY | O_CLOEXEC);
	struct range r = {};
	pid_t child;

	munmap(p + PAGES * PAGE, PAGES * PAGE);
	for (i = 0; i < 1000; i++)
		unmap_and_map(p, KNOWN, PAGES);
	ksft_test_result(has_table(p, PAGES), "unmapped and mapped again, it is as before\n");
	unmap_and_map(p, KNOWN, 4);
	ksft_test_result(has_table(p, 4) && is_covered(p + 4 * PAGE, PAGES - 4, false),
			 "or smaller, if less is mapped\n");
	unmap_and_map(p, KNOWN, 2 * PAGES);
	ksft_test_result(has_table(p, 2 * PAGES), "or larger, if more is mapped\n");
	munmap(p + PAGES * PAGE, PAGES * PAGE);
	munmap(p, PAGES * PAGE);
	mmap(p, 4 * PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED, fd, text_offset(KNOWN));
	ksft_test_result(range_at(getpid(), p, &r) && r.file && !guest_is_loaded(&g, r.file),
			 "with another file in its place it is another one\n");
	close(fd);
	unmap_and_map(p, KNOWN, PAGES);
	munmap(p, PAGES * PAGE);
	child = guest_spawn(NULL, NULL);
	map_text(KNOWN, p, PAGES);
	ksft_test_result(has_table(p, PAGES) && !range_at(child, p, &r),
			 "a child that is forked in between has none\n");
	munmap(p, PAGES * PAGE);
	guest_reap(child);
}

static void test_mremap(void)
{
	char *p = map_text(KNOWN, NULL, 4);
	char *q = mmap(NULL, 4 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	q = mremap(p, 4 * PAGE, 4 * PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, q);
	ksft_test_result(is_covered(p, 4, false), "mremap leaves no range at the old place\n");
	ksft_test_result(has_table(q, 4), "and at the new place the right one\n");
	munmap(q, 4 * PAGE);
}

/* System calls for which the kernel splits and merges mappings: no page is unmapped. */
static void test_splits(const char *who)
{
	char *p = map_text(KNOWN, NULL, PAGES), *mid = p + 4 * PAGE;

	mprotect(mid, 4 * PAGE, PROT_READ);
	mprotect(mid, 4 * PAGE, PROT_READ | PROT_EXEC);
	ksft_test_result(has_table(p, PAGES), "%s: mprotect of a part, there and back\n", who);
	madvise(mid, 4 * PAGE, MADV_DONTFORK);
	madvise(mid, 4 * PAGE, MADV_DOFORK);
	ksft_test_result(has_table(p, PAGES), "%s: madvise of a part, there and back\n", who);
	madvise(p, PAGES * PAGE, MADV_DONTNEED);
	ksft_test_result(has_table(p, PAGES), "%s: pages dropped under a mapping\n", who);
	munmap(p, PAGES * PAGE);
	ksft_test_result(is_covered(p, PAGES, false), "%s: and unmapped\n", who);
}

/* The same when the process has no other range: the module must go on managing the process. */
static void test_only_range(struct range *any)
{
	struct netlink_proc proc;

	guest_get_proc(&g, getpid(), &proc);
	if (guest_update(&g, &proc, any, 1, NULL, 0))
		guest_die("proc-update", g.error.text);
	ranges_free(&proc.ranges);
	test_splits("only range");
	guest_get_proc(&g, getpid(), &proc);
	if (guest_update(&g, &proc, NULL, 0, any, 1))
		guest_die("proc-update", g.error.text);
	ranges_free(&proc.ranges);
}

static void test_anonymous(void)
{
	char *p = mmap(NULL, 4 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct range r = {};

	ksft_test_result(is_covered(p, 4, false), "anonymous data is no range\n");
	mprotect(p, 4 * PAGE, PROT_READ | PROT_EXEC);
	ksft_test_result(is_covered(p, 4, true) && range_at(getpid(), p, &r) && !r.file,
			 "made executable, as by a JIT, it is one\n");
	munmap(p, 4 * PAGE);
	ksft_test_result(is_covered(p, 4, false), "until it is unmapped\n");
}

static void test_fork(void)
{
	char *p = map_text(KNOWN, NULL, 4);
	pid_t child = guest_spawn(NULL, NULL);
	struct range r = {};

	ksft_test_result(range_at(child, p, &r) && r.file == table,
			 "a forked child has its ranges\n");
	munmap(p, 4 * PAGE);
	ksft_test_result(is_covered(p, 4, false) && range_at(child, p, &r) && r.file == table,
			 "its parent's munmap does not change them\n");
	guest_reap(child);
}

static void exec_sleep(void *arg)
{
	pid_t *program = arg, pid = fork();

	if (!pid) {
		/* This process, forked by the child, executes another program. */
		execl("/bin/sleep", "sleep", "1000", NULL);
		_exit(1);
	}
	*program = pid;
}

static bool becomes_sleep(pid_t pid)
{
	const long deadline = guest_deadline();
	char path[64], name[64] = "";

	snprintf(path, sizeof(path), "/proc/%d/comm", pid);
	do {
		FILE *f = fopen(path, "r");

		if (!f || !fgets(name, sizeof(name), f))
			return false;
		fclose(f);
	} while (strcmp(name, "sleep\n") && guest_waits(deadline));
	return !strcmp(name, "sleep\n");
}

static void test_exec(void)
{
	pid_t *program = mmap(NULL, sizeof(*program), PROT_READ | PROT_WRITE,
			      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t child = guest_spawn(exec_sleep, program);
	const long deadline = guest_deadline();
	struct netlink_proc proc;

	if (!becomes_sleep(*program))
		guest_die("sleep", "did not start");
	/* It gets its name before it is mapped. */
	guest_get_proc(&g, *program, &proc);
	while (!proc.ranges.count && guest_waits(deadline)) {
		ranges_free(&proc.ranges);
		guest_get_proc(&g, *program, &proc);
	}
	ksft_test_result(proc.cookie && proc.ranges.count,
			 "a new program is managed as the old one was\n");
	ranges_free(&proc.ranges);
	kill(*program, SIGKILL);
	munmap(program, sizeof(*program));
	guest_reap(child);
}

/* Fork a child that gets the pid @wanted. */
static pid_t spawn_as(pid_t wanted)
{
	/* struct clone_args: exit_signal, set_tid, set_tid_size */
	const uint64_t args[] = { [4] = SIGCHLD, [8] = (uintptr_t)&wanted, [9] = 1 };
	pid_t pid = syscall(SYS_clone3, args, sizeof(args));

	while (!pid)
		pause();
	return pid;
}

static void test_pid_reuse(void)
{
	struct range any = { .start = 0x20000, .end = 0x21000 };
	pid_t child = guest_spawn(NULL, NULL), again;
	struct netlink_proc proc;
	bool ok;

	guest_get_proc(&g, child, &proc);
	ok = !guest_update(&g, &proc, NULL, 0, &any, 1);
	ranges_free(&proc.ranges);
	guest_reap(child);
	if (netlink_proc_del(g.nl, getpid(), &g.error))	/* or the next child inherits */
		guest_die("proc-del", g.error.text);
	again = spawn_as(child);
	if (again != child)
		guest_die("clone3", strerror(errno));
	guest_get_proc(&g, again, &proc);
	ksft_test_result(ok && !proc.cookie, "a reused pid has none of the old ranges\n");
	ranges_free(&proc.ranges);
	guest_reap(again);
}

static void test_end(const struct netlink_info *start)
{
	int i;

	for (i = 0; i < 200; i++) {
		pid_t pid = fork();

		if (!pid) {
			map_text(KNOWN, NULL, 4);
			_exit(0);
		}
		waitpid(pid, NULL, 0);
	}
	ksft_test_result(guest_settles(&g, start), "200 children leave nothing behind\n");
}

int main(void)
{
	struct netlink_info start, managed, end;
	struct netlink_proc proc = { .pid = getpid() };
	struct range any = { .start = 0x10000, .end = 0x11000 };

	ksft_print_header();
	ksft_set_plan(37);
	guest_open(&g);
	guest_info(&g, &start);
	table = guest_add_table(&g, KNOWN);
	if (guest_update(&g, &proc, NULL, 0, &any, 1))
		guest_die("proc-update", g.error.text);
	guest_info(&g, &managed);

	test_mmap();
	test_events();
	test_partial_munmap();
	test_map_fixed();
	test_again();
	test_mremap();
	test_splits("one of several");
	test_only_range(&any);
	test_anonymous();
	test_fork();
	test_exec();
	test_end(&managed);

	test_pid_reuse();
	guest_get_proc(&g, getpid(), &proc);
	ksft_test_result(!proc.cookie, "a process can be let go\n");
	ksft_test_result(!netlink_table_del(g.nl, table, false, &g.error) &&
			 guest_settles(&g, &start),
			 "everything is given back\n");
	guest_info(&g, &end);
	ksft_test_result(!end.follow_lost, "nothing was lost\n");
	ksft_finished();
}
