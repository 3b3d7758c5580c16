// SPDX-License-Identifier: GPL-2.0
/* The queue of processes with code in memory: each is looked at once, and when it may be. */
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "jit_queue.h"
#include "kselftest.h"

static struct table_maker maker;
static size_t tables;		/* that the next look lays */
static pid_t looked[8];
static bool first_time[8];
static size_t looks;
static bool registered = true;
static int64_t now_ms;
static int stuck;		/* the next look does not end */

/* Instead of libc's; children use no CPU time. */
int clock_gettime(clockid_t clock, struct timespec *now)
{
	if (clock != CLOCK_MONOTONIC)
		return *now = (struct timespec){}, 0;
	*now = (struct timespec){ now_ms / 1000, now_ms % 1000 * 1000000 };
	return 0;
}

/* In the child: instead of looking at a process. */
void jit_jobs_look(const struct table_maker *m, pid_t pid, FILE *out)
{
	struct jit_result result = {
		.objects = registered ? pid : 0, .tables = tables,
	};

	(void)m;
	while (stuck)
		pause();
	fwrite(&result, sizeof(result), 1, out);
}

struct jit_result jit_jobs_result(const void *data, size_t size, const char *died)
{
	struct jit_result result = {};

	if (!died && size == sizeof(result))
		memcpy(&result, data, sizeof(result));
	return result;
}

static void done(void *arg, pid_t pid, bool first, const struct jit_result *result)
{
	(void)arg;
	looked[looks % 8] = result->objects == (size_t)pid ? pid : -1;
	first_time[looks++ % 8] = first;
}

/* Begin a look, and wait for its end.  Return: whether there was one. */
static bool look(struct jit_queue *queue)
{
	size_t before = looks;

	if (jit_queue_start(queue) || jit_queue_fd(queue) < 0)
		return false;
	while (looks == before) {
		struct pollfd fd = { jit_queue_fd(queue), POLLIN, 0 };

		if (poll(&fd, 1, -1) == 1)
			jit_queue_read(queue);
	}
	return true;
}

/* The longest time between looks at a process that change nothing, of so many. */
static int longest(struct jit_queue *queue, int count)
{
	int i, wait, most = 0;

	for (i = 0; i < count; i++) {
		jit_queue_add(queue, 1, 11, 0);
		wait = jit_queue_patience(queue);
		now_ms += wait;
		most = wait > most ? wait : most;
		if (!look(queue))
			return -1;
	}
	return most;
}

/* Without descriptors there is no pipe for a child. */
static bool no_child(struct jit_queue *queue)
{
	struct rlimit limit, none = { 0 };
	bool failed;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return false;
	none.rlim_max = limit.rlim_max;
	failed = !setrlimit(RLIMIT_NOFILE, &none) && jit_queue_start(queue) < 0;
	return !setrlimit(RLIMIT_NOFILE, &limit) && failed;
}

/* A child is at work.  Return: whether it still is after as long as that can be told. */
static bool wait_more(struct jit_queue *queue)
{
	now_ms += jit_queue_patience(queue);
	return !jit_queue_start(queue) && jit_queue_fd(queue) >= 0 && !looks;
}

/*
 * Announce process @pid, unless that is 0, and have the queue start a look at the process that it chooses,
 * which takes @ms.  Return: the process that it has chosen; -1 if it has started none.
 */
static pid_t look_for(struct jit_queue *queue, pid_t pid, int ms)
{
	if (pid)
		jit_queue_add(queue, pid, pid, 0);
	if (jit_queue_start(queue) || jit_queue_fd(queue) < 0)
		return -1;
	now_ms += ms;
	for (looks = 0; !looks;)
		jit_queue_read(queue);
	return looked[0];
}

/*
 * Looks at eleven processes have taken 20 s each, and another look at each of them is due.  The queue chooses
 * a new process before them, also when that is announced a second time; and then of the eleven the ones whose
 * looks have taken the least time.
 */
static bool slow_come_last(void)
{
	struct jit_queue *queue = jit_queue_open(&maker, done, NULL);
	bool good = true;
	pid_t i;

	for (i = 1; i <= 11; i++)
		good &= look_for(queue, i, 20000 - i) == i;
	for (i = 1; i <= 11; i++)
		jit_queue_add(queue, i, i, 0);
	now_ms += 300000;
	good &= look_for(queue, 50, 10) == 50;
	now_ms += 64000;
	good &= look_for(queue, 50, 10) == 50 && look_for(queue, 0, 10) == 11 &&
		look_for(queue, 0, 10) == 10;
	jit_queue_close(queue);
	return good;
}

/* All that are remembered want a look; the one that has taken most has to go for a new one. */
static bool slow_make_room(void)
{
	struct jit_queue *queue = jit_queue_open(&maker, done, NULL);
	bool good = look_for(queue, 1, 20000) == 1 && look_for(queue, 2, 30000) == 2;
	pid_t i;

	for (i = 1; i <= 1026; i++)
		jit_queue_add(queue, i, i, 0);
	now_ms += 1000000;
	/* They are in the places of 2 and 1. */
	good &= look_for(queue, 0, 0) == 1026 && look_for(queue, 0, 0) == 1025 &&
		look_for(queue, 0, 0) == 3;
	jit_queue_close(queue);
	return good;
}

/*
 * Looks at three processes of a user have taken long; another user has as many as are remembered, all new.  A
 * fourth one of the first gets in, and its user every second look.
 */
static bool users_take_turns(void)
{
	struct jit_queue *queue = jit_queue_open(&maker, done, NULL);
	bool good = true;
	int others = 0;
	pid_t i;

	for (i = 2001; i <= 2003; i++) {
		jit_queue_add(queue, i, i, 1001);
		good &= look_for(queue, 0, 20000) == i;
	}
	for (i = 2001; i <= 2003; i++)
		jit_queue_add(queue, i, i, 1001);
	now_ms += 300000;
	for (i = 1; i <= 1024; i++)
		jit_queue_add(queue, i, i, 1000);
	jit_queue_add(queue, 2004, 2004, 1001);
	for (i = 0; i < 8; i++)
		others += look_for(queue, 0, 0) > 2000;
	jit_queue_close(queue);
	return good && others == 4;
}

int main(void)
{
	struct jit_queue *queue = jit_queue_open(&maker, done, NULL);
	uint64_t i;

	ksft_print_header();
	ksft_set_plan(16);
	ksft_test_result(jit_queue_patience(queue) == -1 && !look(queue), "nothing is wanted\n");
	tables = 1;
	jit_queue_add(queue, 1, 11, 0);
	jit_queue_add(queue, 1, 11, 0);
	jit_queue_add(queue, 2, 12, 0);
	ksft_test_result(jit_queue_patience(queue) == 0 && look(queue) && look(queue) &&
			 !look(queue) && looks == 2 && looked[0] == 11 && looked[1] == 12,
			 "each process is looked at once\n");
	ksft_test_result(first_time[0] && first_time[1], "something is found for the first time\n");
	jit_queue_add(queue, 1, 11, 0);
	ksft_test_result(look(queue) && !first_time[2],
			 "at once again after a look that found something\n");
	tables = 0;
	jit_queue_add(queue, 1, 11, 0);
	look(queue);
	jit_queue_add(queue, 1, 11, 0);
	ksft_test_result(!look(queue) && jit_queue_patience(queue) > 0 &&
			 jit_queue_patience(queue) <= 1000, "later after one that did not\n");
	jit_queue_add(queue, 3, 13, 0);
	ksft_test_result(jit_queue_patience(queue) == 0 && look(queue) && looked[(looks - 1) % 8] == 13,
			 "others need not wait for that\n");
	ksft_test_result(longest(queue, 12) == 4000, "some seconds later if code is registered\n");
	registered = false;
	ksft_test_result(longest(queue, 12) == 64000, "a minute later if none is\n");
	registered = true;
	for (i = 100; i < 5000; i++)
		jit_queue_add(queue, i, i, 0);
	ksft_test_result(look(queue) && looked[(looks - 1) % 8] >= 100,
			 "more processes than are remembered\n");
	/* With a child at work, there is only its end to wait for, which must come some day. */
	stuck = 1;
	jit_queue_start(queue);
	ksft_test_result(jit_queue_fd(queue) >= 0 && !jit_queue_start(queue), "one child at a time\n");
	stuck = 0;
	for (i = looks = 0; i < 59; i++)
		looks += !wait_more(queue);
	now_ms += jit_queue_patience(queue);
	ksft_test_result(!looks && look(queue) && looks == 1 && looked[0] == -1 && look(queue) && looked[1] > 0,
			 "a child that does not end\n");
	jit_queue_close(queue);
	queue = jit_queue_open(&maker, done, NULL);
	jit_queue_add(queue, 1, 11, 0);
	jit_queue_start(queue);
	now_ms += 20000;
	jit_queue_add(queue, 1, 11, 0);
	for (looks = 0; !looks;)
		jit_queue_read(queue);
	ksft_test_result(jit_queue_patience(queue) == 200000, "much later after a long look\n");
	jit_queue_close(queue);
	queue = jit_queue_open(&maker, done, NULL);
	jit_queue_add(queue, 1, 11, 0);
	ksft_test_result(no_child(queue) && jit_queue_patience(queue) == 1000 && !look(queue) &&
			 (now_ms += 1000, look(queue)), "when no child can be made, a second later\n");
	jit_queue_close(queue);
	ksft_test_result(slow_come_last(), "of those that are due the slow ones come last\n");
	ksft_test_result(slow_make_room(), "a slow one makes room for a new one\n");
	ksft_test_result(users_take_turns(), "users take turns\n");
	ksft_finished();
}
