// SPDX-License-Identifier: GPL-2.0
/* What processes have mapped, and which of them have stacks. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kselftest.h"
#include "mapped.h"

static bool check_self(void)
{
	void *at = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	bool code = false, vdso = false, program = false, other = false;
	struct mapped_list list = { 0 };
	struct bee_error error;
	size_t i;

	if (mapped_add(&list, getpid(), &error))
		return false;
	for (i = 0; i < list.count; i++) {
		const struct mapped *mapped = &list.at[i];

		code |= mapped->mapping.start <= (uintptr_t)at && mapped->mapping.end > (uintptr_t)at &&
			!mapped->inode && !*mapped->path;
		vdso |= !strcmp(mapped->path, "[vdso]");
		program |= mapped->mapping.start <= (uintptr_t)check_self && strstr(mapped->path, "mapped_test") &&
			   mapped->mapping.end > (uintptr_t)check_self && mapped->inode;
		other |= mapped->mapping.pid != getpid() || !strcmp(mapped->path, "[vsyscall]");
	}
	mapped_free(&list);
	munmap(at, 4096);
	return code && vdso && program && !other && !list.count;
}

static bool check_all(void)
{
	struct mapped_list list = { 0 };
	struct bee_error error;
	size_t processes = 0, i;
	bool ours = false, sorted = true;

	if (mapped_add_all(&list, &processes, &error))
		return false;
	mapped_sort(&list);
	for (i = 0; i < list.count; i++) {
		ours |= list.at[i].mapping.pid == getpid();
		sorted &= !i || list.at[i - 1].device < list.at[i].device ||
			  (list.at[i - 1].device == list.at[i].device && list.at[i - 1].inode <= list.at[i].inode);
	}
	mapped_free(&list);
	return ours && sorted && processes;
}

static bool refused(pid_t pid, int code, const char *why)
{
	struct bee_error error = { 0 };

	return process_check(pid, &error) == -1 && error.code == code && strstr(error.text, why);
}

static bool check_zombie(void)
{
	pid_t pid = fork();
	siginfo_t info;
	bool good;

	if (!pid)
		_exit(0);
	waitid(P_PID, pid, &info, WEXITED | WNOWAIT);
	good = refused(pid, ESRCH, "zombie");
	waitpid(pid, NULL, 0);
	return good && refused(pid, ESRCH, "no such process");
}

static void *wait_long(void *arg)
{
	(void)arg;
	pause();
	return NULL;
}

/* The first thread has ended, and another one goes on. */
static bool check_thread(void)
{
	struct bee_error error;
	pthread_t thread;
	pid_t pid = fork(), other = 0;
	int tries;

	if (!pid) {
		pthread_create(&thread, NULL, wait_long, NULL);
		pthread_exit(NULL);
	}
	for (tries = 0; tries < 1000 && (other <= 0 || other == pid); tries++) {
		usleep(1000);
		other = process_check(pid, &error);
	}
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	return other > 0 && other != pid;
}

int main(void)
{
	struct bee_error error;
	char name[64];

	ksft_print_header();
	ksft_set_plan(6);
	ksft_test_result(check_self(), "files that this process has mapped\n");
	ksft_test_result(check_all(), "files that all processes have mapped, by file\n");
	ksft_test_result(process_check(getpid(), &error) == getpid(), "a running process has stacks\n");
	ksft_test_result(check_zombie(), "a process that has ended has no stacks\n");
	ksft_test_result(check_thread(), "a process whose first thread has ended has stacks of another thread\n");
	process_name(getpid(), name, sizeof(name));
	ksft_test_result(!strcmp(name, "mapped_test"), "the name of a process\n");
	ksft_finished();
}
