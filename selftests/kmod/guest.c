// SPDX-License-Identifier: GPL-2.0
/* Functions shared by the programs that test the loaded module. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/membarrier.h>
#include <linux/perf_event.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "compile.h"
#include "guest.h"

/** guest_die() - report @what failed and @why, and end the test */
void guest_die(const char *what, const char *why)
{
	printf("Bail out! %s: %s\n", what, why);
	exit(1);
}

/** guest_open() - connect to the module, or end the test */
void guest_open(struct guest *g)
{
	g->nl = netlink_open(&g->error);
	if (!g->nl)
		guest_die("netlink", g->error.text);
}

/** guest_table_fd() - compile an ELF file.  Return: a memfd with the table */
int guest_table_fd(const char *elf)
{
	struct compile_result result;
	struct bee_error error;
	int fd = memfd_create("table", MFD_CLOEXEC), in = open(elf, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || in < 0)
		guest_die(elf, strerror(errno));
	if (compile_elf(in, NULL, &result, &error))
		guest_die(elf, error.text);
	if (write(fd, result.blob, result.size) != (ssize_t)result.size)
		guest_die(elf, "short write");
	compile_result_free(&result);
	close(in);
	return fd;
}

/** guest_add_table() - compile an ELF file and give its table to the module */
uint32_t guest_add_table(struct guest *g, const char *elf)
{
	int fd = guest_table_fd(elf), exe = open(elf, O_RDONLY | O_CLOEXEC);
	uint32_t id = 0;

	if (netlink_table_add(g->nl, fd, exe, &id, &g->error))
		guest_die("table-add", g->error.text);
	close(fd);
	close(exe);
	return id;
}

/** guest_get_proc() - get a process's ranges; @proc is all zero if it is not managed */
void guest_get_proc(struct guest *g, pid_t pid, struct netlink_proc *proc)
{
	struct netlink_procs procs = {};

	memset(proc, 0, sizeof(*proc));
	proc->pid = pid;
	if (netlink_procs_get(g->nl, pid, &procs, &g->error))
		guest_die("proc-get", g->error.text);
	if (procs.count > 1)
		guest_die("proc-get", "more than one address space for one pid");
	if (procs.count) {
		*proc = procs.proc[0];
		memset(&procs.proc[0].ranges, 0, sizeof(procs.proc[0].ranges));
		proc->pid = pid;
	}
	netlink_procs_free(&procs);
}

/** guest_update() - send one diff as it is.  Return: 0, or -1 with g->error filled */
int guest_update(struct guest *g, struct netlink_proc *proc, struct range *del, size_t ndel,
		 struct range *add, size_t nadd)
{
	struct range_diff diff = {
		.del = { .range = del, .count = ndel, .room = ndel },
		.add = { .range = add, .count = nadd, .room = nadd },
	};

	memset(&g->error, 0, sizeof(g->error));
	return netlink_proc_update(g->nl, proc, &diff, &g->error);
}

/** guest_get_table() - get one file; @table is all zero if the module does not know it */
void guest_get_table(struct guest *g, uint32_t id, struct netlink_file *table)
{
	struct netlink_files tables;
	size_t i;

	memset(table, 0, sizeof(*table));
	if (netlink_files_get(g->nl, &tables, &g->error))
		guest_die("table-get", g->error.text);
	for (i = 0; i < tables.count; i++)
		if (tables.file[i].id == id)
			*table = tables.file[i];
	netlink_files_free(&tables);
}

/** guest_is_loaded() - whether a file has a table */
bool guest_is_loaded(struct guest *g, uint32_t id)
{
	struct netlink_file table;

	guest_get_table(g, id, &table);
	return table.loaded;
}

/** guest_is_managed() - whether the module manages a process */
bool guest_is_managed(struct guest *g, pid_t pid)
{
	struct netlink_proc proc;

	guest_get_proc(g, pid, &proc);
	ranges_free(&proc.ranges);
	return proc.cookie;
}

/** guest_add() - have the module manage a process */
void guest_add(struct guest *g, pid_t pid)
{
	struct netlink_proc proc = { .pid = pid };

	if (netlink_proc_add(g->nl, &proc, &g->error))
		guest_die("proc-add", g->error.text);
}

/** guest_info() - get the module's sums (info-get) */
void guest_info(struct guest *g, struct netlink_info *info)
{
	if (netlink_info_get(g->nl, info, &g->error))
		guest_die("info-get", g->error.text);
}

/**
 * guest_sampler_open() - have the kernel take user stacks of a process
 * @pid: the process, or 0: this thread
 * @period_ns: CPU time from one sample to the next
 * @max_stack: most frames of a sample, or 0: as many as perf takes by itself
 *
 * Return: the event.  Who does not map it loses its samples, but they are taken all the same.
 */
int guest_sampler_open(pid_t pid, uint64_t period_ns, uint16_t max_stack)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE, .size = sizeof(attr), .config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = period_ns, .sample_type = PERF_SAMPLE_CALLCHAIN,
		.exclude_callchain_kernel = 1, .sample_max_stack = max_stack,
	};
	int fd = syscall(SYS_perf_event_open, &attr, pid, -1, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd < 0)
		guest_die("perf_event_open", strerror(errno));
	return fd;
}

/** guest_next_tick() - wait until the kernel's coarse clock, by which files get times, has moved */
void guest_next_tick(void)
{
	const struct timespec poll = { .tv_nsec = 1000000 };
	struct timespec start, now;

	clock_gettime(CLOCK_REALTIME_COARSE, &start);
	do {
		nanosleep(&poll, NULL);
		clock_gettime(CLOCK_REALTIME_COARSE, &now);
	} while (now.tv_sec == start.tv_sec && now.tv_nsec == start.tv_nsec);
}

/* Seconds that a test waits for something: ample even in an emulated machine. */
#define PATIENCE	30
#define PATIENCE_DEBUG	150	/* on the instrumented kernel */

/* Seconds that this guest ran or slept, without those in which it waited for a CPU of the host. */
static long clock_read(void)
{
	char text[32];
	ssize_t n;
	int fd;

	do {
		fd = open("/run/bee/clock", O_RDONLY | O_CLOEXEC);
		if (fd < 0)
			guest_die("/run/bee/clock", strerror(errno));
		n = read(fd, text, sizeof(text) - 1);
		close(fd);
	} while (n <= 0 || text[n - 1] != '\n');	/* it is being written */
	text[n] = '\0';
	return atol(text);
}

/** guest_is_instrumented() - is this a kernel of selftests/vm/debug-kernel?  It is slow. */
bool guest_is_instrumented(void)
{
	const char *kernel = getenv("BEE_KERNEL");

	return kernel && !strcmp(kernel, "debug");
}

/** guest_is_rt() - was this kernel built with PREEMPT_RT?  There the module's callbacks allocate no memory. */
bool guest_is_rt(void)
{
	struct utsname kernel;

	return !uname(&kernel) && strstr(kernel.version, "PREEMPT_RT");
}

/** guest_deadline() - when a test that waits from now on gives up, for guest_waits() */
long guest_deadline(void)
{
	return clock_read() + (guest_is_instrumented() ? PATIENCE_DEBUG : PATIENCE);
}

/** guest_waits() - wait for a moment.  Return: false, at once: it is too late to look again */
bool guest_waits(long deadline)
{
	const struct timespec tick = { .tv_nsec = 10000000 };

	if (clock_read() >= deadline)
		return false;
	nanosleep(&tick, NULL);
	return true;
}

/**
 * guest_info_at_rest() - get the module's sums when nothing is still to be freed
 *
 * The module frees memory an RCU grace period after its last use, and until then it is in the sums.
 * So this reads them until they have stayed equal for six grace periods, which membarrier() waits for.
 */
void guest_info_at_rest(struct guest *g, struct netlink_info *info)
{
	const struct timespec tick = { .tv_nsec = 50000000 };
	const long deadline = guest_deadline();
	struct netlink_info last;
	int same = 0;

	guest_info(g, info);
	while (same < 6) {
		if (clock_read() >= deadline)
			guest_die("info-get", "the sums do not come to rest");
		last = *info;
		syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0);
		nanosleep(&tick, NULL);
		guest_info(g, info);
		same = info->procs == last.procs && info->ranges == last.ranges &&
		       info->table_bytes == last.table_bytes &&
		       info->range_bytes == last.range_bytes ? same + 1 : 0;
	}
}

/* struct vma - a line of /proc/PID/maps; @path: its last bytes */
struct vma {
	uint64_t	start;
	uint64_t	end;
	uint64_t	offset;
	uint64_t	device;
	uint64_t	inode;
	bool		executable;
	bool		of_file;
	char		path[300];
};

static size_t read_maps(pid_t pid, struct vma **vmas)
{
	char path[64], line[4096 + 128], perms[8];
	size_t count = 0, room = 0, length;
	FILE *maps;

	*vmas = NULL;
	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	maps = fopen(path, "r");
	while (maps && fgets(line, sizeof(line), maps)) {
		unsigned int major, minor;
		struct vma *v;
		int at = 0;

		if (count == room) {
			room = room ? 2 * room : 64;
			*vmas = realloc(*vmas, room * sizeof(**vmas));
		}
		v = &(*vmas)[count];
		line[strcspn(line, "\n")] = '\0';
		if (sscanf(line, "%lx-%lx %7s %lx %x:%x %lu %n", &v->start, &v->end, perms,
			   &v->offset, &major, &minor, &v->inode, &at) != 7)
			guest_die("maps", line);
		v->device = (uint64_t)major << 20 | minor;
		if (!strcmp(line + at, "[vsyscall]"))
			continue;
		v->executable = strchr(perms, 'x');
		v->of_file = line[at] == '/' || !strcmp(line + at, "[vdso]");
		length = strlen(line + at);
		if (length >= sizeof(v->path))
			at += length - (sizeof(v->path) - 1);
		strcpy(v->path, line + at);
		count++;
	}
	if (maps)
		fclose(maps);
	return count;
}

/* Length of a path without what the kernel adds to that of a file that is deleted. */
static size_t path_length(const char *path)
{
	static const char deleted[] = " (deleted)";
	size_t length = strlen(path), end = sizeof(deleted) - 1;

	return length > end && !strcmp(path + length - end, deleted) ? length - end : length;
}

/* Many files have such a path at a time: memfds, and shared memory without a name. */
static bool is_ambiguous(const char *path)
{
	return !strncmp(path, "/memfd:", 7) || !strncmp(path, "/dev/zero", 9);
}

/*
 * Is it the file that is mapped?  The module keeps the last 255 bytes of its path.  Numbers of inodes
 * are compared only where it takes them, as those of an overlayfs in /proc/PID/maps are other ones.
 */
static bool is_same_file(const struct netlink_file *file, const struct vma *v)
{
	size_t name = path_length(file->name), path = path_length(v->path);

	if (name > path || memcmp(file->name, v->path + path - name, name) ||
	    (name < path && strlen(file->name) < sizeof(file->name) - 1))
		return false;
	return !is_ambiguous(v->path) || (file->inode == v->inode && file->device == v->device);
}

/* Do the range and the mapping, which overlap, have the same file and offset?  @file: @r's, or NULL */
static bool range_agrees(const struct range *r, const struct netlink_file *file, const struct vma *v)
{
	if (!v->of_file)
		return !r->file;
	return file && is_same_file(file, v) && r->offset - r->start == v->offset - v->start;
}

/*
 * Every page of @r must be mapped from the file and offset that @r has.  The mapping need not be
 * executable: after mprotect() without PROT_EXEC the range stays, for PROT_EXEC may be set again.
 */
static bool range_is_mapped(const struct range *r, const struct netlink_file *file,
			    const struct vma *vma, size_t n)
{
	uint64_t at = r->start;
	size_t i;

	for (i = 0; i < n && vma[i].start <= at; i++) {
		if (vma[i].end <= at)
			continue;
		if (!range_agrees(r, file, &vma[i]))
			return false;
		at = vma[i].end;
		if (at >= r->end)
			return true;
	}
	return false;
}

static bool vma_is_covered(const struct vma *v, const struct ranges *ranges)
{
	uint64_t at = v->start;
	size_t i;

	for (i = 0; i < ranges->count && ranges->range[i].start <= at; i++)
		if (ranges->range[i].end > at)
			at = ranges->range[i].end;
	return at >= v->end;
}

/**
 * guest_is_exact() - whether the module's ranges of a process agree with /proc/PID/maps
 *
 * The process must not change its mappings meanwhile.
 */
bool guest_is_exact(struct guest *g, pid_t pid)
{
	struct netlink_files tables;
	struct netlink_proc proc;
	bool exact = true;
	struct vma *vma;
	size_t i, n;

	guest_get_proc(g, pid, &proc);
	if (netlink_files_get(g->nl, &tables, &g->error))
		guest_die("table-get", g->error.text);
	n = read_maps(pid, &vma);
	for (i = 0; i < proc.ranges.count; i++) {
		const struct range *r = &proc.ranges.range[i];
		const struct netlink_file *file = netlink_files_find(&tables, r->file);

		if (range_is_mapped(r, file, vma, n))
			continue;
		printf("# %d: stale range %lx-%lx offset %lx %s\n", pid, r->start, r->end,
		       r->offset, file ? file->name : r->file ? "?" : "");
		exact = false;
	}
	for (i = 0; i < n; i++) {
		if (!vma[i].executable || vma_is_covered(&vma[i], &proc.ranges))
			continue;
		printf("# %d: no range for %lx-%lx %s\n", pid, vma[i].start, vma[i].end,
		       vma[i].path);
		exact = false;
	}
	netlink_files_free(&tables);
	ranges_free(&proc.ranges);
	free(vma);
	return exact && n;
}

/** guest_range_is_equal() - whether two ranges have the same addresses, offset and file */
bool guest_range_is_equal(const struct range *a, const struct range *b)
{
	return a->start == b->start && a->end == b->end && a->offset == b->offset &&
	       a->file == b->file;
}

/* Are the ranges of a user of @file those of @file that the process has, in their order? */
static bool user_agrees(const struct netlink_proc *user, const struct netlink_proc *proc,
			uint32_t file)
{
	size_t i, k = 0;

	for (i = 0; i < proc->ranges.count; i++) {
		if (proc->ranges.range[i].file != file)
			continue;
		if (k == user->ranges.count ||
		    !guest_range_is_equal(&user->ranges.range[k], &proc->ranges.range[i]))
			return false;
		k++;
	}
	return k == user->ranges.count;
}

/* @show: say what differs */
static bool file_users_agree(struct guest *g, const struct netlink_procs *procs,
			     const struct netlink_file *file, bool show)
{
	const struct netlink_proc nobody = {}, *user;
	struct netlink_procs users;
	bool agree = true;
	size_t i, k = 0;

	if (netlink_procs_get_users(g->nl, file->id, &users, &g->error))
		guest_die("proc-get of a file", g->error.text);
	for (i = 0; i < procs->count; i++) {
		user = &nobody;
		if (k < users.count && users.proc[k].cookie == procs->proc[i].cookie)
			user = &users.proc[k++];
		if (user_agrees(user, &procs->proc[i], file->id))
			continue;
		if (show)
			printf("# %u: %zu ranges of %s, as listed by file\n",
			       procs->proc[i].pid, user->ranges.count, file->name);
		agree = false;
	}
	if (k < users.count && show)
		printf("# %u: a user of %s that is not managed\n", users.proc[k].pid, file->name);
	agree &= k == users.count;
	netlink_procs_free(&users);
	return agree;
}

static bool users_agree(struct guest *g, bool show)
{
	struct netlink_files files;
	struct netlink_procs procs;
	bool agree = true;
	size_t i;

	if (netlink_files_get(g->nl, &files, &g->error) ||
	    netlink_procs_get(g->nl, 0, &procs, &g->error))
		guest_die("dump", g->error.text);
	for (i = 0; i < files.count; i++)
		agree &= file_users_agree(g, &procs, &files.file[i], show);
	netlink_files_free(&files);
	netlink_procs_free(&procs);
	return agree;
}

/**
 * guest_users_agree() - whether the users of each file are those who have ranges of it
 *
 * A process that comes, goes or changes its mappings between two of the lists differs, so this looks
 * again: what the module has wrong stays wrong.
 */
bool guest_users_agree(struct guest *g)
{
	const long deadline = guest_deadline();

	do {
		if (users_agree(g, false))
			return true;
	} while (guest_waits(deadline));
	return users_agree(g, true);
}

/**
 * guest_becomes_exact() - wait until the ranges that the module has of @pid are those of /proc/PID/maps
 *
 * Return: true; false if they still differ at guest_deadline()
 */
bool guest_becomes_exact(struct guest *g, pid_t pid)
{
	const long deadline = guest_deadline();

	do {
		if (guest_is_exact(g, pid))
			return true;
	} while (guest_waits(deadline));
	return false;
}

/**
 * guest_settles() - wait until the module's sums are those of @start again
 *
 * The module frees memory after a grace period.
 *
 * Return: whether they are
 */
bool guest_settles(struct guest *g, const struct netlink_info *start)
{
	const long deadline = guest_deadline();
	struct netlink_info now;

	do {
		guest_info(g, &now);
		if (now.procs == start->procs && now.ranges == start->ranges &&
		    now.files == start->files && now.tables == start->tables &&
		    now.table_bytes == start->table_bytes &&
		    now.range_bytes == start->range_bytes)
			return true;
	} while (guest_waits(deadline));
	printf("# procs %u ranges %u files %u tables %u table-bytes %lu range-bytes %lu; "
	       "at the start %u %u %u %u %lu %lu\n",
	       now.procs, now.ranges, now.files, now.tables, now.table_bytes, now.range_bytes,
	       start->procs, start->ranges, start->files, start->tables, start->table_bytes,
	       start->range_bytes);
	return false;
}

/**
 * guest_start() - fork a child
 * @body: for the child: writes @size bytes to @told when it is there, and does not return
 * @arg: for @body
 * @what: takes these bytes
 * @size: number of them
 */
pid_t guest_start(void (*body)(int told, void *arg), void *arg, void *what, size_t size)
{
	int told[2];
	pid_t pid;

	if (pipe(told))
		guest_die("pipe", strerror(errno));
	fflush(stdout);
	pid = fork();
	if (pid < 0)
		guest_die("fork", strerror(errno));
	if (!pid) {
		body(told[1], arg);
		_exit(1);
	}
	close(told[1]);
	if (read(told[0], what, size) != (ssize_t)size)
		guest_die("child", "has ended");
	close(told[0]);
	return pid;
}

struct spawned {
	void	(*body)(void *arg);
	void	*arg;
};

static void spawned_run(int told, void *arg)
{
	const struct spawned *spawned = arg;

	if (spawned->body)
		spawned->body(spawned->arg);
	if (write(told, "", 1) != 1)
		return;
	for (;;)
		pause();
}

/**
 * guest_spawn() - fork a child that calls @body(@arg), unless it is NULL, and then waits to be killed
 *
 * Return: its pid, when @body has returned.
 */
pid_t guest_spawn(void (*body)(void *), void *arg)
{
	struct spawned spawned = { body, arg };
	char c;

	return guest_start(spawned_run, &spawned, &c, 1);
}

/** guest_reap() - kill a child and wait for its end */
void guest_reap(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}
