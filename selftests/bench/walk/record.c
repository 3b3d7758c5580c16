// SPDX-License-Identifier: GPL-2.0
/* Record stacks of a running program by ptrace. */
#include <assert.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "alloc.h"
#include "walk.h"

#define MAX_STACK	(1u << 20)	/* bytes to record */
#define RED_ZONE	128
#define MAX_MAPS	(1u << 20)	/* bytes of /proc/PID/maps */

static struct bench_mapped *files;

/* This process's vDSO is everybody's. */
static void map_vdso(struct bench_mapped *file)
{
	file->bytes = (const uint8_t *)getauxval(AT_SYSINFO_EHDR);
	file->size = file->bytes ? 2 * 4096 : 0;
}

/* bench_map_file() - a file as bytes; empty if it cannot be read. */
struct bench_mapped *bench_map_file(const char *path)
{
	struct bench_mapped *file;
	struct stat st;
	int fd;

	for (file = files; file; file = file->next)
		if (!strcmp(file->path, path))
			return file;
	file = alloc_array(NULL, 1, sizeof(*file));
	*file = (struct bench_mapped){ .path = strdup(path), .next = files };
	files = file;
	if (!strcmp(path, "[vdso]")) {
		map_vdso(file);
		return file;
	}
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0 && !fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_size) {
		void *bytes = mmap(NULL, st.st_size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, fd, 0);

		if (bytes != MAP_FAILED) {
			file->bytes = bytes;
			file->size = st.st_size;
		}
	}
	if (fd >= 0)
		close(fd);
	return file;
}

/* bench_open() - open the file of a mapping; -1 if there is none. */
int bench_open(const char *path)
{
	struct bench_mapped *file = bench_map_file(path);
	int fd;

	if (path[0] == '/')
		return open(path, O_RDONLY | O_CLOEXEC);
	fd = memfd_create("vdso", MFD_CLOEXEC);
	if (fd >= 0 && write(fd, file->bytes, file->size) != file->size) {
		close(fd);
		return -1;
	}
	return fd;
}

static void space_parse(struct bench_space *space)
{
	char *copy = strdup(space->text), *line, *next = copy;
	size_t room = 0;

	while ((line = strsep(&next, "\n"))) {
		unsigned long long start, end, offset;
		char perms[5];
		int path = 0;

		if (sscanf(line, "%llx-%llx %4s %llx %*s %*s %n", &start, &end, perms, &offset,
			   &path) != 4 || (line[path] != '/' && strcmp(line + path, "[vdso]")))
			continue;
		space->maps = alloc_room(space->maps, space->nr, &room, sizeof(*space->maps));
		space->maps[space->nr++] = (struct bench_map){
			.start = start, .end = end, .offset = offset, .exec = perms[2] == 'x',
			.file = bench_map_file(line + path),
		};
	}
	free(copy);
}

/* Keep the lines of @text that space_parse() is going to read. */
static void keep_files(char *text)
{
	char *to = text, *line, *next = text;

	while ((line = strsep(&next, "\n"))) {
		size_t n = strlen(line);

		if (!strchr(line, '/') && !strstr(line, "[vdso]"))
			continue;
		memmove(to, line, n);
		to += n;
		*to++ = '\n';
	}
	*to = '\0';
}

/*
 * The mappings of files that @pid has: those of @last if they are the same.  *@stack_end: end of
 * its stack.
 */
static struct bench_space *space_read(pid_t pid, struct bench_space *last, uint64_t sp,
				      uint64_t *stack_end)
{
	char name[32], *text = alloc_array(NULL, MAX_MAPS + 1, 1), *line;
	struct bench_space *space;
	unsigned long long start, end;
	size_t n;
	FILE *in;

	snprintf(name, sizeof(name), "/proc/%d/maps", pid);
	in = fopen(name, "re");
	n = in ? fread(text, 1, MAX_MAPS - 1, in) : 0;
	if (in)
		fclose(in);
	text[n] = '\0';
	*stack_end = 0;
	for (line = text; line && *line; line = strchr(line, '\n'), line += !!line)
		if (sscanf(line, "%llx-%llx", &start, &end) == 2 && start <= sp && sp < end)
			*stack_end = end;
	keep_files(text);
	if (last && !strcmp(last->text, text)) {
		free(text);
		return last;
	}
	space = alloc_array(NULL, 1, sizeof(*space));
	*space = (struct bench_space){ .text = text };
	space_parse(space);
	return space;
}

static_assert(sizeof(struct user_regs_struct) == BENCH_USER_REGS * sizeof(uint64_t),
	      "BENCH_USER_REGS");

static bool stack_read(pid_t pid, struct bench_space *last, struct bench_stack *stack)
{
	struct user_regs_struct r;
	struct iovec here, there;
	uint64_t end;

	if (ptrace(PTRACE_GETREGS, pid, NULL, &r))
		return false;
	*stack = (struct bench_stack){
		.regs = { r.rax, r.rdx, r.rcx, r.rbx, r.rsi, r.rdi, r.rbp, r.rsp, r.r8, r.r9, r.r10,
			  r.r11, r.r12, r.r13, r.r14, r.r15, r.rip },
		.start = r.rsp - RED_ZONE,
	};
	memcpy(stack->user, &r, sizeof(stack->user));
	stack->space = space_read(pid, last, r.rsp, &end);
	if (!stack->space->nr || end <= stack->start)
		return false;
	stack->size = end - stack->start < MAX_STACK ? end - stack->start : MAX_STACK;
	stack->bytes = alloc_array(NULL, stack->size, 1);
	here = (struct iovec){ stack->bytes, stack->size };
	there = (struct iovec){ (void *)stack->start, stack->size };
	return process_vm_readv(pid, &here, 1, &there, 1, 0) == stack->size;
}

static void run_for(unsigned int us)
{
	struct timespec t = { .tv_nsec = us * 1000 };

	nanosleep(&t, NULL);
}

/* Ends when the program does. */
static size_t record(pid_t pid, struct bench_stack *stacks, size_t max)
{
	struct bench_space *space = NULL;
	size_t n = 0;
	int status;

	while (n < max) {
		int sig = 0;

		run_for(1000 + (n * 7919) % 3001);
		if (ptrace(PTRACE_INTERRUPT, pid, NULL, NULL) ||
		    waitpid(pid, &status, __WALL) < 0 || !WIFSTOPPED(status))
			break;
		if (status >> 16 == PTRACE_EVENT_STOP)
			n += stack_read(pid, space, &stacks[n]);
		else
			sig = WSTOPSIG(status);
		if (n)
			space = stacks[n - 1].space;
		if (ptrace(PTRACE_CONT, pid, NULL, sig))
			break;
	}
	return n;
}

/**
 * bench_record() - run a command and record the stacks of its main thread
 * @argv: the command; it is killed if it is not at its end by then
 * @stacks: filled
 * @max: length of @stacks
 *
 * Return: how many were recorded.
 */
size_t bench_record(char **argv, struct bench_stack *stacks, size_t max)
{
	pid_t pid = fork();
	size_t n = 0;

	if (!pid) {
		int null = open("/dev/null", O_RDWR);

		dup2(null, 0);
		dup2(null, 1);
		dup2(null, 2);
		execvp(argv[0], argv);
		_exit(127);
	}
	run_for(20000);
	if (pid > 0 && !ptrace(PTRACE_SEIZE, pid, NULL, PTRACE_O_EXITKILL))
		n = record(pid, stacks, max);
	if (pid > 0) {
		kill(pid, SIGKILL);
		waitpid(pid, NULL, __WALL);
	}
	return n;
}

/* bench_find_map() - the mapping of an address, or NULL. */
const struct bench_map *bench_find_map(const struct bench_space *space, uint64_t addr)
{
	size_t low = 0, high = space->nr;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (space->maps[middle].end <= addr)
			low = middle + 1;
		else
			high = middle;
	}
	return low < space->nr && space->maps[low].start <= addr ? &space->maps[low] : NULL;
}

/* bench_read() - memory of the recorded process: its stack, or its files. */
bool bench_read(const struct bench_stack *stack, uint64_t addr, void *to, size_t n)
{
	const struct bench_map *map;
	uint64_t at;

	if (addr - stack->start < stack->size && stack->size - (addr - stack->start) >= n) {
		memcpy(to, stack->bytes + (addr - stack->start), n);
		return true;
	}
	map = bench_find_map(stack->space, addr);
	if (!map || map->end - addr < n)
		return false;
	at = addr - map->start + map->offset;
	if (at >= map->file->size || map->file->size - at < n)
		return false;
	memcpy(to, map->file->bytes + at, n);
	return true;
}
