// SPDX-License-Identifier: GPL-2.0
/*
 * What users have of the budget: one who wants all that there is gets its share, and the processes of
 * others stay complete.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "events.h"
#include "guest.h"
#include "kselftest.h"

#define LIB	"/lib/x86_64-linux-gnu/libcrypt.so.1"
#define COPY	"/tmp/share_test.so"

/* Bytes that the budget has beside what is used when a part begins. */
#define ROOM	(1ul << 20)

/* Ranges of a process, and how many children are too many: each has these and one more, for itself. */
#define RANGES		200
#define CHILDREN	200

/* So many files, each with a table.  A share of IDLE_SHARE percent has no room for all the tables. */
#define IDLE		16
#define IDLE_SHARE	10

static struct guest g;

/**
 * struct user - a process of a user, with ranges, that forks a child when it is told to
 * @uid: the user
 * @contained: the process is in a user namespace, in which it is @uid
 * @maker: who makes the namespace
 * @uids: /proc/PID/uid_map of the namespace
 * @managed: the process is managed before it maps anything
 * @path: what it maps
 * @idle: the process also maps the files of idle_path(), whose tables add_idle() has made
 * @pid: the process
 * @go: the pipe by which it is told to go on
 * @told: that by which it or its child tells its pid when it has done so
 */
struct user {
	uid_t		 uid;
	bool		 contained;
	uid_t		 maker;
	const char	*uids;
	bool		 managed;
	const char	*path;
	bool		 idle;
	pid_t		 pid;
	int		 go[2];
	int		 told[2];
};

static void tell(const struct user *u)
{
	pid_t self = getpid();

	if (write(u->told[1], &self, sizeof(self)) != sizeof(self))
		_exit(1);
}

static void await(const struct user *u)
{
	char c;

	if (read(u->go[0], &c, 1) != 1)
		_exit(1);
}

/* Alternating pages, so that mappings do not merge. */
static void map_alternately(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), i;

	for (i = 0; i < RANGES; i++)
		if (mmap(NULL, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, (i & 1) * PAGE) ==
		    MAP_FAILED)
			_exit(1);
	close(fd);
}

static const char *idle_path(int n)
{
	static char path[64];

	snprintf(path, sizeof(path), "/tmp/share_test.%d.so", n);
	return path;
}

static void map_idle(void)
{
	int n, fd;

	for (n = 0; n < IDLE; n++) {
		fd = open(idle_path(n), O_RDONLY | O_CLOEXEC);
		if (mmap(NULL, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0) == MAP_FAILED)
			_exit(1);
		close(fd);
	}
}

static void be_user(const struct user *u)
{
	pid_t self = getpid();

	if (u->contained) {
		if (setresuid(u->maker, u->maker, u->maker) || unshare(CLONE_NEWUSER))
			_exit(1);
		tell(u);
		await(u);
	}
	if (setresuid(u->uid, u->uid, u->uid))
		_exit(1);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (u->managed) {
		tell(u);
		await(u);
	}
	map_alternately(u->path);
	if (u->idle)
		map_idle();
	tell(u);
	for (;;) {
		await(u);
		if (fork())
			continue;
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != self)
			_exit(0);
		mmap(NULL, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		tell(u);
		for (;;)
			pause();
	}
}

/* Return: the pid that is told. */
static pid_t hear(const struct user *u)
{
	pid_t pid;

	if (read(u->told[0], &pid, sizeof(pid)) != sizeof(pid))
		guest_die("a user's process", "has ended");
	return pid;
}

static void go(const struct user *u)
{
	if (write(u->go[1], "", 1) != 1)
		guest_die("pipe", strerror(errno));
}

/* Return: 0, or -1 if it is refused. */
static int manage(const struct user *u)
{
	struct netlink_proc proc = { .pid = u->pid };

	return netlink_proc_add(g.nl, &proc, &g.error);
}

static void start(struct user *u)
{
	char path[64];
	FILE *map;

	if (pipe2(u->go, O_CLOEXEC) || pipe2(u->told, O_CLOEXEC))
		guest_die("pipe", strerror(errno));
	fflush(stdout);
	u->pid = fork();
	if (!u->pid) {
		/* So that it ends when this program does. */
		close(u->go[1]);
		close(u->told[0]);
		be_user(u);
	}
	close(u->go[0]);
	close(u->told[1]);
	if (u->contained) {
		hear(u);
		snprintf(path, sizeof(path), "/proc/%d/uid_map", u->pid);
		map = fopen(path, "w");
		if (!map || fprintf(map, "%s\n", u->uids) < 0 || fclose(map))
			guest_die(path, strerror(errno));
		go(u);
	}
	if (u->managed) {
		hear(u);
		if (manage(u))
			guest_die("proc-add", g.error.text);
		go(u);
	}
	hear(u);
}

static void end(struct user *u)
{
	guest_reap(u->pid);
	close(u->go[1]);
	close(u->told[0]);
}

/* All zero if nothing is charged to the user. */
static struct netlink_user find(uid_t uid)
{
	struct netlink_user found = {};
	struct netlink_users users;
	size_t i;

	if (netlink_users_get(g.nl, &users, &g.error))
		guest_die("user-get", g.error.text);
	for (i = 0; i < users.count; i++)
		if (users.user[i].uid == uid)
			found = users.user[i];
	netlink_users_free(&users);
	return found;
}

static uint64_t lost(void)
{
	struct netlink_info info;

	guest_info(&g, &info);
	return info.follow_lost;
}

/* Fork children until one gets no memory.  Return: how many. */
static int take_all(const struct user *u)
{
	uint64_t before = lost();
	int n = 0;

	while (n < CHILDREN && lost() == before) {
		go(u);
		hear(u);
		n++;
	}
	return n;
}

/* A process of this user, and a child that has its own ranges: is all of them complete? */
static bool is_served(uid_t uid)
{
	struct user u = { .uid = uid, .path = LIB };
	uint64_t before = lost();
	bool good;
	pid_t child;

	start(&u);
	good = !manage(&u);
	if (!good)
		ksft_print_msg("user %u: %s\n", uid, g.error.text);
	go(&u);
	child = hear(&u);
	good = good && guest_is_exact(&g, u.pid) && guest_is_exact(&g, child) && lost() == before;
	end(&u);
	return good;
}

static void set(int setting, uint64_t value)
{
	if (netlink_config_set(g.nl, setting, value, &g.error))
		guest_die("config-set", g.error.text);
}

static void set_room(void)
{
	struct netlink_info info;

	guest_info_at_rest(&g, &info);
	set(BEEUNWIND_A_CONFIG_BUDGET, netlink_info_used(&info) + ROOM);
}

/*
 * A request for as many ranges again, of a process whose user has used up the share.  What is left of
 * the share is less than a child needs, and the request needs more: if the last child got a copy of
 * the ranges and nothing for its own, the copy is free again.
 */
static void test_no_more(const struct user *u)
{
	struct range more[RANGES];
	struct netlink_proc proc;
	char sentence[64];
	int i;

	for (i = 0; i < RANGES; i++)
		more[i] = (struct range) { .start = (2 * i + 16) * PAGE, .end = (2 * i + 17) * PAGE };
	snprintf(sentence, sizeof(sentence), "over the share of user %u", u->uid);
	guest_get_proc(&g, u->pid, &proc);
	ksft_test_result(guest_update(&g, &proc, NULL, 0, more, RANGES) && g.error.code == EDQUOT &&
			 strstr(g.error.text, sentence), "more ranges are refused: %s\n", g.error.text);
	ranges_free(&proc.ranges);
}

static void test_greedy(void)
{
	struct user first = { .uid = 1001, .path = LIB }, second = { .uid = 1002, .path = LIB };
	struct user root = { .uid = 0, .path = LIB };
	struct netlink_info rest;
	struct netlink_user a, b;
	int n;

	set_room();
	start(&first);
	start(&second);
	start(&root);
	if (manage(&first) || manage(&second))
		guest_die("proc-add", g.error.text);
	n = take_all(&first);
	a = find(1001);
	ksft_print_msg("%d children, %lu bytes of at most %lu\n", n, (unsigned long)a.bytes,
		       (unsigned long)a.most);
	ksft_test_result(n < CHILDREN && a.refused && a.bytes > ROOM / 4 && a.bytes <= a.most + a.most / 4,
			 "who wants all gets a share\n");
	test_no_more(&first);
	ksft_test_result(is_served(1003), "another user's processes are complete\n");
	n = take_all(&second);
	b = find(1002);
	ksft_print_msg("%d children, %lu bytes of at most %lu\n", n, (unsigned long)b.bytes,
		       (unsigned long)b.most);
	ksft_test_result(n < CHILDREN && b.refused && b.bytes > ROOM / 8 && b.bytes < a.bytes,
			 "a second one gets a share of what is left\n");
	ksft_test_result(is_served(1003), "and the other's are complete still\n");
	guest_info_at_rest(&g, &rest);	/* what is still to be freed would leave room beside root */
	if (manage(&root))
		guest_die("proc-add", g.error.text);
	n = take_all(&root);
	ksft_test_result(n < CHILDREN && !find(0).refused && !is_served(1003),
			 "root gets all, and then nobody gets more\n");
	end(&root);
	end(&second);
	end(&first);
}

static void test_namespace(void)
{
	const char *uids = "0 200000 10";
	struct user u = { .uid = 5, .contained = true, .maker = 1004, .uids = uids, .path = LIB };
	struct user of_root = { .uid = 5, .contained = true, .uids = uids, .path = LIB };
	struct user of_host = { .uid = 1011, .contained = true, .uids = "0 0 1\n1011 1011 1", .path = LIB };
	struct user of_nobody = { .uid = 1021, .contained = true, .uids = "1021 1021 1", .path = LIB };

	start(&u);
	if (manage(&u))
		guest_die("proc-add", g.error.text);
	ksft_test_result(find(1004).bytes > RANGES * 32 && !find(200005).bytes && !find(5).bytes,
			 "in a user namespace its maker pays\n");
	end(&u);
	start(&of_root);
	if (manage(&of_root))
		guest_die("proc-add", g.error.text);
	ksft_test_result(find(200000).bytes > RANGES * 32 && !find(200005).bytes,
			 "in one that root has made, its root pays\n");
	end(&of_root);
	start(&of_host);
	if (manage(&of_host))
		guest_die("proc-add", g.error.text);
	ksft_test_result(find(1011).bytes > RANGES * 32, "and if that is the host's, each for itself\n");
	end(&of_host);
	start(&of_nobody);
	if (manage(&of_nobody))
		guest_die("proc-add", g.error.text);
	ksft_test_result(find(1021).bytes > RANGES * 32, "also if nobody is root in it\n");
	end(&of_nobody);
}

static uint32_t id_of(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct netlink_file file;

	if (netlink_file_get(g.nl, fd, &file, &g.error))
		guest_die("file-get", g.error.text);
	close(fd);
	return file.id;
}

/* Two users map COPY, the first of them first.  Return: its id. */
static uint32_t start_both(struct user *u, struct user *other)
{
	start(u);
	start(other);
	if (manage(u) || manage(other))
		guest_die("proc-add", g.error.text);
	return id_of(COPY);
}

/* Wait until a user pays for nothing more. */
static bool comes_to_nothing(uint32_t uid)
{
	const long deadline = guest_deadline();

	while (find(uid).bytes)
		if (!guest_waits(deadline))
			return false;
	return true;
}

static void test_table(void)
{
	struct user u = { .uid = 1005, .path = COPY }, other = { .uid = 1006, .path = COPY };
	int table = guest_table_fd("/lib/x86_64-linux-gnu/libc.so.6");
	struct netlink_file file;
	struct netlink_info rest;
	uint64_t before, after, other_before;
	uint32_t id;
	bool ok;

	set_room();
	id = start_both(&u, &other);
	guest_info_at_rest(&g, &rest);
	before = find(1005).bytes;
	/* Of the small budget that is less than what the user has. */
	set(BEEUNWIND_A_CONFIG_SHARE, 1);
	ksft_test_result(netlink_table_set(g.nl, table, id, &g.error) && g.error.code == EDQUOT &&
			 strstr(g.error.text, "share") && find(1005).bytes == before,
			 "a table beyond the share is refused: %s\n", g.error.text);
	set(BEEUNWIND_A_CONFIG_SHARE, 50);
	if (netlink_table_set(g.nl, table, id, &g.error))
		guest_die("table-add", g.error.text);
	guest_get_table(&g, id, &file);
	after = find(1005).bytes;
	ksft_test_result(after > before + 10000 && find(1006).bytes < before,
			 "who maps the file first pays for its table\n");
	other_before = find(1006).bytes;
	end(&u);
	ksft_test_result(comes_to_nothing(1005) && find(1006).bytes > other_before + after - before,
			 "who still has it mapped pays when the first one has ended\n");
	end(&other);
	ok = comes_to_nothing(1006);
	guest_get_table(&g, id, &file);
	ksft_test_result(ok && file.loaded && !file.users, "nobody does for one that is idle\n");
	start(&other);
	if (manage(&other))
		guest_die("proc-add", g.error.text);
	ksft_test_result(find(1006).bytes > after - before, "who maps it again does\n");
	end(&other);
	if (!comes_to_nothing(1006))
		guest_die("user 1006", "pays for what is idle");
	if (netlink_table_del(g.nl, id, false, &g.error))
		guest_die("table-del", g.error.text);
	close(table);
}

/* Wait for the message that a file has no table.  Return: whether it names a process of @u, and its user. */
static bool is_news_of(const struct user *u, struct netlink_events *events, uint32_t id)
{
	const long deadline = guest_deadline();
	struct netlink_file file;

	do {
		while (netlink_events_next(events, &file) == NETLINK_EVENT_FILE)
			if (file.id == id)
				return file.pid == (uint32_t)u->pid && file.uid == u->uid;
	} while (guest_waits(deadline));
	return false;
}

/* A file whose table was refused, as its user has no room, is mapped by another user. */
static void test_again(void)
{
	struct user u = { .uid = 1009, .managed = true, .path = COPY };
	struct user other = { .uid = 1010, .managed = true, .path = COPY };
	int table = guest_table_fd("/lib/x86_64-linux-gnu/libc.so.6");
	struct netlink_events *events = netlink_events_open(&g.error);
	struct netlink_file file;
	bool first, second;
	uint32_t id, told;

	if (!events)
		guest_die("events", g.error.text);
	set_room();
	set(BEEUNWIND_A_CONFIG_ANNOUNCE, BEEUNWIND_ANNOUNCE_MAPPED);
	start(&u);
	id = id_of(COPY);
	first = is_news_of(&u, events, id);
	set(BEEUNWIND_A_CONFIG_SHARE, 1);
	if (!netlink_table_set(g.nl, table, id, &g.error) || g.error.code != EDQUOT)
		guest_die("table-add", "not refused for the share");
	set(BEEUNWIND_A_CONFIG_SHARE, 50);
	start(&other);
	second = is_news_of(&other, events, id);
	ksft_test_result(first && second, "and the file is announced again, as the other's\n");
	told = other.pid;
	end(&other);
	start(&other);
	guest_get_table(&g, id, &file);
	ksft_test_result(file.pid == told && file.uid == other.uid && told != (uint32_t)other.pid, "once\n");
	end(&other);
	end(&u);
	set(BEEUNWIND_A_CONFIG_ANNOUNCE, BEEUNWIND_ANNOUNCE_SAMPLED);
	netlink_events_close(events);
	close(table);
}

/* Users with all of their part leave root an eighth of the budget. */
static void test_eighth(void)
{
	struct user first = { .uid = 1012, .path = LIB }, root = { .uid = 0, .path = LIB };
	struct netlink_info info;
	int n;

	set_room();
	set(BEEUNWIND_A_CONFIG_SHARE, 100);
	start(&first);
	start(&root);
	if (manage(&first))
		guest_die("proc-add", g.error.text);
	n = take_all(&first);
	guest_info_at_rest(&g, &info);
	ksft_print_msg("%d children, %lu bytes of a budget of %lu\n", n, (unsigned long)find(1012).bytes,
		       (unsigned long)info.budget);
	ksft_test_result(n < CHILDREN && find(1012).bytes <= info.budget - info.budget / 8 &&
			 !manage(&root) && guest_is_exact(&g, root.pid),
			 "with a share of 100 percent a user leaves root an eighth\n");
	end(&root);
	end(&first);
	set(BEEUNWIND_A_CONFIG_SHARE, 50);
}

/* One who has used up its share has mapped the file first, and another user has it mapped. */
static void test_move(void)
{
	struct user u = { .uid = 1007, .path = COPY }, other = { .uid = 1008, .path = COPY };
	int table = guest_table_fd("/lib/x86_64-linux-gnu/libc.so.6");
	struct netlink_file file;
	uint64_t before;
	uint32_t id;

	set_room();
	id = start_both(&u, &other);
	take_all(&u);
	before = find(1008).bytes;
	if (netlink_table_set(g.nl, table, id, &g.error))
		ksft_print_msg("%s\n", g.error.text);
	guest_get_table(&g, id, &file);
	ksft_test_result(file.loaded && find(1008).bytes > before + 10000,
			 "a user without room does not keep another's file without a table\n");
	end(&other);
	end(&u);
	if (netlink_table_del(g.nl, id, true, &g.error))
		ksft_print_msg("%s\n", g.error.text);
	close(table);
}

/* Add a table to each of the files while nobody has them mapped.  @ids: filled with their ids. */
static void add_idle(uint32_t *ids)
{
	int table = guest_table_fd("/lib/x86_64-linux-gnu/libc.so.6"), n, fd;

	for (n = 0; n < IDLE; n++) {
		fd = open(idle_path(n), O_RDONLY | O_CLOEXEC);
		if (netlink_table_add(g.nl, table, fd, &ids[n], &g.error))
			guest_die("table-add", g.error.text);
		close(fd);
	}
	close(table);
}

static int count_loaded(const uint32_t *ids)
{
	struct netlink_files files;
	int n, loaded = 0;

	if (netlink_files_get(g.nl, &files, &g.error))
		guest_die("file-get", g.error.text);
	for (n = 0; n < IDLE; n++) {
		const struct netlink_file *file = netlink_files_find(&files, ids[n]);

		loaded += file && file->loaded;
	}
	netlink_files_free(&files);
	return loaded;
}

/* @u has ended.  Set the share back and remove the tables. */
static void end_idle(const struct user *u, const uint32_t *ids)
{
	int n;

	set(BEEUNWIND_A_CONFIG_SHARE, 50);
	if (!comes_to_nothing(u->uid))
		guest_die("a user", "pays for what is idle");
	/* Those that were evicted are refused. */
	for (n = 0; n < IDLE; n++)
		netlink_table_del(g.nl, ids[n], false, &g.error);
}

/*
 * A user has @id mapped, pays for the file, and not for its table.  The budget and the share of the user are used up.
 * Then the module gets another table for the file.  It must refuse that by the share before it asks the budget,
 * which would evict tables to make room.
 */
static void check_refused(uint32_t id, const uint32_t *ids)
{
	int table = guest_table_fd(LIB), err;
	struct netlink_info info;

	guest_info_at_rest(&g, &info);
	set(BEEUNWIND_A_CONFIG_BUDGET, netlink_info_used(&info));
	set(BEEUNWIND_A_CONFIG_SHARE, 1);
	err = netlink_table_set(g.nl, table, id, &g.error);
	set(BEEUNWIND_A_CONFIG_SHARE, IDLE_SHARE);
	ksft_test_result(err && g.error.code == EDQUOT && count_loaded(ids) == IDLE,
			 "a table that the share refuses evicts no other\n");
	close(table);
}

/*
 * @u maps all the files, but its share has no room for all the tables.  It pays for some of them.  The
 * others are evicted when the budget is lowered.
 */
static void check_idle(struct user *u, const char *how)
{
	struct netlink_user charged;
	struct netlink_info info;
	uint32_t ids[IDLE];
	int before, after;
	bool good;

	add_idle(ids);
	set(BEEUNWIND_A_CONFIG_SHARE, IDLE_SHARE);
	start(u);
	if (!u->managed && manage(u))
		ksft_print_msg("%s\n", g.error.text);
	good = guest_becomes_exact(&g, u->pid);
	guest_info_at_rest(&g, &info);	/* what is still to be freed is charged */
	before = count_loaded(ids);
	charged = find(u->uid);
	ksft_print_msg("%d of %d tables, %lu bytes of at most %lu\n", before, IDLE,
		       (unsigned long)charged.bytes, (unsigned long)charged.most);
	ksft_test_result(good && before == IDLE && charged.bytes <= charged.most && is_served(1003),
			 "who maps idle tables keeps to its share, %s\n", how);
	/*
	 * At the request the module has looked at the user's mappings, from low addresses to high ones.  mmap() goes
	 * down, so the file that was mapped first came last: the user had no room for its table any more.
	 */
	if (!u->managed)
		check_refused(ids[0], ids);
	guest_info_at_rest(&g, &info);
	set(BEEUNWIND_A_CONFIG_BUDGET, netlink_info_used(&info) - 1);
	after = count_loaded(ids);
	ksft_print_msg("%d of %d tables\n", after, IDLE);
	ksft_test_result(after < IDLE && find(u->uid).bytes == charged.bytes && guest_is_exact(&g, u->pid),
			 "and what is beyond is evicted, %s\n", how);
	end(u);
	end_idle(u, ids);
}

/*
 * Two users map all the files.  The first pays for them and ends; the second, whose share has no room
 * for all the tables, is to pay then.
 */
static void check_handed_on(void)
{
	struct user u = { .uid = 1015, .path = LIB, .idle = true };
	struct user other = { .uid = 1016, .path = LIB, .idle = true };
	struct netlink_user charged;
	uint32_t ids[IDLE];
	uint64_t before;
	bool good;

	add_idle(ids);
	start(&u);
	start(&other);
	if (manage(&u) || manage(&other))
		guest_die("proc-add", g.error.text);
	before = find(u.uid).bytes;
	set(BEEUNWIND_A_CONFIG_SHARE, IDLE_SHARE);
	end(&u);
	good = comes_to_nothing(u.uid);
	charged = find(other.uid);
	ksft_print_msg("%lu bytes before, then %lu of at most %lu\n", (unsigned long)before,
		       (unsigned long)charged.bytes, (unsigned long)charged.most);
	ksft_test_result(good && before > charged.most && charged.bytes <= charged.most &&
			 count_loaded(ids) == IDLE, "who is left with another's tables does, too\n");
	end(&other);
	end_idle(&other, ids);
}

static void test_idle(void)
{
	struct user by_request = { .uid = 1013, .path = LIB, .idle = true };
	struct user followed = { .uid = 1014, .path = LIB, .idle = true, .managed = true };
	char command[128];
	int n;

	for (n = 0; n < IDLE; n++) {
		snprintf(command, sizeof(command), "cp -L " LIB " %s", idle_path(n));
		if (system(command))
			guest_die(idle_path(n), "cannot be made");
	}
	set_room();
	check_idle(&by_request, "by a request");
	set_room();
	check_idle(&followed, "as it maps them");
	set_room();
	check_handed_on();
	for (n = 0; n < IDLE; n++)
		unlink(idle_path(n));
}

static void test_config(void)
{
	struct netlink_info info;

	ksft_test_result(netlink_config_set(g.nl, BEEUNWIND_A_CONFIG_SHARE, 0, &g.error) &&
			 netlink_config_set(g.nl, BEEUNWIND_A_CONFIG_SHARE, 101, &g.error),
			 "no share of 0 or 101 percent\n");
	set(BEEUNWIND_A_CONFIG_SHARE, 100);
	guest_info(&g, &info);
	ksft_test_result(info.share == 100, "one of 100 percent\n");
	set(BEEUNWIND_A_CONFIG_SHARE, 50);
}

int main(void)
{
	struct netlink_info begin;

	ksft_print_header();
	ksft_set_plan(28);
	if (system("cp -L " LIB " " COPY " && chmod 755 " COPY))
		guest_die(COPY, "cannot be made");
	guest_open(&g);
	guest_info_at_rest(&g, &begin);
	test_greedy();
	test_move();
	test_namespace();
	test_table();
	test_again();
	test_eighth();
	test_idle();
	test_config();
	set(BEEUNWIND_A_CONFIG_BUDGET, begin.budget);
	unlink(COPY);
	ksft_test_result(guest_settles(&g, &begin), "nothing is left of them\n");
	ksft_finished();
}
