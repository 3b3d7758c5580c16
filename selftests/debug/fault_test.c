// SPDX-License-Identifier: GPL-2.0
/*
 * Requests and callbacks while memory runs out.
 *
 *	fault_test		fails the 1st, 2nd, ... allocation of each (fault injection's
 *				fail-nth) until there are no more: each ends in a refusal that
 *				changes nothing, or in a success
 *	fault_test work		does each of them once, whatever comes of it
 *	fault_test load KO N	loads a module while its Nth allocation fails; prints the
 *				error, and how many allocations were still to go
 *	fault_test fill		leaves no room in per-CPU memory, until killed
 *
 * test_faults.sh says below which code allocations fail.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "chains.h"
#include "guest.h"
#include "kselftest.h"
#include "events.h"

#define BIG	"/usr/bin/tar"
#define SMALL	"/bin/true"
#define UNKNOWN	"/lib/x86_64-linux-gnu/libcrypt.so.1"
#define BASE	0x7f0000000000ull

static struct guest g;
static struct netlink_events *events;
static const char *beectl, *self;
static int nth_fd;
static pid_t target;
static uint32_t table;
static int big_fd, big_exe, small_fd, small_exe;
static struct netlink_proc proc;
static void *mapped;

static void nth_write(unsigned int n)
{
	char text[16];
	int length = snprintf(text, sizeof(text), "%u", n);

	if (pwrite(nth_fd, text, length, 0) != length)
		guest_die("fail-nth", strerror(errno));
}

/* How many more allocations had to succeed before the one to fail; 0: it has failed. */
static unsigned int nth_read(void)
{
	char text[16] = "";

	if (pread(nth_fd, text, sizeof(text) - 1, 0) <= 0)
		guest_die("fail-nth", strerror(errno));
	return strtoul(text, NULL, 10);
}

static void run_beectl(const char *verb, pid_t pid)
{
	char command[512];

	snprintf(command, sizeof(command), "%s %s --quiet %d", beectl, verb, pid);
	if (system(command))
		guest_die(command, "failed");
}

/*
 * Requests: each do_ function returns 0, or -1 with g.error filled
 */

static int do_info(void)
{
	struct netlink_info info;

	return netlink_info_get(g.nl, &info, &g.error);
}

static int do_stats(void)
{
	struct netlink_stats stats;

	return netlink_stats_get(g.nl, &stats, &g.error);
}

static int do_tables(void)
{
	struct netlink_files tables = {};
	int ret = netlink_files_get(g.nl, &tables, &g.error);

	netlink_files_free(&tables);
	return ret;
}

static int do_procs(void)
{
	struct netlink_procs procs = {};
	int ret = netlink_procs_get(g.nl, 0, &procs, &g.error);

	netlink_procs_free(&procs);
	return ret;
}

static int do_proc(void)
{
	struct netlink_procs procs = {};
	int ret = netlink_procs_get(g.nl, target, &procs, &g.error);

	netlink_procs_free(&procs);
	return ret;
}

static int do_table_users(void)
{
	struct netlink_procs procs = {};
	int ret = netlink_procs_get_users(g.nl, table, &procs, &g.error);

	netlink_procs_free(&procs);
	return ret;
}

static uint32_t added;

static int do_table_add(void)
{
	return netlink_table_add(g.nl, big_fd, big_exe, &added, &g.error);
}

/* A failed request may have added the table without telling its id: find it by its name. */
static void undo_table_add(void)
{
	struct netlink_files tables = {};
	size_t i;

	if (netlink_files_get(g.nl, &tables, &g.error))
		guest_die("table-get", g.error.text);
	for (i = 0; i < tables.count; i++)
		if (strstr(BIG, tables.file[i].name) && tables.file[i].loaded &&
		    netlink_table_del(g.nl, tables.file[i].id, true, &g.error))
			guest_die("table-del", g.error.text);
	netlink_files_free(&tables);
}

static void prepare_table_del(void)
{
	if (do_table_add())
		guest_die("table-add", g.error.text);
}

static int do_table_del(void)
{
	return netlink_table_del(g.nl, added, true, &g.error);
}

/* The target has ranges of its table: those who listen are told that it is gone. */
static int do_table_kill(void)
{
	uint32_t procs;

	return netlink_table_del_used(g.nl, table, &procs, &g.error);
}

static void add_table(void)
{
	if (netlink_table_add(g.nl, small_fd, small_exe, &table, &g.error))
		guest_die("table-add", g.error.text);
}

static int do_proc_add(void)
{
	struct netlink_proc proc = { .pid = target };

	return netlink_proc_add(g.nl, &proc, &g.error);
}

static int do_update(void)
{
	struct range add[2] = {
		{ .start = BASE, .end = BASE + PAGE, .file = table },
		{ .start = BASE + 2 * PAGE, .end = BASE + 3 * PAGE },
	};

	guest_get_proc(&g, target, &proc);
	return guest_update(&g, &proc, NULL, 0, add, 2);
}

static void prepare_diff(void)
{
	if (do_update())
		guest_die("proc-update", g.error.text);
}

static int do_diff(void)
{
	struct range del = { .start = BASE + 2 * PAGE, .end = BASE + 3 * PAGE };
	struct range add = { .start = BASE + 4 * PAGE, .end = BASE + 5 * PAGE, .file = table };

	guest_get_proc(&g, target, &proc);
	return guest_update(&g, &proc, &del, 1, &add, 1);
}

static void prepare_cookie(void)
{
	prepare_diff();
	guest_get_proc(&g, target, &proc);
}

static int do_proc_find(void)
{
	struct netlink_procs procs;
	int ret = netlink_proc_find(g.nl, proc.cookie, &procs, &g.error);

	netlink_procs_free(&procs);
	return ret;
}

static int do_proc_del(void)
{
	return netlink_proc_del(g.nl, target, &g.error);
}

static void undo_update(void)
{
	if (netlink_proc_del(g.nl, target, &g.error) && g.error.code != ENOENT)
		guest_die("proc-del", g.error.text);
}

static void undo_table_kill(void)
{
	add_table();
	undo_update();
}

static int do_budget(void)
{
	return netlink_config_set(g.nl, BEEUNWIND_A_CONFIG_BUDGET, 200 << 20, &g.error);
}

static void undo_budget(void)
{
	if (netlink_config_set(g.nl, BEEUNWIND_A_CONFIG_BUDGET, 256 << 20, &g.error))
		guest_die("config-set", g.error.text);
}

static int do_hold(void)
{
	return netlink_config_hold(g.nl, BEEUNWIND_A_CONFIG_ANNOUNCE, BEEUNWIND_ANNOUNCE_MAPPED,
				   &g.error);
}

static void undo_hold(void)
{
	if (netlink_config_set(g.nl, BEEUNWIND_A_CONFIG_ANNOUNCE, BEEUNWIND_ANNOUNCE_SAMPLED,
			       &g.error))
		guest_die("config-set", g.error.text);
}

static int do_hook_off(void)
{
	return netlink_config_set(g.nl, BEEUNWIND_A_CONFIG_HOOK,
				  BEEUNWIND_HOOK_STATE_OFF, &g.error);
}

static int do_hook_on(void)
{
	return netlink_config_set(g.nl, BEEUNWIND_A_CONFIG_HOOK, BEEUNWIND_HOOK_STATE_ON, &g.error);
}

static void hook_on(void)
{
	if (do_hook_on())
		guest_die("config-set", g.error.text);
}

static void hook_off(void)
{
	if (do_hook_off())
		guest_die("config-set", g.error.text);
}

/*
 * Callbacks: the system call must succeed even if the module's hook fails in it
 */

static void *map_text(const char *path)
{
	int fd = open(path, O_RDONLY);
	void *p = mmap(NULL, 8 * PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);

	close(fd);
	if (p == MAP_FAILED)
		guest_die("mmap", strerror(errno));
	return p;
}

static void manage_self(void)
{
	run_beectl("load", getpid());
}

static void unmap(void)
{
	if (mapped && munmap(mapped, 8 * PAGE))
		guest_die("munmap", strerror(errno));
	mapped = NULL;
}

static int do_mmap(void)
{
	mapped = map_text(UNKNOWN);
	return 0;
}

static void prepare_munmap(void)
{
	manage_self();
	mapped = map_text(UNKNOWN);
}

static int do_munmap(void)
{
	if (munmap((char *)mapped + 2 * PAGE, 2 * PAGE))
		guest_die("munmap", strerror(errno));
	return 0;
}

static int do_fork(void)
{
	pid_t pid = fork();
	int status;

	if (pid < 0)
		guest_die("fork", strerror(errno));
	if (!pid)
		_exit(0);
	waitpid(pid, &status, 0);
	return 0;
}

/* As a user for whom nothing is managed yet; root's rights stay. */
#define OTHER_UID	1010

static pid_t child;

static void become_other(void)
{
	manage_self();
	if (setresuid(OTHER_UID, -1, -1))
		guest_die("setresuid", strerror(errno));
}

static int do_fork_other(void)
{
	child = fork();
	if (child < 0)
		guest_die("fork", strerror(errno));
	if (child)
		return 0;
	for (;;)
		pause();
}

static void undo_fork_other(void)
{
	guest_reap(child);
	child = 0;
	if (setresuid(0, -1, -1))
		guest_die("setresuid", strerror(errno));
}

/*
 * The count that was left in fail-nth when the program was executed.  fail-nth belongs to a
 * task, so the new program reads its own and writes the count to a pipe.
 */
static unsigned int exec_left;

static int do_exec(void)
{
	unsigned int n = nth_read();
	char text[16] = "";
	int ends[2];
	pid_t pid;

	nth_write(0);
	if (pipe(ends) || (pid = fork()) < 0)
		guest_die("fork", strerror(errno));
	if (!pid) {
		dup2(ends[1], STDOUT_FILENO);
		nth_fd = open("/proc/thread-self/fail-nth", O_RDWR);
		nth_write(n);
		execl(self, self, "left", NULL);
		_exit(1);
	}
	close(ends[1]);
	if (read(ends[0], text, sizeof(text) - 1) <= 0)
		guest_die("exec", "the program did not start");
	close(ends[0]);
	waitpid(pid, NULL, 0);
	exec_left = strtoul(text, NULL, 10);
	return 0;
}

/**
 * struct act - a request or a callback that allocates memory
 * @name: the name that is printed
 * @prepare: called first, while no allocation fails
 * @run: makes the request or the system call; returns 0, or -1 with g.error filled
 * @undo: restores what was before @prepare; called after a failed @run too
 */
static const struct act {
	const char	*name;
	void		(*prepare)(void);
	int		(*run)(void);
	void		(*undo)(void);
} acts[] = {
	{ "info-get", NULL, do_info, NULL },
	{ "stats-get", NULL, do_stats, NULL },
	{ "table-add", NULL, do_table_add, undo_table_add },
	{ "table-del", prepare_table_del, do_table_del, undo_table_add },
	{ "table-del of one in use", prepare_diff, do_table_kill, undo_table_kill },
	{ "table-get", NULL, do_tables, NULL },
	{ "proc-add", NULL, do_proc_add, undo_update },
	{ "proc-update of a new process", NULL, do_update, undo_update },
	{ "proc-update with a diff", prepare_diff, do_diff, undo_update },
	{ "proc-del", prepare_diff, do_proc_del, undo_update },
	{ "proc-get", prepare_diff, do_procs, undo_update },
	{ "proc-get of one process", prepare_diff, do_proc, undo_update },
	{ "proc-get by cookie", prepare_cookie, do_proc_find, undo_update },
	{ "proc-get of those with a file", prepare_diff, do_table_users, undo_update },
	{ "config-set until close", NULL, do_hold, undo_hold },
	{ "config-set of the budget", NULL, do_budget, undo_budget },
	{ "config-set of the hook to off", NULL, do_hook_off, hook_on },
	{ "config-set of the hook to on", hook_off, do_hook_on, hook_on },
	{ "mmap", manage_self, do_mmap, unmap },
	{ "munmap", prepare_munmap, do_munmap, unmap },
	{ "fork", manage_self, do_fork, NULL },
	{ "fork of another user", become_other, do_fork_other, undo_fork_other },
	{ "exec", manage_self, do_exec, NULL },
};

#define NACTS	(sizeof(acts) / sizeof(acts[0]))

/* Whether users pay for all ranges, and the other user for its child, if that is managed. */
static bool all_is_paid(void)
{
	uint64_t paid = 0, other = 0;
	struct netlink_users users;
	struct netlink_info info;
	size_t i;
	bool ok;

	guest_info_at_rest(&g, &info);
	if (netlink_users_get(g.nl, &users, &g.error))
		guest_die("user-get", g.error.text);
	for (i = 0; i < users.count; i++) {
		paid += users.user[i].bytes;
		if (users.user[i].uid == OTHER_UID)
			other += users.user[i].bytes;
	}
	netlink_users_free(&users);
	ok = paid >= info.range_bytes && (other || !child || !guest_is_managed(&g, child));
	if (!ok)
		ksft_print_msg("users pay %lu bytes, the other %lu; ranges take %lu\n",
			       (unsigned long)paid, (unsigned long)other,
			       (unsigned long)info.range_bytes);
	return ok;
}

/* A refusal needs an error code and a sentence, and must leave the module's sums unchanged. */
static bool act_is_right(const struct act *act, int ret, const struct netlink_info *before,
			 unsigned int n)
{
	bool ok = !ret || (g.error.code > 0 && *g.error.text);

	if (!ok)
		ksft_print_msg("%s: allocation %u: code %d, \"%s\"\n", act->name, n, g.error.code,
			       g.error.text);
	if (ret && !guest_settles(&g, before)) {
		ksft_print_msg("%s: allocation %u: refused, and something changed\n", act->name, n);
		ok = false;
	}
	return ok;
}

/* No request makes so many allocations: the test is in a loop. */
#define NTH_MAX	500

static void act_in_turn(const struct act *act)
{
	struct netlink_info before;
	unsigned int n, left = 0, failed = 0, refused = 0;
	bool ok = true;
	int ret = 0;

	for (n = 1; ok && !left && n < NTH_MAX; n++) {
		if (act->prepare)
			act->prepare();
		guest_info_at_rest(&g, &before);
		memset(&g.error, 0, sizeof(g.error));
		exec_left = 0;
		nth_write(n);
		ret = act->run();
		left = nth_read() + exec_left;
		nth_write(0);
		failed += !left;
		refused += !!ret;
		ok = act_is_right(act, ret, &before, n) && all_is_paid();
		if (act->undo)
			act->undo();
	}
	ok = ok && left && !ret;
	ksft_test_result(ok, "%s: %u allocations failed in turn, %u times it was refused\n",
			 act->name, failed, refused);
}

/*
 * The xarrays of files and address spaces allocate for one of 64 entries only.  That the files are
 * mapped is told by a worker.
 */
static void work_often(void)
{
	size_t i;

	do_hold();
	manage_self();
	for (i = 0; i < 64; i++) {
		int fd = memfd_create("fault_test", MFD_CLOEXEC);

		if (fd >= 0 && !ftruncate(fd, 1) &&
		    mmap(NULL, 1, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0) == MAP_FAILED)
			guest_die("mmap", strerror(errno));
		close(fd);
		do_fork();
	}
}

static void run_code(void)
{
	static const unsigned char loop[] = { 0xf3, 0x90, 0xeb, 0xfc };	/* pause; jmp to it */
	void *p = mmap(NULL, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS,
		       -1, 0);

	memcpy(p, loop, sizeof(loop));
	((void (*)(void))p)();
}

/* That code in memory has been sampled is told by a worker. */
static void sample_code(void)
{
	struct chains chains;
	pid_t pid = fork();

	if (!pid)
		run_code();
	netlink_config_hold(g.nl, BEEUNWIND_A_CONFIG_CODE, 1, &g.error);
	run_beectl("load", pid);
	chains_take(pid, 20, 0, &chains);
	guest_reap(pid);
}

static void work(void)
{
	size_t i;

	for (i = 0; i < NACTS; i++) {
		if (acts[i].prepare)
			acts[i].prepare();
		acts[i].run();
		if (acts[i].undo)
			acts[i].undo();
	}
	work_often();
	sample_code();
}

static int load(const char *ko, unsigned int n)
{
	int err, fd = open(ko, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		guest_die(ko, strerror(errno));
	nth_write(n);
	err = syscall(SYS_finit_module, fd, "", 0) ? errno : 0;
	n = nth_read();
	nth_write(0);
	printf("%d %u\n", err, n);
	return 0;
}

/*
 * The kernel makes one allocation in per-CPU memory for each element of a per-CPU array map.  Chunks
 * of that are multiples of this size: what the module allocates does not fit either.
 */
#define FILL_SIZE	1024

static bool fill_map(unsigned int elements)
{
	union bpf_attr attr = {
		.map_type = BPF_MAP_TYPE_PERCPU_ARRAY,
		.key_size = 4,
		.value_size = FILL_SIZE,
		.max_entries = elements,
	};
	long fd = syscall(SYS_bpf, BPF_MAP_CREATE, &attr, sizeof(attr));

	if (fd < 0 && errno != ENOMEM)
		guest_die("bpf", strerror(errno));
	return fd >= 0;
}

static void fill(void)
{
	unsigned int elements;

	for (elements = 64; elements; elements /= 2)
		while (fill_map(elements))
			;
	printf("full\n");
	fflush(stdout);
	for (;;)
		pause();
}

int main(int argc, char **argv)
{
	struct netlink_info start;
	size_t i;

	nth_fd = open("/proc/thread-self/fail-nth", O_RDWR | O_CLOEXEC);
	if (argc > 1 && !strcmp(argv[1], "left")) {
		printf("%u\n", nth_read());
		return 0;
	}
	if (argc > 3 && !strcmp(argv[1], "load"))
		return load(argv[2], strtoul(argv[3], NULL, 10));
	if (argc > 1 && !strcmp(argv[1], "fill"))
		fill();
	self = argv[0];
	beectl = getenv("BEECTL");
	ksft_print_header();
	guest_open(&g);
	events = netlink_events_open(&g.error);
	if (!events || !beectl || nth_fd < 0)
		guest_die("start", "no events, BEECTL or fail-nth");
	big_fd = guest_table_fd(BIG);
	big_exe = open(BIG, O_RDONLY | O_CLOEXEC);
	small_fd = guest_table_fd(SMALL);
	small_exe = open(SMALL, O_RDONLY | O_CLOEXEC);
	add_table();
	target = guest_spawn(NULL, NULL);
	if (argc > 1 && !strcmp(argv[1], "work")) {
		work();
		guest_reap(target);
		return 0;
	}
	ksft_set_plan(NACTS + 1);
	for (i = 0; i < NACTS; i++)
		act_in_turn(&acts[i]);
	run_beectl("unload", getpid());
	guest_info_at_rest(&g, &start);
	guest_reap(target);
	ksft_test_result(!do_info() && guest_settles(&g, &start), "and all works afterwards\n");
	ksft_finished();
}
