// SPDX-License-Identifier: GPL-2.0
/* Tables of code that processes have in memory: who may lay them, and when they go. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "exchange.h"
#include "guest.h"
#include "io.h"
#include "kselftest.h"

#define CODE	((void *)0x7e0000000000ull)
#define SIZE	(4 * PAGE)
#define ELF	"/bin/true"
#define NAME	"[jit] code"

/* Not root, which may have all of the budget. */
#define USER		1001
/* The share of LEAST_BUDGET that its table just fits into is several percent, so it is nearly used up then. */
#define LARGE_ELF	"/usr/bin/python3"
#define LEAST_BUDGET	(1 << 20)

/* As FILE_FRESH_MAX of kmod/file.c: tables that no range has had. */
#define FRESH_MAX	1024

static struct guest g;
static int table_fd;
static volatile pid_t *forked;		/* shared: the child of a coder, 0: none yet */

static void map_code(void)
{
	if (mmap(CODE, SIZE, PROT_READ | PROT_WRITE | PROT_EXEC,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED)
		_exit(1);
}

static void on_signal(int signal)
{
	switch (signal) {
	case SIGUSR1:
		munmap(CODE, PAGE);
		break;
	case SIGUSR2:
		mprotect(CODE + PAGE, SIZE - PAGE, PROT_READ | PROT_WRITE);
		mprotect(CODE + PAGE, SIZE - PAGE, PROT_READ | PROT_EXEC);
		break;
	case SIGHUP:
		if (fork())
			break;
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		*forked = getpid();
		break;
	}
}

/* A process with executable memory without a file, which changes it when it gets a signal.  @arg: its user, or NULL */
static void coder(void *arg)
{
	const uid_t *uid = arg;

	/* Another user's process would no longer end with this one. */
	if (uid && (setresuid(*uid, *uid, *uid) || prctl(PR_SET_PDEATHSIG, SIGKILL)))
		_exit(1);
	map_code();
	signal(SIGUSR1, on_signal);
	signal(SIGUSR2, on_signal);
	signal(SIGHUP, on_signal);
}

static pid_t start_coder(void)
{
	pid_t pid = guest_spawn(coder, NULL);

	guest_add(&g, pid);
	return pid;
}

/* The range of @pid at CODE or later; all zero if there is none. */
static struct range code_range(pid_t pid)
{
	struct range found = {};
	struct netlink_proc proc;
	size_t i;

	guest_get_proc(&g, pid, &proc);
	for (i = 0; i < proc.ranges.count && !found.start; i++)
		if (proc.ranges.range[i].start >= (uint64_t)CODE &&
		    proc.ranges.range[i].start < (uint64_t)CODE + SIZE)
			found = proc.ranges.range[i];
	ranges_free(&proc.ranges);
	return found;
}

/* Wait until the range at CODE is another one than @before. */
static struct range code_range_after(pid_t pid, const struct range *before)
{
	const long deadline = guest_deadline();
	struct range now;

	do {
		now = code_range(pid);
	} while (guest_range_is_equal(&now, before) && guest_waits(deadline));
	return now;
}

static uint32_t new_table(pid_t pid)
{
	uint32_t id = 0;

	if (netlink_table_new(g.nl, table_fd, pid, NAME, &id, &g.error))
		guest_die("table-add", g.error.text);
	return id;
}

/* Wait until no range has the file: it goes a moment after the range has changed. */
static void wait_unused(uint32_t id)
{
	const long deadline = guest_deadline();
	struct netlink_file file;

	do {
		guest_get_table(&g, id, &file);
	} while (file.users && guest_waits(deadline));
}

/* Replace the whole range at CODE, of which @proc is the state.  Return: as guest_update(). */
static int lay(struct netlink_proc *proc, uint32_t id)
{
	struct range old = code_range(proc->pid), laid = old;

	laid.file = id;
	laid.offset = laid.start;
	return guest_update(&g, proc, &old, 1, &laid, 1);
}

static int lay_now(pid_t pid, uint32_t id)
{
	struct netlink_proc proc;
	int ret;

	guest_get_proc(&g, pid, &proc);
	ret = lay(&proc, id);
	ranges_free(&proc.ranges);
	return ret;
}

/* TABLE_ADD with @pid, perhaps a name, and perhaps an attribute that does not go with it. */
static void refused(const char *name, pid_t pid, int type, const char *text, int code,
		    const char *sentence)
{
	struct nl_msg *msg = exchange_begin(g.nl, BEEUNWIND_CMD_TABLE_ADD, 1024);
	struct netlink_info before, after;
	bool ok;

	guest_info(&g, &before);
	exchange_put_u32(msg, BEEUNWIND_A_FILE_TABLE_FD, table_fd);
	exchange_put_u32(msg, BEEUNWIND_A_FILE_PID, pid);
	if (text)
		exchange_put(msg, BEEUNWIND_A_FILE_NAME, text, strlen(text) + 1);
	if (type == BEEUNWIND_A_FILE_VDSO)
		exchange_put(msg, type, NULL, 0);
	else if (type)
		exchange_put_u32(msg, type, table_fd);
	ok = exchange_request(g.nl, msg, NULL, NULL, &g.error) && g.error.code == code &&
	     strstr(g.error.text, sentence);
	guest_info(&g, &after);
	ok = ok && before.files == after.files && before.tables == after.tables;
	if (!ok)
		ksft_print_msg("code %d, \"%s\"\n", g.error.code, g.error.text);
	ksft_test_result(ok, "refused: %s\n", name);
}

static void test_refusals(void)
{
	pid_t pid = guest_spawn(coder, NULL);
	char name[300] = "";
	int bad = io_memfd("bad", "no table", 8), good = table_fd;

	refused("a process that is not managed", pid, 0, NAME, ENOENT, "not managed");
	guest_add(&g, pid);
	refused("no name", pid, 0, NULL, EINVAL, "name");
	refused("an empty name", pid, 0, "", EINVAL, "name");
	memset(name, 'x', sizeof(name) - 1);
	refused("a long name", pid, 0, name, EINVAL, "policy");
	refused("pid and an ELF file", pid, BEEUNWIND_A_FILE_EXE_FD, NAME, EINVAL, "no exe-fd");
	refused("pid and id", pid, BEEUNWIND_A_FILE_ID, NAME, EINVAL, "no exe-fd");
	refused("pid and the vDSO", pid, BEEUNWIND_A_FILE_VDSO, NAME, EINVAL, "no exe-fd");
	refused("no such process", 4194303, 0, NAME, ESRCH, "no such process");
	refused("a kernel thread", 2, 0, NAME, EINVAL, "kernel thread");
	table_fd = bad;
	refused("what is no table", pid, 0, NAME, EINVAL, "table");
	table_fd = good;
	close(bad);
	guest_reap(pid);
}

/* What a user has, and may have. */
static struct netlink_user user_find(uid_t uid)
{
	struct netlink_user user = {};
	struct netlink_users users;
	size_t i;

	if (netlink_users_get(g.nl, &users, &g.error))
		guest_die("user-get", g.error.text);
	for (i = 0; i < users.count; i++)
		if (users.user[i].uid == uid)
			user = users.user[i];
	netlink_users_free(&users);
	return user;
}

/* Bytes that are charged to our user, whose processes these are. */
static uint64_t paid(void)
{
	return user_find(getuid()).bytes;
}

static void test_lay(void)
{
	pid_t pid = start_coder(), other = start_coder();
	struct netlink_proc proc, stale;
	struct netlink_file file;
	struct range laid;
	struct netlink_info rest;
	uint64_t before;
	uint32_t id;
	bool ok;

	id = new_table(pid);
	guest_get_proc(&g, pid, &proc);
	guest_get_table(&g, id, &file);
	ksft_test_result(file.loaded && file.owner == proc.cookie && !strcmp(file.name, NAME) &&
			 !file.users && !file.device && !file.inode && !file.size && file.bytes,
			 "a table without a file\n");
	ok = lay_now(other, id) && g.error.code == ENOENT && strstr(g.error.text, "no such file");
	ksft_test_result(ok && !code_range(other).file, "no other process may have it\n");

	stale = proc;
	stale.generation--;
	ok = lay(&stale, id) && g.error.code == ESTALE;
	new_table(other);
	ok = ok && guest_is_loaded(&g, id);
	ksft_test_result(ok, "it waits while ranges change, and others come\n");
	guest_info_at_rest(&g, &rest);	/* of what has ended before, nothing is still charged */
	before = paid();
	ok = !lay(&proc, id);
	laid = code_range(pid);
	guest_get_table(&g, id, &file);
	ksft_test_result(ok && paid() >= before + file.bytes, "charged to the process's user\n");
	ksft_test_result(ok && laid.file == id && laid.offset == laid.start && file.users == 1,
			 "laid over the range\n");
	ok = netlink_table_del(g.nl, id, false, &g.error) && g.error.code == EBUSY;
	ksft_test_result(ok && guest_is_loaded(&g, id), "a table in use is not deleted\n");
	ok = !netlink_table_set(g.nl, guest_table_fd("/bin/cat"), id, &g.error);
	guest_get_table(&g, id, &file);
	ksft_test_result(ok && file.loaded && file.owner == proc.cookie, "replaced by its id\n");

	/* The range begins a page later: the process has unmapped that page. */
	kill(pid, SIGUSR1);
	laid = code_range_after(pid, &laid);
	ksft_test_result(laid.file == id && laid.start == (uint64_t)CODE + PAGE &&
			 laid.offset == laid.start, "munmap of a part leaves the rest\n");
	kill(pid, SIGUSR2);
	laid = code_range_after(pid, &laid);
	ksft_test_result(laid.start && !laid.file, "code that was made writable has no table\n");
	wait_unused(id);
	new_table(other);
	ksft_test_result(!guest_is_loaded(&g, id), "its table goes with the next that comes\n");
	ranges_free(&proc.ranges);
	guest_reap(pid);
	guest_reap(other);
}

static pid_t fork_coder(pid_t pid)
{
	const long deadline = guest_deadline();

	*forked = 0;
	kill(pid, SIGHUP);
	while (!*forked && guest_waits(deadline))
		;
	if (*forked <= 0)
		guest_die("fork", "no child");
	return *forked;
}

static void test_ends(const struct netlink_info *start)
{
	pid_t pid = start_coder(), child;
	uint32_t id = new_table(pid);

	guest_reap(pid);
	ksft_test_result(guest_settles(&g, start) && !guest_is_loaded(&g, id),
			 "a table that was never laid ends with its owner\n");

	pid = start_coder();
	id = new_table(pid);
	ksft_test_result(!lay_now(pid, id), "laid\n");
	guest_reap(pid);
	ksft_test_result(guest_settles(&g, start), "one that was, ends with its owner\n");

	pid = start_coder();
	id = new_table(pid);
	ksft_test_result(!lay_now(pid, id) && !netlink_proc_del(g.nl, pid, &g.error) &&
			 guest_settles(&g, start), "or when that is no longer managed\n");
	guest_reap(pid);

	pid = start_coder();
	id = new_table(pid);
	lay_now(pid, id);
	child = fork_coder(pid);
	ksft_test_result(code_range(child).file == id, "a forked child has its parent's table\n");
	ksft_test_result(!netlink_proc_del(g.nl, pid, &g.error) && guest_is_loaded(&g, id) &&
			 code_range(child).file == id, "it stays when the parent's goes\n");
	guest_reap(pid);
	ksft_test_result(guest_settles(&g, start) && !guest_is_loaded(&g, id), "and ends with the child\n");

	/* A rescan looks at mappings, which know no table. */
	pid = start_coder();
	id = new_table(pid);
	lay_now(pid, id);
	guest_add(&g, pid);
	ksft_test_result(!code_range(pid).file, "proc-add makes ranges agree with mappings\n");
	guest_reap(pid);
	ksft_test_result(guest_settles(&g, start), "everything is given back\n");
}

static void set(int attribute, uint64_t value)
{
	if (netlink_config_set(g.nl, attribute, value, &g.error))
		guest_die("config", g.error.text);
}

/* Memory is short, and the user has less than a quarter of its share left. */
static void test_pressure(const struct netlink_info *start)
{
	const uid_t uid = USER;
	pid_t pid = guest_spawn(coder, (void *)&uid);
	struct netlink_user user;
	struct netlink_info rest;
	struct netlink_file file;
	uint32_t id = 0;
	int fd, i, share;
	bool ok;

	guest_add(&g, pid);
	fd = guest_table_fd(LARGE_ELF);
	guest_info_at_rest(&g, &rest);	/* from here on nothing that has ended before is charged */
	if (netlink_table_new(g.nl, fd, pid, NAME, &id, &g.error))
		guest_die("table-add", g.error.text);
	close(fd);
	guest_get_table(&g, id, &file);
	set(BEEUNWIND_A_CONFIG_BUDGET, LEAST_BUDGET);
	for (share = 1; share < 100; share++) {
		set(BEEUNWIND_A_CONFIG_SHARE, share);
		user = user_find(USER);
		/* To lay the table the module charges new ranges, and frees the old ones later. */
		if (user.bytes + file.bytes + PAGE <= user.most)
			break;
	}
	ok = !lay_now(pid, id) && 4 * user_find(USER).bytes > 3 * user.most;
	ksft_print_msg("share %d: %lu and %lu bytes of at most %lu; %s\n", share, (unsigned long)user.bytes,
		       (unsigned long)file.bytes, (unsigned long)user.most, ok ? "laid" : g.error.text);
	for (i = 0; i < 3; i++) {
		FILE *f = fopen("/proc/sys/vm/drop_caches", "w");

		if (!f || fprintf(f, "2") < 0 || fclose(f))
			guest_die("drop_caches", strerror(errno));
	}
	ksft_test_result(ok && guest_is_loaded(&g, id) && code_range(pid).file == id,
			 "a table that is laid stays when memory is short\n");
	set(BEEUNWIND_A_CONFIG_SHARE, start->share);
	set(BEEUNWIND_A_CONFIG_BUDGET, start->budget);
	guest_reap(pid);
	ksft_test_result(guest_settles(&g, start), "everything is given back\n");
}

static void test_many(const struct netlink_info *start)
{
	pid_t pid = start_coder();
	uint32_t first = new_table(pid), second = new_table(pid), last = 0;
	int i;

	for (i = 2; i < FRESH_MAX; i++)
		last = new_table(pid);
	ksft_test_result(guest_is_loaded(&g, first) && guest_is_loaded(&g, last), "%d tables wait\n", FRESH_MAX);
	new_table(pid);
	ksft_test_result(!guest_is_loaded(&g, first) && guest_is_loaded(&g, second) && guest_is_loaded(&g, last),
			 "one more, and the first goes\n");
	ksft_test_result(lay_now(pid, first) && g.error.code == ENOENT && !lay_now(pid, second),
			 "the others can be laid\n");
	guest_reap(pid);
	ksft_test_result(guest_settles(&g, start), "everything is given back\n");
}

int main(void)
{
	struct netlink_info start;

	ksft_print_header();
	ksft_set_plan(36);
	guest_open(&g);
	forked = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (forked == MAP_FAILED)
		guest_die("mmap", "no memory");
	guest_info(&g, &start);
	table_fd = guest_table_fd(ELF);
	test_refusals();
	test_lay();
	ksft_test_result(guest_settles(&g, &start), "everything is given back\n");
	test_ends(&start);
	test_pressure(&start);
	test_many(&start);
	ksft_finished();
}
