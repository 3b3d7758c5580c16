// SPDX-License-Identifier: GPL-2.0
/*
 * Changes of an address space with many executable mappings:
 *	changes RANGES ROUNDS DIR
 * makes files in DIR, written so that their first page is in memory, as it is of what is executed,
 * maps one of them RANGES times, prints "ready", waits for a line, and then prints for each kind of
 * change the TSC ticks of a round: the median, and the mean of all with what the kernel does in
 * between.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <x86intrin.h>

#define FILES		32
#define MAX_ROUNDS	256
/* Between two mappings a page stays free, so that the kernel does not merge them. */
#define PLACE		((char *)0x200000000000)
#define AT(n)		(PLACE + 2l * 4096 * (n))

static int known, unknown[FILES];
static const char *self;

static int file_make(const char *dir, int number)
{
	static const char page[4096];
	char name[256];
	int fd;

	snprintf(name, sizeof(name), "%s/mapped%d", dir, number);
	fd = open(name, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0755);
	if (fd < 0 || write(fd, page, sizeof(page)) != sizeof(page))
		exit(1);
	return fd;
}

static void map_at(void *at, int fd)
{
	if (mmap(at, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED_NOREPLACE, fd, 0) != at)
		exit(1);
}

static void change_plain(int round)
{
	void *at = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, known, 0);

	(void)round;
	if (at == MAP_FAILED || munmap(at, 4096))
		exit(1);
}

static void change_known(int round)
{
	(void)round;
	map_at(AT(-2), known);
	munmap(AT(-2), 4096);
}

static void change_unknown(int round)
{
	map_at(AT(-2), unknown[round % FILES]);
	munmap(AT(-2), 4096);
}

static void change_mprotect(int round)
{
	(void)round;
	if (mprotect(AT(0), 4096, PROT_READ) || mprotect(AT(0), 4096, PROT_READ | PROT_EXEC))
		exit(1);
}

static void child_wait(pid_t pid)
{
	int status;

	if (pid < 0 || waitpid(pid, &status, 0) != pid || status)
		exit(1);
}

static void change_fork(int round)
{
	pid_t pid = fork();

	(void)round;
	if (!pid)
		_exit(0);
	child_wait(pid);
}

static void change_exec(int round)
{
	pid_t pid = vfork();

	(void)round;
	if (!pid) {
		execl(self, self, NULL);
		_exit(1);
	}
	child_wait(pid);
}

static const struct change {
	const char	*name;
	void		(*run)(int round);
} changes[] = {
	{ "plain", change_plain },
	{ "known", change_known },
	{ "unknown", change_unknown },
	{ "mprotect", change_mprotect },
	{ "fork", change_fork },
	{ "exec", change_exec },
};

static int compare(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static void measure(const struct change *change, int rounds)
{
	uint64_t took[MAX_ROUNDS], begin, all;
	int i;

	for (i = 0; i < 4; i++)
		change->run(i);
	all = __rdtsc();
	for (i = 0; i < rounds; i++) {
		begin = __rdtsc();
		change->run(i);
		took[i] = __rdtsc() - begin;
	}
	all = __rdtsc() - all;
	qsort(took, rounds, sizeof(*took), compare);
	printf("%s %llu %llu\n", change->name, (unsigned long long)took[rounds / 2],
	       (unsigned long long)all / rounds);
}

int main(int argc, char **argv)
{
	int i, ranges, rounds;
	char line[8];

	if (argc == 1)
		return 0;	/* started by change_exec() */
	if (argc != 4)
		return 2;
	self = argv[0];
	ranges = atoi(argv[1]);
	rounds = atoi(argv[2]);
	if (ranges < 1 || rounds < 1 || rounds > MAX_ROUNDS)
		return 2;
	known = file_make(argv[3], 0);
	for (i = 0; i < FILES; i++)
		unknown[i] = file_make(argv[3], i + 1);
	for (i = 0; i < ranges; i++)
		map_at(AT(i), known);
	puts("ready");
	fflush(stdout);
	if (!fgets(line, sizeof(line), stdin))
		return 1;
	for (i = 0; i < (int)(sizeof(changes) / sizeof(changes[0])); i++)
		measure(&changes[i], rounds);
	return 0;
}
