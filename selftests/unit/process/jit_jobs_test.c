// SPDX-License-Identifier: GPL-2.0
/* The limits of a look at a process's memory hold for all attempts, and for all files, together. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "fake_netlink.h"
#include "jit_jobs.h"
#include "kselftest.h"
#include "map_file.h"
#include "remapped.h"

/* Where the child writes what it has seen: shared with the test. */
static struct seen {
	int	attempts;
	int	files;
	bool	wrong;
	int64_t	now_ms;
	size_t	laid;
} *seen;

static bool changes;	/* the process changes its mappings during each attempt */

/* Instead of libc's. */
int clock_gettime(clockid_t clock, struct timespec *now)
{
	(void)clock;
	*now = (struct timespec){ seen->now_ms / 1000, seen->now_ms % 1000 * 1000000 };
	return 0;
}

int cache_fd(const struct cache *cache)
{
	(void)cache;
	return -1;
}

/* One attempt of five: it reads 40 MiB, and four seconds pass of the 30. */
int table_jobs_look(struct netlink *nl, pid_t pid, struct table_look *look, struct bee_error *error)
{
	seen->attempts++;
	*look = (struct table_look){ 0 };
	return netlink_procs_get(nl, pid, &look->procs, error);
}

void table_jobs_look_free(struct table_look *look)
{
	netlink_procs_free(&look->procs);
}

void table_jobs_limit(void)
{
	alarm(TABLE_JOBS_PATIENCE);
}

bool remapped_find(const struct maps *maps, u64 start, u64 end, struct remapped *remapped)
{
	(void)maps;
	*remapped = (struct remapped){ .start = start, .end = end, .before.inode = start };
	return true;
}

bool remapped_place(const struct elf_file *elf, struct remapped *remapped)
{
	(void)elf;
	(void)remapped;
	return true;
}

bool remapped_is_text(struct memory *memory, int fd, const struct remapped *remapped)
{
	unsigned int left = alarm(0);

	(void)fd;
	(void)remapped;
	if (changes) {
		seen->wrong |= memory->left != (256ull - 40 * (seen->attempts - 1)) << 20 ||
			       left > 30u - 4 * (seen->attempts - 1);
		memory->left -= 40 << 20;
		left -= 4;
	}
	seen->wrong |= left > 30;
	alarm(left);
	return true;
}

int map_file_pin(const struct mapping *mapping)
{
	(void)mapping;
	return open("/proc/self/exe", O_PATH | O_CLOEXEC);
}

int map_file_open(const struct mapping *mapping, int pin, struct bee_error *error)
{
	(void)mapping;
	(void)pin;
	(void)error;
	return open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
}

/* To make a table takes 250 s, if none was to be seen before. */
struct table_result table_jobs_make_one(const struct table_maker *maker, struct netlink *nl,
					struct table_want *want, FILE *opened)
{
	unsigned int left = alarm(0);

	(void)opened;
	(void)maker;
	(void)nl;
	(void)want;
	if (!changes) {
		seen->wrong |= left > TABLE_JOBS_PATIENCE - seen->now_ms / 1000;
		seen->now_ms += 250000;
	}
	seen->files++;
	alarm(left);
	return (struct table_result){ .source = TABLE_COMPILED };
}

int netlink_proc_update(struct netlink *nl, struct netlink_proc *proc, const struct range_diff *diff,
			struct bee_error *error)
{
	(void)nl;
	(void)proc;
	if (changes)
		return error_set(error, ESTALE, "changed");
	seen->laid += diff->add.count;
	return 0;
}

int netlink_table_new(struct netlink *nl, int fd, uint32_t pid, const char *name, uint32_t *id,
		      struct bee_error *error)
{
	(void)nl;
	(void)fd;
	(void)pid;
	(void)name;
	(void)id;
	return error_set(error, ENOSPC, "no");
}

int netlink_table_del(struct netlink *nl, uint32_t id, bool quiet, struct bee_error *error)
{
	(void)nl;
	(void)id;
	(void)quiet;
	(void)error;
	return 0;
}

static struct jit_result result;

static void done(void *arg, pid_t pid, const struct jit_result *found)
{
	(void)arg;
	(void)pid;
	result = *found;
}

/* Look at this process, which has @ranges of memory without a file. */
static bool look(size_t ranges)
{
	static struct table_maker maker;
	const pid_t pid = getpid();
	const struct jit_jobs jobs = { .maker = &maker, .jobs = 1, .pid = &pid, .count = 1,
				       .done = done };
	size_t i;

	fake_reset();
	*seen = (struct seen){};
	fake.pid = pid;
	fake.open_id = 7;
	fake.nranges = ranges;
	for (i = 0; i < ranges; i++)
		fake.range[i] = (struct range){ (i + 1) << 12, (i + 2) << 12, 0, 0 };
	return !jit_jobs_run(&jobs) && !seen->wrong;
}

int main(void)
{
	ksft_print_header();
	ksft_set_plan(2);
	seen = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (seen == MAP_FAILED)
		return 1;
	changes = true;
	ksft_test_result(look(1) && seen->attempts == 5 && result.error.code == EAGAIN,
			 "one alarm and one number of bytes for all attempts\n");
	changes = false;
	ksft_test_result(look(4) && seen->files == 3 && seen->laid == 3 && result.remapped == 3 &&
			 !strncmp(result.error.text, "no time is left for the table of /", 34),
			 "one deadline for the tables of all files\n");
	ksft_finished();
}
