// SPDX-License-Identifier: GPL-2.0
/* Mapped files are pinned by another process, which may be stuck at one. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kselftest.h"
#include "pinner.h"

/* Processes whose mappings cannot be looked at, are not there, and have the file /proc/self/exe. */
enum { STUCK = 1, GONE, GOOD, DEADLY, STUCK_TOO };

int map_file_pin(const struct mapping *mapping)
{
	int pin = open("/proc/self/exe", O_PATH | O_CLOEXEC);

	if (mapping->pid == GOOD && mapping->start == 0x1000 && mapping->end == 0x3000)
		return pin;
	if (mapping->pid == DEADLY)
		raise(SIGKILL);
	while (mapping->pid == STUCK || mapping->pid == STUCK_TOO)
		pause();
	return -ENOENT;
}

static void ask_for(struct pinner *pinner, uint32_t id, pid_t pid, uid_t user)
{
	const struct mapping mapping = { .pid = pid, .start = 0x1000, .end = 0x3000, .user = user };

	pinner_ask(pinner, id, &mapping);
}

static void ask(struct pinner *pinner, uint32_t id, pid_t pid)
{
	ask_for(pinner, id, pid, 0);
}

/* Wait for an answer, as a caller does. */
static bool take(struct pinner *pinner, uint32_t *id, int *pin)
{
	struct pollfd fd = { .events = POLLIN };

	while (!pinner_take(pinner, id, pin)) {
		fd.fd = pinner_fd(pinner);
		if (pinner_patience(pinner) < 0)
			return false;
		poll(&fd, 1, pinner_patience(pinner));
	}
	return true;
}

/* Whether the next answer is about file @id; @expected: -errno, or 0 for this program's file. */
static bool answers(struct pinner *pinner, uint32_t id, int expected)
{
	struct stat st = { 0 }, us;
	uint32_t got = 0;
	int pin = 0;
	bool good = take(pinner, &got, &pin) && got == id;

	if (pin > 0)
		good &= !fstat(pin, &st) && !stat("/proc/self/exe", &us) && st.st_ino == us.st_ino &&
			fcntl(pin, F_GETFD) == FD_CLOEXEC && !close(pin);
	good &= expected ? pin == expected : pin > 0;
	if (!good)
		ksft_print_msg("file %u: %d, expected: file %u: %d\n", got, pin, id, expected);
	return good;
}

static bool check_answers(void)
{
	struct pinner *pinner = pinner_open();
	bool good = pinner_fd(pinner) < 0 && pinner_patience(pinner) < 0;
	uint32_t id;
	int pin;

	for (id = 1; id <= 200; id++)
		ask(pinner, id, id % 5 ? GOOD : GONE);
	good &= pinner_asked(pinner) == 200;
	for (id = 1; good && id <= 200; id++)
		good = answers(pinner, id, id % 5 ? 0 : -ENOENT);
	good &= !pinner_asked(pinner) && !pinner_take(pinner, &id, &pin);
	pinner_close(pinner);
	return good;
}

/*
 * The child hangs at the first request about a process.  When PINNER_MS are over, all requests about
 * that process fail, and a new child answers those about others.
 */
static bool check_stuck(void)
{
	struct pinner *pinner = pinner_open();
	bool good;

	ask(pinner, 1, GOOD);
	ask(pinner, 2, STUCK);
	ask(pinner, 3, GOOD);
	ask(pinner, 4, STUCK);
	ask(pinner, 5, GONE);
	good = answers(pinner, 1, 0) && answers(pinner, 2, -ETIMEDOUT) &&
	       answers(pinner, 4, -ETIMEDOUT) && answers(pinner, 3, 0) && answers(pinner, 5, -ENOENT);
	pinner_close(pinner);
	return good;
}

/* The processes of a user who has several such processes are looked at after those of others. */
static bool check_stuck_user(void)
{
	struct pinner *pinner = pinner_open();
	bool good;

	ask_for(pinner, 1, STUCK, 1000);
	ask_for(pinner, 2, STUCK_TOO, 1000);
	ask_for(pinner, 3, GOOD, 1000);
	ask_for(pinner, 4, GOOD, 1001);
	ask_for(pinner, 5, STUCK, 1000);
	ask_for(pinner, 6, GONE, 0);
	good = answers(pinner, 1, -ETIMEDOUT) && answers(pinner, 5, -ETIMEDOUT) && answers(pinner, 4, 0) &&
	       answers(pinner, 6, -ENOENT) && answers(pinner, 2, -ETIMEDOUT) && answers(pinner, 3, 0);
	pinner_close(pinner);
	return good;
}

/* A child that dies again and again is like one that is stuck. */
static bool check_deadly(void)
{
	struct pinner *pinner = pinner_open();
	bool good;

	ask(pinner, 1, DEADLY);
	ask(pinner, 2, GOOD);
	good = answers(pinner, 1, -ETIMEDOUT) && answers(pinner, 2, 0);
	pinner_close(pinner);
	return good;
}

/* The child has none of our files, and ends when it has nothing to do: then there is no zombie. */
static bool check_idle(void)
{
	struct pinner *pinner = pinner_open();
	struct pollfd fd = { .events = POLLIN };
	int pipes[2];
	uint32_t id;
	char byte;
	int pin;
	bool good = !pipe(pipes);

	ask(pinner, 1, GOOD);
	good &= answers(pinner, 1, 0) && !close(pipes[1]) && !read(pipes[0], &byte, 1);
	fd.fd = pinner_fd(pinner);
	good &= poll(&fd, 1, -1) == 1 && !pinner_take(pinner, &id, &pin) && pinner_fd(pinner) < 0 &&
		waitpid(-1, NULL, WNOHANG) == -1 && errno == ECHILD;
	ask(pinner, 2, GOOD);
	good &= answers(pinner, 2, 0);
	pinner_close(pinner);
	close(pipes[0]);
	return good && waitpid(-1, NULL, WNOHANG) == -1;
}

int main(void)
{
	ksft_print_header();
	ksft_set_plan(5);
	ksft_test_result(check_answers(), "a request, an answer\n");
	ksft_test_result(check_stuck(), "a process that cannot be looked at\n");
	ksft_test_result(check_stuck_user(), "several of one user\n");
	ksft_test_result(check_deadly(), "a child that dies\n");
	ksft_test_result(check_idle(), "a child without work ends\n");
	ksft_finished();
}
