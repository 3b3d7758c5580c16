// SPDX-License-Identifier: GPL-2.0
/* Work on many items at once. */
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "alloc.h"
#include "kselftest.h"
#include "parallel.h"

#define ITEMS	60

/* What the callbacks have counted. */
struct seen {
	size_t	count;
	size_t	wrong;
	size_t	died;
	size_t	max_ready;
	size_t	progressed;
	int	gate[2];
};

static void square_work(void *arg, size_t index, FILE *out)
{
	size_t i;

	(void)arg;
	/* Results of all sizes, some larger than a pipe. */
	for (i = 0; i < (index % 50 ? index : 20000); i++)
		fwrite(&index, sizeof(index), 1, out);
}

static void square_done(void *arg, size_t index, const void *data, size_t size, const char *died)
{
	const size_t *values = data;
	struct seen *seen = arg;
	size_t i, n = size / sizeof(*values);

	seen->wrong += index != seen->count || n != (index % 50 ? index : 20000);
	for (i = 0; i < n; i++)
		seen->wrong += values[i] != index;
	seen->died += !!died;
	seen->count++;
}

static void test_order(unsigned int jobs)
{
	struct seen seen = {};
	struct parallel parallel = {
		.count = ITEMS, .jobs = jobs, .arg = &seen,
		.work = square_work, .done = square_done,
	};
	int ret = parallel_run(&parallel);

	ksft_test_result(!ret && seen.count == ITEMS && !seen.wrong && !seen.died,
			 "%u jobs: results whole and in order\n", jobs);
}

#define GATE_JOBS	2
#define GATE_READY	(GATE_JOBS * PARALLEL_MAX_RESULTS - 1)

/* The first item ends only when as many others wait for it as parallel.c allows. */
static void gate_work(void *arg, size_t index, FILE *out)
{
	struct seen *seen = arg;
	char byte;

	if (!index && read(seen->gate[0], &byte, 1) != 1)
		_exit(1);
	fprintf(out, "%zu", index);
}

static void gate_done(void *arg, size_t index, const void *data, size_t size, const char *died)
{
	struct seen *seen = arg;
	char text[24];

	snprintf(text, sizeof(text), "%zu", index);
	seen->wrong += index != seen->count++ || size != strlen(text) ||
		       memcmp(data, text, size) || died;
}

static void gate_progress(void *arg, size_t ready, size_t index)
{
	struct seen *seen = arg;
	bool open = ready >= GATE_READY;

	if (seen->max_ready < GATE_READY)
		seen->wrong += index != 0;
	if (ready > seen->max_ready)
		seen->max_ready = ready;
	if (open && !seen->progressed++ && write(seen->gate[1], "", 1) != 1)
		seen->wrong++;
}

static void test_gate(void)
{
	struct seen seen = {};
	struct parallel parallel = {
		.count = 100, .jobs = GATE_JOBS, .arg = &seen,
		.work = gate_work, .done = gate_done, .progress = gate_progress,
	};
	int ret = pipe(seen.gate) ? -1 : parallel_run(&parallel);

	ksft_test_result(!ret && seen.count == 100 && !seen.wrong && seen.progressed,
			 "a slow item holds the results of others up, and then their start\n");
}

static void deadly_work(void *arg, size_t index, FILE *out)
{
	(void)arg;
	fprintf(out, "part");
	fflush(out);
	switch (index % 4) {
	case 1:
		raise(SIGKILL);
		break;
	case 2:
		exit(7);
	case 3:
		fclose(out);
		_exit(ALLOC_EXIT);
	}
}

static void deadly_done(void *arg, size_t index, const void *data, size_t size, const char *died)
{
	static const char *const expected[] = {
		NULL, "killed by signal 9 (Killed)", "given up, exit status 7",
		"out of memory",
	};
	const char *want = expected[index % 4];
	struct seen *seen = arg;

	seen->wrong += size != 4 || memcmp(data, "part", 4) || !want != !died ||
		       (want && strcmp(want, died));
	seen->count++;
}

static void test_deaths(void)
{
	struct seen seen = {};
	struct parallel parallel = {
		.count = 40, .jobs = 3, .arg = &seen, .work = deadly_work, .done = deadly_done,
	};
	int ret = parallel_run(&parallel);

	ksft_test_result(!ret && seen.count == 40 && !seen.wrong,
			 "a child that dies is told of, and the others go on\n");
}

#define GREEDY_LIMIT	100000

/* Every second item never stops to write. */
static void greedy_work(void *arg, size_t index, FILE *out)
{
	(void)arg;
	do
		fprintf(out, "%0*d", GREEDY_LIMIT, 0);
	while (index % 2);
}

static size_t greedy_limit(const void *arg, size_t index)
{
	(void)arg;
	return GREEDY_LIMIT + index;
}

static void greedy_done(void *arg, size_t index, const void *data, size_t size, const char *died)
{
	struct seen *seen = arg;
	char want[64];

	(void)data;
	snprintf(want, sizeof(want), "killed, as it wrote more than %zu bytes", GREEDY_LIMIT + index);
	if (index % 2)
		seen->wrong += !died || strcmp(died, want) || size > 4 * GREEDY_LIMIT;
	else
		seen->wrong += died || size != GREEDY_LIMIT;
	seen->count++;
}

static void test_limit(void)
{
	struct seen seen = {};
	struct parallel parallel = {
		.count = 20, .jobs = 3, .arg = &seen, .work = greedy_work, .limit = greedy_limit,
		.done = greedy_done,
	};
	int ret = parallel_run(&parallel);

	ksft_test_result(!ret && seen.count == 20 && !seen.wrong,
			 "a child that writes without end is killed, and the others go on\n");
}

/* kill() does nothing, as if the process waited for a FUSE server. */
static bool is_deaf;

/* Instead of libc's. */
int kill(pid_t pid, int number)
{
	return is_deaf ? 0 : syscall(SYS_kill, pid, number);
}

/* Run children that kill() does not end.  If one is waited for all the same, the alarm ends the test. */
static int run_deaf(const struct parallel *parallel)
{
	int ret;

	alarm(60);
	is_deaf = true;
	ret = parallel_run(parallel);
	is_deaf = false;
	alarm(0);
	return ret;
}

#define STUCK_ITEMS	8

/* Every second item waits for ever. */
static void stuck_work(void *arg, size_t index, FILE *out)
{
	const pid_t pid = getpid();

	(void)arg;
	fwrite(&pid, sizeof(pid), 1, out);
	fflush(out);
	while (index % 2)
		pause();
}

static void stuck_done(void *arg, size_t index, const void *data, size_t size, const char *died)
{
	struct seen *seen = arg;
	pid_t pid = 0;

	if (size == sizeof(pid))
		memcpy(&pid, data, sizeof(pid));
	seen->wrong += index != seen->count++ || !pid;
	if (index % 2)
		seen->wrong += !died || strcmp(died, "given up, as it did nothing for 1 seconds") ||
			       !pid || syscall(SYS_kill, pid, SIGKILL);
	else
		seen->wrong += !!died;
}

static void test_stuck(void)
{
	struct seen seen = {};
	struct parallel parallel = {
		.count = STUCK_ITEMS, .jobs = 4, .arg = &seen, .work = stuck_work, .patience = 1,
		.done = stuck_done,
	};
	int ret = run_deaf(&parallel);

	ksft_test_result(!ret && seen.count == STUCK_ITEMS && !seen.wrong,
			 "a child that does nothing and cannot be killed is given up\n");
}

#define OWNER		1234
#define OWNER_MOST	8	/* CHILD_LOST of child.c */
#define OWNER_ITEMS	(2 * OWNER_MOST + 4)

/* Of the last four items the second and fourth are another user's. */
static uid_t owner_of(const void *arg, size_t index)
{
	(void)arg;
	return index >= OWNER_ITEMS - 4 && index % 2 ? OWNER + 1 : OWNER;
}

/* Waits for ever; but not for the other user. */
static void owner_work(void *arg, size_t index, FILE *out)
{
	const pid_t pid = getpid();

	(void)arg;
	fwrite(&pid, sizeof(pid), 1, out);
	fflush(out);
	while (owner_of(arg, index) == OWNER)
		pause();
}

/* Keep the processes that wait, so that they are there as long as the others are started. */
static pid_t owner_pid[OWNER_ITEMS];

static void owner_done(void *arg, size_t index, const void *data, size_t size, const char *died)
{
	struct seen *seen = arg;
	bool started = size == sizeof(owner_pid[index]);

	if (started && died)
		memcpy(&owner_pid[index], data, size);
	seen->wrong += index != seen->count++ || (index < OWNER_MOST && !owner_pid[index]) ||
		       (owner_of(NULL, index) != OWNER ? !started || died :
			!died || (!started && strncmp(died, "not started", 11)));
	seen->died += !started;
}

static void test_owner(void)
{
	struct seen seen = {};
	struct parallel parallel = {
		.count = OWNER_ITEMS, .jobs = 4, .arg = &seen, .work = owner_work, .owner = owner_of,
		.patience = 1, .done = owner_done,
	};
	int ret = run_deaf(&parallel);
	size_t i;

	for (i = 0; i < OWNER_ITEMS; i++)
		if (owner_pid[i])
			syscall(SYS_kill, owner_pid[i], SIGKILL);
	/* Those that were at work when the eighth was given up were started before. */
	ksft_test_result(!ret && seen.count == OWNER_ITEMS && !seen.wrong && seen.died >= OWNER_MOST - 2,
			 "while too many wait for a user's files, no more is started for that user\n");
}

static void test_nothing(void)
{
	struct parallel parallel = {};

	ksft_test_result(!parallel_run(&parallel), "no work on no items\n");
}

int main(void)
{
	ksft_print_header();
	ksft_set_plan(9);
	test_order(1);
	test_order(2);
	test_order(0);
	test_gate();
	test_deaths();
	test_limit();
	test_stuck();
	test_owner();
	test_nothing();
	ksft_finished();
}
