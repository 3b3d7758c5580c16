// SPDX-License-Identifier: GPL-2.0
/* The protocol: what the module must refuse, with which error and sentence, changing nothing. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <linux/beeunwind_table.h>
#include <netlink/attr.h>
#include <netlink/genl/ctrl.h>
#include <netlink/genl/genl.h>
#include <netlink/msg.h>
#include <netlink/socket.h>

#include "exchange.h"
#include "guest.h"
#include "io.h"
#include "kselftest.h"

#define BASE	0x7f0000000000ull
#define ELF	"/bin/true"

static struct guest g;
static pid_t target;
static uint32_t table;

static struct range at(uint64_t page, uint64_t pages, uint32_t id)
{
	return (struct range) {
		.start = BASE + page * PAGE,
		.end = BASE + (page + pages) * PAGE,
		.offset = id ? page * PAGE : 0,
		.file = id,
	};
}

static bool same_ranges(const struct netlink_proc *a, const struct netlink_proc *b)
{
	size_t i;

	if (a->ranges.count != b->ranges.count || a->generation != b->generation ||
	    a->cookie != b->cookie)
		return false;
	for (i = 0; i < a->ranges.count; i++)
		if (!guest_range_is_equal(&a->ranges.range[i], &b->ranges.range[i]))
			return false;
	return true;
}

/* The diff must be refused with @code and @sentence, and the ranges must not have changed. */
static void refused(const char *name, struct netlink_proc *as, struct range *del, size_t ndel,
		    struct range *add, size_t nadd, int code, const char *sentence)
{
	struct netlink_proc before, after, sent;
	bool ok;
	int ret;

	guest_get_proc(&g, target, &before);
	sent = as ? *as : before;
	ret = guest_update(&g, &sent, del, ndel, add, nadd);
	guest_get_proc(&g, target, &after);
	ok = ret && g.error.code == code && strstr(g.error.text, sentence) &&
	     same_ranges(&before, &after);
	if (!ok)
		ksft_print_msg("returned %d, code %d, \"%s\"\n", ret, g.error.code, g.error.text);
	ksft_test_result(ok, "refused: %s\n", name);
	ranges_free(&before.ranges);
	ranges_free(&after.ranges);
}

static void test_refused_diffs(void)
{
	struct netlink_proc proc, stale;
	struct range two[2], one, many[10];
	size_t i;

	guest_get_proc(&g, target, &proc);
	refused("empty diff", NULL, NULL, 0, NULL, 0, EINVAL, "nothing to remove");
	one = at(10, 0, table);
	refused("empty range", NULL, NULL, 0, &one, 1, EINVAL, "empty range");
	one = at(10, 1, table);
	one.end = one.start - PAGE;
	refused("range that ends before it starts", NULL, NULL, 0, &one, 1, EINVAL, "empty range");
	two[0] = at(20, 4, table);
	two[1] = at(22, 4, table);
	refused("ranges that overlap each other", NULL, NULL, 0, two, 2, EINVAL, "overlap");
	two[0] = at(30, 1, table);
	two[1] = at(20, 1, table);
	refused("unsorted ranges", NULL, NULL, 0, two, 2, EINVAL, "not sorted");
	one = at(20, 1, table);
	one.start += 16;
	refused("unaligned range", NULL, NULL, 0, &one, 1, EINVAL, "page aligned");
	one = at(20, 1, 0);
	one.offset = PAGE;
	refused("offset without a file", NULL, NULL, 0, &one, 1, EINVAL, "offset without");
	one = at(20, 1, table);
	one.offset += 16;
	refused("unaligned offset", NULL, NULL, 0, &one, 1, EINVAL, "page aligned");
	one = (struct range) { 0xffffffff80000000ull, 0xffffffff80001000ull, 0, 0 };
	refused("kernel address", NULL, NULL, 0, &one, 1, EINVAL, "user address");
	one = at(20, 1, 0x7fffffff);
	refused("unknown file", NULL, NULL, 0, &one, 1, ENOENT, "no such file");
	two[0] = at(20, 1, table);
	two[1] = at(21, 1, 0x7fffffff);
	refused("unknown file after a good range", NULL, NULL, 0, two, 2, ENOENT, "no such file");
	one = at(1, 1, table);
	refused("overlap with a range that is there", NULL, NULL, 0, &one, 1, EEXIST, "overlaps");
	one = at(0, 1, table);
	refused("removal of part of a range", NULL, &one, 1, NULL, 0, ENOENT, "no such range");
	one = at(0, 4, table);
	one.offset += PAGE;
	refused("removal with another offset", NULL, &one, 1, NULL, 0, ENOENT, "no such range");
	one = at(40, 1, 0);
	stale = proc;
	stale.generation--;
	refused("stale generation", &stale, NULL, 0, &one, 1, ESTALE, "stale");
	stale = proc;
	stale.cookie++;
	refused("another cookie", &stale, NULL, 0, &one, 1, ESTALE, "stale");
	stale = proc;
	stale.cookie = stale.generation = 0;
	refused("managed process taken for a new one", &stale, NULL, 0, &one, 1, ESTALE, "stale");
	stale = proc;
	stale.pid = 2;
	refused("kernel thread", &stale, NULL, 0, &one, 1, EINVAL, "kernel thread");
	stale.pid = 4194303;
	refused("no such process", &stale, NULL, 0, &one, 1, ESRCH, "no such process");
	for (i = 0; i < sizeof(many) / sizeof(many[0]); i++)
		many[i] = at(100 + i, 1, table);
	refused("removal of more ranges than there are", NULL, many, i, NULL, 0, ENOENT,
		"more ranges to remove than there are");
	ranges_free(&proc.ranges);
}

static struct nl_msg *request(int command)
{
	return exchange_begin(g.nl, command, 0);
}

static void put_flag(struct nl_msg *msg, int type)
{
	exchange_put(msg, type, NULL, 0);
}

/* The request, which no function of netlink.h makes, must be refused with @code and @sentence. */
static void request_refused(const char *name, struct nl_msg *msg, bool dump, int code,
			    const char *sentence)
{
	int ret = dump ? exchange_dump(g.nl, msg, NULL, NULL, &g.error) :
			 exchange_request(g.nl, msg, NULL, NULL, &g.error);
	bool ok = ret == -1 && g.error.code == code && strstr(g.error.text, sentence);

	if (!ok)
		ksft_print_msg("returned %d, code %d, \"%s\"\n", ret, g.error.code, g.error.text);
	ksft_test_result(ok, "refused: %s\n", name);
}

/* A range without this attribute. */
static void test_range_without(const char *name, int missing)
{
	struct nl_msg *msg = request(BEEUNWIND_CMD_PROC_UPDATE);
	struct nlattr *nest;

	exchange_put_u32(msg, BEEUNWIND_A_PROC_PID, target);
	nest = nla_nest_start(msg, NLA_F_NESTED | BEEUNWIND_A_PROC_ADD);
	if (missing != BEEUNWIND_A_RANGE_START)
		exchange_put_u64(msg, BEEUNWIND_A_RANGE_START, BASE);
	if (missing != BEEUNWIND_A_RANGE_END)
		exchange_put_u64(msg, BEEUNWIND_A_RANGE_END, BASE + PAGE);
	if (missing != BEEUNWIND_A_RANGE_OFFSET)
		exchange_put_u64(msg, BEEUNWIND_A_RANGE_OFFSET, 0);
	if (missing != BEEUNWIND_A_RANGE_FILE)
		exchange_put_u32(msg, BEEUNWIND_A_RANGE_FILE, 0);
	nla_nest_end(msg, nest);
	request_refused(name, msg, false, EINVAL, "range without start, end, offset or file");
}

#define MOST_RANGES	65536	/* of a request: BEE_MAP_MAX_RANGES of kmod/map.h */

static void test_too_many_ranges(void)
{
	struct nl_msg *msg = exchange_begin(g.nl, BEEUNWIND_CMD_PROC_UPDATE,
					    (MOST_RANGES + 1) * NLA_HDRLEN);
	int i;

	exchange_put_u32(msg, BEEUNWIND_A_PROC_PID, target);
	for (i = 0; i <= MOST_RANGES; i++)
		exchange_put(msg, NLA_F_NESTED | BEEUNWIND_A_PROC_DEL, NULL, 0);
	request_refused("more ranges than a request may have", msg, false, E2BIG,
			"too many ranges in one request");
}

/* A process that has ended, and that nobody has waited for. */
static void test_exiting(void)
{
	struct netlink_proc proc = {};
	siginfo_t info;
	bool ok;

	fflush(stdout);
	proc.pid = fork();
	if (!proc.pid)
		_exit(0);
	waitid(P_PID, proc.pid, &info, WEXITED | WNOWAIT);
	ok = netlink_proc_add(g.nl, &proc, &g.error) && g.error.code == ESRCH &&
	     strstr(g.error.text, "the process is exiting");
	if (!ok)
		ksft_print_msg("code %d, \"%s\"\n", g.error.code, g.error.text);
	ksft_test_result(ok, "refused: a process that has ended\n");
	waitpid(proc.pid, NULL, 0);
}

/* What is missing, or too much. */
static void test_attributes(void)
{
	int fd = guest_table_fd(ELF);
	struct nl_msg *msg;

	test_range_without("range without start", BEEUNWIND_A_RANGE_START);
	test_range_without("range without end", BEEUNWIND_A_RANGE_END);
	test_range_without("range without offset", BEEUNWIND_A_RANGE_OFFSET);
	test_range_without("range without file", BEEUNWIND_A_RANGE_FILE);
	test_too_many_ranges();
	request_refused("process without pid", request(BEEUNWIND_CMD_PROC_ADD), false, EINVAL,
			"pid is missing");
	request_refused("no process to let go", request(BEEUNWIND_CMD_PROC_DEL), false, EINVAL,
			"either pid or cookie");
	msg = request(BEEUNWIND_CMD_PROC_DEL);
	exchange_put_u32(msg, BEEUNWIND_A_PROC_PID, target);
	exchange_put_u64(msg, BEEUNWIND_A_PROC_COOKIE, 1);
	request_refused("two processes to let go", msg, false, EINVAL, "either pid or cookie");
	msg = request(BEEUNWIND_CMD_PROC_GET);
	exchange_put_u32(msg, BEEUNWIND_A_PROC_PID, target);
	exchange_put_u32(msg, BEEUNWIND_A_PROC_FILE, table);
	request_refused("dump of a process and of a file's", msg, true, EINVAL,
			"either pid, cookie or file");

	msg = request(BEEUNWIND_CMD_TABLE_ADD);
	put_flag(msg, BEEUNWIND_A_FILE_VDSO);
	request_refused("no table to add", msg, false, EINVAL, "table-fd is missing");
	msg = request(BEEUNWIND_CMD_TABLE_ADD);
	exchange_put_u32(msg, BEEUNWIND_A_FILE_TABLE_FD, fd);
	put_flag(msg, BEEUNWIND_A_FILE_VDSO);
	exchange_put_u32(msg, BEEUNWIND_A_FILE_ID, table);
	request_refused("a table of two files", msg, false, EINVAL, "just one of exe-fd, id and vdso");
	msg = request(BEEUNWIND_CMD_TABLE_ADD);
	exchange_put_u32(msg, BEEUNWIND_A_FILE_TABLE_FD, fd);
	request_refused("a table of no file", msg, false, EINVAL, "just one of exe-fd, id and vdso");
	msg = request(BEEUNWIND_CMD_TABLE_ADD);
	exchange_put_u32(msg, BEEUNWIND_A_FILE_TABLE_FD, fd);
	exchange_put_u32(msg, BEEUNWIND_A_FILE_PID, target);
	put_flag(msg, BEEUNWIND_A_FILE_VDSO);
	request_refused("a table of code in memory and of a file", msg, false, EINVAL,
			"with pid there is no exe-fd, id or vdso");
	request_refused("no file to tell of", request(BEEUNWIND_CMD_FILE_GET), false, EINVAL,
			"just one of exe-fd, id and vdso");
	msg = request(BEEUNWIND_CMD_TABLE_DEL);
	put_flag(msg, BEEUNWIND_A_FILE_FORCE);
	request_refused("no table to delete", msg, false, EINVAL, "id of the file is missing");
	close(fd);

	request_refused("no setting", request(BEEUNWIND_CMD_CONFIG_SET), false, EINVAL,
			"nothing to set");
	msg = request(BEEUNWIND_CMD_CONFIG_SET);
	put_flag(msg, BEEUNWIND_A_CONFIG_CODE);
	request_refused("code for ever", msg, false, EINVAL, "code needs until-close");
}

static void test_good_diffs(void)
{
	struct range first[3] = { at(0, 4, table), at(4, 2, 0), at(8, 1, table) };
	struct range add[2] = { at(4, 1, table), at(6, 1, 0) };
	struct range left[4] = { first[0], add[0], add[1], first[2] };
	struct netlink_proc proc, seen;
	bool ok;
	size_t i;

	guest_get_proc(&g, target, &proc);
	ksft_test_result(!proc.cookie && !proc.generation, "an unknown process has no cookie\n");
	ok = !guest_update(&g, &proc, NULL, 0, first, 3) && proc.cookie && proc.generation == 1;
	ksft_test_result(ok, "three ranges added\n");
	ok = !guest_update(&g, &proc, &first[1], 1, add, 2) && proc.generation == 2;
	guest_get_proc(&g, target, &seen);
	ok = ok && seen.cookie == proc.cookie && seen.ranges.count == 4;
	for (i = 0; ok && i < 4; i++)
		ok = guest_range_is_equal(&seen.ranges.range[i], &left[i]);
	ksft_test_result(ok, "one removed and two added at once\n");
	ranges_free(&seen.ranges);
}

static int resolve_family(void)
{
	struct nl_sock *sock = nl_socket_alloc();
	int id;

	if (!sock || genl_connect(sock))
		guest_die("dump", "no socket");
	id = genl_ctrl_resolve(sock, BEEUNWIND_FAMILY_NAME);
	nl_socket_free(sock);
	return id;
}

/*
 * Read a dump in pieces, and call @change after the second.  The kernel makes a piece as large as
 * the largest buffer that the socket has ever received into, so a new socket gets small pieces.
 */
static bool dump_is_interrupted(int cmd, pid_t pid, void (*change)(void))
{
	struct nl_sock *sock = nl_socket_alloc();
	struct nl_msg *msg = nlmsg_alloc();
	bool interrupted = false, done = false;
	char piece[4096];
	int pieces = 0;

	if (!sock || !msg || genl_connect(sock))
		guest_die("dump", "no socket");
	genlmsg_put(msg, NL_AUTO_PORT, NL_AUTO_SEQ, resolve_family(), 0, NLM_F_DUMP, cmd,
		    BEEUNWIND_FAMILY_VERSION);
	if (pid)
		nla_put_u32(msg, BEEUNWIND_A_PROC_PID, pid);
	nl_send_auto(sock, msg);
	while (!done) {
		int left = recv(nl_socket_get_fd(sock), piece, sizeof(piece), 0);
		struct nlmsghdr *nlh = (void *)piece;

		if (left <= 0)
			guest_die("dump", strerror(errno));
		for (; nlmsg_ok(nlh, left); nlh = nlmsg_next(nlh, &left)) {
			interrupted |= nlh->nlmsg_flags & NLM_F_DUMP_INTR;
			done |= nlh->nlmsg_type == NLMSG_DONE || nlh->nlmsg_type == NLMSG_ERROR;
		}
		if (++pieces == 2 && change)
			change();
	}
	if (pieces < 4)
		guest_die("dump", "too short to be interrupted");
	nlmsg_free(msg);
	nl_socket_free(sock);
	return interrupted;
}

static void change_target(void)
{
	struct range one = at(900, 1, 0);
	struct netlink_proc proc;

	guest_get_proc(&g, target, &proc);
	if (guest_update(&g, &proc, NULL, 0, &one, 1) || guest_update(&g, &proc, &one, 1, NULL, 0))
		guest_die("proc-update", g.error.text);
	ranges_free(&proc.ranges);
}

static void change_tables(void)
{
	uint32_t id = guest_add_table(&g, "/bin/sleep");

	if (netlink_table_del(g.nl, id, true, &g.error))
		guest_die("table-del", g.error.text);
}

static void test_dumps(void)
{
	ksft_test_result(!dump_is_interrupted(BEEUNWIND_CMD_PROC_GET, target, NULL),
			 "a dump of a process that keeps still is consistent\n");
	ksft_test_result(dump_is_interrupted(BEEUNWIND_CMD_PROC_GET, target, change_target),
			 "one of a process that changes says so\n");
	ksft_test_result(dump_is_interrupted(BEEUNWIND_CMD_PROC_GET, 0, change_target),
			 "so does one of all processes\n");
}

#define MANY	5000

static void test_many_ranges(void)
{
	struct range *many = calloc(MANY, sizeof(*many));
	struct netlink_proc proc, seen, now;
	bool ok;
	size_t i;

	for (i = 0; i < MANY; i++)
		many[i] = at(1000 + 2 * i, 1, i & 1 ? table : 0);
	guest_get_proc(&g, target, &proc);
	ok = !guest_update(&g, &proc, NULL, 0, many, MANY);
	guest_get_proc(&g, target, &seen);
	ok = ok && seen.ranges.count == MANY + proc.ranges.count;
	for (i = 0; ok && i < MANY; i++)
		ok = guest_range_is_equal(&seen.ranges.range[proc.ranges.count + i], &many[i]);
	ksft_test_result(ok, "%d ranges added and listed\n", MANY);
	test_dumps();
	guest_get_proc(&g, target, &now);
	seen.generation = now.generation;
	ranges_free(&now.ranges);
	ok = !guest_update(&g, &seen, many, MANY, NULL, 0);
	ksft_test_result(ok, "and removed\n");
	ranges_free(&proc.ranges);
	ranges_free(&seen.ranges);
	free(many);
}

#define TABLE_FILES	300

/* Map many memfds: each becomes a file without a table in the module. */
static void map_files(void *arg)
{
	int i, fd;

	(void)arg;
	for (i = 0; i < TABLE_FILES; i++) {
		fd = memfd_create("nl_test", MFD_CLOEXEC);
		if (ftruncate(fd, PAGE) ||
		    mmap(NULL, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0) == MAP_FAILED)
			_exit(1);
		close(fd);
	}
}

static void test_table_dumps(void)
{
	pid_t pid = guest_spawn(map_files, NULL);

	guest_add(&g, pid);
	ksft_test_result(!dump_is_interrupted(BEEUNWIND_CMD_FILE_GET, 0, NULL),
			 "a dump of files that stay is consistent\n");
	ksft_test_result(dump_is_interrupted(BEEUNWIND_CMD_FILE_GET, 0, change_tables),
			 "one in which a table comes and goes says so\n");
	guest_reap(pid);
}

static void table_refused(const char *name, int fd, int code, const char *sentence)
{
	struct netlink_info before, after;
	bool ok;

	guest_info(&g, &before);
	ok = netlink_table_set(g.nl, fd, table, &g.error) && g.error.code == code &&
	     strstr(g.error.text, sentence);
	guest_info(&g, &after);
	ok = ok && before.tables == after.tables && before.table_bytes == after.table_bytes;
	if (!ok)
		ksft_print_msg("code %d, \"%s\"\n", g.error.code, g.error.text);
	ksft_test_result(ok, "table refused: %s\n", name);
}

static uint8_t *table_bytes(int fd, size_t *size)
{
	struct stat st;
	uint8_t *bytes;

	fstat(fd, &st);
	*size = st.st_size;
	bytes = malloc(*size);
	if (!bytes || pread(fd, bytes, *size, 0) != (ssize_t)*size)
		exit(1);
	return bytes;
}

static void test_flipped_tables(int fd)
{
	size_t size, bit, tried = 0, kept = 0;
	uint8_t *bytes = table_bytes(fd, &size);

	/* Each bit of the header, and every 61st of the rest (a prime: all bits of a byte). */
	for (bit = 0; bit < 8 * size; bit += bit < 8 * sizeof(struct bee_table_header) ? 1 : 61) {
		uint8_t flipped = bytes[bit / 8] ^ 1 << bit % 8;

		if (pwrite(fd, &flipped, 1, bit / 8) != 1)
			exit(1);
		tried++;
		if (!netlink_table_set(g.nl, fd, table, &g.error) ||
		    g.error.code != EINVAL || !strstr(g.error.text, "offset")) {
			ksft_print_msg("bit %zu: code %d, \"%s\"\n", bit, g.error.code,
				       g.error.text);
			kept++;
		}
		if (pwrite(fd, &bytes[bit / 8], 1, bit / 8) != 1)
			exit(1);
	}
	ksft_test_result(!kept, "table refused: each of %zu flipped bits\n", tried);
	free(bytes);
}

static void test_refused_tables(void)
{
	int fd = guest_table_fd(ELF), pipes[2];
	struct netlink_info rest;
	struct stat st;
	uint8_t *elf;
	size_t size;

	guest_info_at_rest(&g, &rest);	/* bytes are compared: nothing is still to be freed */
	test_flipped_tables(fd);
	fstat(fd, &st);
	if (ftruncate(fd, st.st_size - 1))
		exit(1);
	table_refused("truncated", fd, EINVAL, "truncated");
	if (ftruncate(fd, 50))
		exit(1);
	table_refused("shorter than a header", fd, EINVAL, "shorter");
	if (ftruncate(fd, 0))
		exit(1);
	table_refused("empty", fd, EFBIG, "empty");
	close(fd);
	table_refused("closed fd", fd, EBADF, "no such open file");
	if (pipe(pipes))
		exit(1);
	table_refused("pipe", pipes[0], EBADF, "regular file");
	fd = open("/", O_RDONLY);
	table_refused("directory", fd, EBADF, "regular file");
	close(fd);
	/* Its file system could let the request wait, and with it all of generic netlink. */
	fd = open(ELF, O_RDONLY);
	table_refused("a file that is not in memory", fd, EINVAL, "memfd");
	elf = table_bytes(fd, &size);
	close(fd);
	fd = io_memfd("nl_test", elf, size);
	table_refused("an ELF file", fd, EINVAL, "magic");
	close(fd);
	free(elf);
}

static void test_tables(void)
{
	uint32_t again = guest_add_table(&g, ELF);
	bool ok;

	ksft_test_result(again == table, "a table is kept once\n");
	ok = netlink_table_del(g.nl, table, false, &g.error) && g.error.code == EBUSY &&
	     strstr(g.error.text, "mappings");
	ksft_test_result(ok, "a table in use is not deleted\n");
	ok = netlink_table_del(g.nl, 0x7fffffff, true, &g.error) && g.error.code == ENOENT;
	ksft_test_result(ok, "an unknown table is not deleted\n");
}

static void test_budget(void)
{
	struct netlink_info info;
	int fd, exe;
	uint32_t id;
	bool ok;

	guest_info_at_rest(&g, &info);	/* what is still to be freed would make room */
	ok = netlink_config_set(g.nl, BEEUNWIND_A_CONFIG_BUDGET,
				1, &g.error) && g.error.code == ENOSPC;
	ksft_test_result(ok, "a budget below what is in use is refused\n");
	/* Room for what the module keeps of a file, but not for its table. */
	ok = !netlink_config_set(g.nl, BEEUNWIND_A_CONFIG_BUDGET,
				 netlink_info_used(&info) + 512, &g.error);
	fd = guest_table_fd("/bin/cat");
	exe = open("/bin/cat", O_RDONLY);
	ok = ok && netlink_table_add(g.nl, fd, exe, &id, &g.error) &&
	     g.error.code == ENOSPC && strstr(g.error.text, "over budget");
	if (!ok)
		ksft_print_msg("code %d, \"%s\"\n", g.error.code, g.error.text);
	ksft_test_result(ok, "a table over budget is refused\n");
	close(exe);
	/* A file of zeros is no table, yet the error is the budget's: it has not been read. */
	exe = open(ELF, O_RDONLY);
	ok = !ftruncate(fd, 0) && !ftruncate(fd, BEE_TABLE_MAX_SIZE) &&
	     netlink_table_add(g.nl, fd, exe, &id, &g.error) && g.error.code == ENOSPC &&
	     strstr(g.error.text, "over budget");
	if (!ok)
		ksft_print_msg("code %d, \"%s\"\n", g.error.code, g.error.text);
	ksft_test_result(ok, "and is not read\n");
	close(fd);
	close(exe);
	ok = !netlink_config_set(g.nl, BEEUNWIND_A_CONFIG_BUDGET, info.budget, &g.error);
	ksft_test_result(ok, "the budget is set back\n");
}

/* ftrace's allocations for a hook must be usable when it is placed again, or be freed. */
static void test_hook(void)
{
	bool ok = true;
	int i;

	for (i = 0; ok && i < 50; i++)
		ok = !netlink_config_set(g.nl, BEEUNWIND_A_CONFIG_HOOK,
					 BEEUNWIND_HOOK_STATE_OFF, &g.error) &&
		     !netlink_config_set(g.nl, BEEUNWIND_A_CONFIG_HOOK,
					 BEEUNWIND_HOOK_STATE_ON, &g.error);
	if (!ok)
		ksft_print_msg("\"%s\"\n", g.error.text);
	ksft_test_result(ok, "the hook is switched off and on, %d times\n", i);
}

static bool settings_are(uint32_t follow, uint32_t announce)
{
	struct netlink_info info;

	guest_info(&g, &info);
	if (info.follow == follow && info.announce == announce)
		return true;
	ksft_print_msg("follow is %u, announce %u\n", info.follow, info.announce);
	return false;
}

#define MANAGED	BEEUNWIND_FOLLOW_MANAGED
#define ALL	BEEUNWIND_FOLLOW_ALL
#define SAMPLED	BEEUNWIND_ANNOUNCE_SAMPLED
#define MAPPED	BEEUNWIND_ANNOUNCE_MAPPED

static bool hold(struct netlink *nl, int setting, uint32_t value)
{
	return !netlink_config_hold(nl, setting, value, &g.error);
}

/* Hold both settings and be killed. */
static void hold_and_die(void)
{
	struct netlink *nl = netlink_open(&g.error);

	if (nl && hold(nl, BEEUNWIND_A_CONFIG_FOLLOW, ALL) &&
	    hold(nl, BEEUNWIND_A_CONFIG_ANNOUNCE, MAPPED) && settings_are(ALL, MAPPED))
		raise(SIGKILL);
	_exit(1);
}

/* Settings that hold until a socket is closed. */
static void test_holds(void)
{
	struct netlink *one = netlink_open(&g.error), *two = netlink_open(&g.error);
	int status = 0;
	pid_t pid;
	bool ok;

	ksft_test_result(settings_are(MANAGED, SAMPLED), "settings of a module that was loaded\n");
	ok = one && two && hold(one, BEEUNWIND_A_CONFIG_FOLLOW, ALL) && settings_are(ALL, SAMPLED) &&
	     hold(two, BEEUNWIND_A_CONFIG_FOLLOW, ALL) &&
	     hold(two, BEEUNWIND_A_CONFIG_ANNOUNCE, MAPPED) && settings_are(ALL, MAPPED) &&
	     hold(two, BEEUNWIND_A_CONFIG_ANNOUNCE, SAMPLED) && settings_are(ALL, SAMPLED) &&
	     hold(two, BEEUNWIND_A_CONFIG_ANNOUNCE, MAPPED) &&
	     hold(two, BEEUNWIND_A_CONFIG_CODE, 1) && settings_are(ALL, MAPPED) &&
	     netlink_config_set(one, BEEUNWIND_A_CONFIG_CODE, 1, &g.error);
	netlink_close(two);
	ok &= settings_are(ALL, SAMPLED);
	netlink_close(one);
	ksft_test_result(ok && settings_are(MANAGED, SAMPLED), "held until the last socket closes\n");

	fflush(stdout);
	pid = fork();
	if (!pid)
		hold_and_die();
	waitpid(pid, &status, 0);
	ksft_test_result(WIFSIGNALED(status) && settings_are(MANAGED, SAMPLED),
			 "nothing is left of a client that was killed\n");

	one = netlink_open(&g.error);
	ok = one && hold(one, BEEUNWIND_A_CONFIG_FOLLOW, ALL) &&
	     hold(one, BEEUNWIND_A_CONFIG_ANNOUNCE, MAPPED) &&
	     !netlink_config_set(g.nl, BEEUNWIND_A_CONFIG_FOLLOW, MANAGED, &g.error) &&
	     settings_are(MANAGED, MAPPED) &&
	     !netlink_config_set(g.nl, BEEUNWIND_A_CONFIG_FOLLOW, ALL, &g.error);
	netlink_close(one);
	ok &= settings_are(ALL, SAMPLED) &&
	      !netlink_config_set(g.nl, BEEUNWIND_A_CONFIG_FOLLOW, MANAGED, &g.error);
	ksft_test_result(ok && settings_are(MANAGED, SAMPLED), "a setting that is made stays made\n");

	ok = netlink_config_hold(g.nl, BEEUNWIND_A_CONFIG_HOOK, BEEUNWIND_HOOK_STATE_OFF,
				 &g.error) && g.error.code == EINVAL &&
	     strstr(g.error.text, "only follow, announce and code");
	ok &= netlink_config_hold(g.nl, BEEUNWIND_A_CONFIG_FOLLOW, ALL + 1, &g.error) &&
	      g.error.code == ERANGE;
	ksft_test_result(ok, "what cannot be held\n");
}

/* One file, by its descriptor. */
static void test_one_file(void)
{
	int known = open(ELF, O_RDONLY | O_CLOEXEC), other = open("/proc/self/exe", O_RDONLY);
	struct netlink_file file, listed = {};
	struct netlink_files files;
	const struct netlink_file *found;
	bool ok = !netlink_files_get(g.nl, &files, &g.error);

	found = netlink_files_find(&files, table);
	if (found)
		listed = *found;
	netlink_files_free(&files);
	ok &= !netlink_file_get(g.nl, known, &file, &g.error) && file.id == table && file.loaded &&
	      file.inode == listed.inode && file.device == listed.device &&
	      file.users == listed.users && file.bytes == listed.bytes;
	ksft_test_result(ok, "a file by its descriptor\n");
	ok = !netlink_file_get(g.nl, other, &file, &g.error) && !file.loaded && !file.users &&
	     file.size && !netlink_files_get(g.nl, &files, &g.error) &&
	     !netlink_files_find(&files, file.id);
	netlink_files_free(&files);
	ksft_test_result(ok, "one that the module does not know, and does not keep\n");
	ok = !netlink_file_get(g.nl, NETLINK_VDSO, &file, &g.error) && !file.inode &&
	     netlink_file_get(g.nl, 12345, &file, &g.error) && g.error.code == EBADF;
	ksft_test_result(ok, "the vDSO, and no file\n");
	close(known);
	close(other);
}

/* What says how complete stacks are; nothing has been sampled here. */
static void test_counts(void)
{
	struct netlink_files files;
	struct netlink_procs procs;
	struct netlink_proc proc;
	struct netlink_file file;
	size_t i;
	bool ok;

	guest_get_proc(&g, target, &proc);
	ok = proc.ranges.count && !netlink_procs_get_counts(g.nl, &procs, &g.error);
	for (i = 0; ok && i < procs.count && procs.proc[i].cookie != proc.cookie; i++)
		;
	ok = ok && i < procs.count && procs.proc[i].pid == (uint32_t)target &&
	     procs.proc[i].nranges == proc.ranges.count && !procs.proc[i].ranges.count;
	ksft_test_result(ok, "a process without its ranges\n");
	netlink_procs_free(&procs);
	ranges_free(&proc.ranges);
	ok = !netlink_files_get_counts(g.nl, &files, &g.error) && !netlink_files_find(&files, table);
	netlink_files_free(&files);
	ksft_test_result(ok && !netlink_file_get_id(g.nl, table, &file, &g.error) && file.loaded,
			 "a file in which no walk has ended is left out\n");
	ksft_test_result(netlink_file_get_id(g.nl, 0x7fffffff, &file, &g.error) &&
			 g.error.code == ENOENT, "a file by an id that there is not\n");
}

/* As user nobody, over a connection of its own.  Return: number of requests not refused. */
static int unprivileged(void)
{
	struct netlink_proc proc = { .pid = target };
	struct range one = at(50, 1, 0);
	struct netlink_files tables = {};
	struct netlink_procs procs = {};
	struct netlink_users users = {};
	struct netlink_stats stats;
	struct netlink_file one_file;
	struct netlink_info info;
	struct guest u = {};
	int fd = guest_table_fd(ELF), bad = 0;
	uint32_t id;

	if (setgid(65534) || setuid(65534))
		return 100;
	u.nl = netlink_open(&u.error);
	if (!u.nl)
		return u.error.code == EPERM ? 0 : 101;
#define DENIED(call) (bad += !((call) && u.error.code == EPERM))
	DENIED(netlink_info_get(u.nl, &info, &u.error));
	DENIED(netlink_stats_get(u.nl, &stats, &u.error));
	DENIED(netlink_table_add(u.nl, fd, NETLINK_VDSO, &id, &u.error));
	DENIED(netlink_table_del(u.nl, table, true, &u.error));
	DENIED(netlink_files_get(u.nl, &tables, &u.error));
	DENIED(netlink_file_get(u.nl, fd, &one_file, &u.error));
	DENIED(netlink_config_hold(u.nl, BEEUNWIND_A_CONFIG_FOLLOW, BEEUNWIND_FOLLOW_ALL, &u.error));
	DENIED(netlink_table_set(u.nl, fd, table, &u.error));
	DENIED(netlink_proc_add(u.nl, &proc, &u.error));
	DENIED(guest_update(&u, &proc, NULL, 0, &one, 1));
	DENIED(netlink_proc_del(u.nl, target, &u.error));
	DENIED(netlink_procs_get(u.nl, 0, &procs, &u.error));
	DENIED(netlink_users_get(u.nl, &users, &u.error));
	DENIED(netlink_config_set(u.nl, BEEUNWIND_A_CONFIG_SHARE, 1, &u.error));
	DENIED(netlink_config_set(u.nl, BEEUNWIND_A_CONFIG_MOST_RANGES, 1, &u.error));
	DENIED(netlink_config_set(u.nl, BEEUNWIND_A_CONFIG_BUDGET, 1, &u.error));
	DENIED(netlink_config_set(u.nl, BEEUNWIND_A_CONFIG_HOOK,
				  BEEUNWIND_HOOK_STATE_OFF, &u.error));
	DENIED(netlink_config_set(u.nl, BEEUNWIND_A_CONFIG_FOLLOW, BEEUNWIND_FOLLOW_ALL, &u.error));
	DENIED(netlink_config_set(u.nl, BEEUNWIND_A_CONFIG_ANNOUNCE,
				  BEEUNWIND_ANNOUNCE_MAPPED, &u.error));
	return bad;
}

static void test_unprivileged(void)
{
	int status = -1;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (!pid)
		_exit(unprivileged());
	waitpid(pid, &status, 0);
	if (status)
		ksft_print_msg("%d requests were not refused\n", WEXITSTATUS(status));
	ksft_test_result(!status, "nobody may do nothing\n");
}

static bool receive_fails;

/* Overrides libc's recvmsg(), so that libnl calls this one. */
ssize_t recvmsg(int fd, struct msghdr *msg, int flags)
{
	if (!receive_fails)
		return syscall(SYS_recvmsg, fd, msg, flags);
	receive_fails = false;
	errno = ENOBUFS;
	return -1;
}

/* An answer that could not be received must not be taken for that of the next request. */
static void test_broken_exchange(void)
{
	struct netlink_files tables;
	struct netlink_info info;
	bool failed;

	receive_fails = true;
	failed = netlink_files_get(g.nl, &tables, &g.error);
	netlink_files_free(&tables);
	ksft_test_result(failed && !netlink_info_get(g.nl, &info, &g.error) &&
			 info.table_version == BEE_TABLE_VERSION &&
			 !netlink_info_get(g.nl, &info, &g.error),
			 "a request after one whose answer was not received\n");
}

int main(void)
{
	struct netlink_info start;

	ksft_print_header();
	ksft_set_plan(80);
	guest_open(&g);
	guest_info(&g, &start);
	target = guest_spawn(NULL, NULL);
	table = guest_add_table(&g, ELF);

	test_good_diffs();
	test_refused_diffs();
	test_attributes();
	test_exiting();
	test_many_ranges();
	test_table_dumps();
	test_refused_tables();
	test_tables();
	test_broken_exchange();
	test_budget();
	test_hook();
	test_holds();
	test_one_file();
	test_counts();
	test_unprivileged();

	guest_reap(target);
	ksft_test_result(!netlink_table_del(g.nl, table, false, &g.error),
			 "when its only user is gone a table can be deleted\n");
	ksft_test_result(guest_settles(&g, &start), "everything is given back\n");
	ksft_finished();
}
