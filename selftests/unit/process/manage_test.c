// SPDX-License-Identifier: GPL-2.0
/* Which processes beectl can have managed, and what it reports about each. */
#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fake_netlink.h"
#include "jit_jobs.h"
#include "kselftest.h"
#include "manage.h"

/* For check_jit(): what has become of the JIT code of the process, and how often that was asked. */
static struct jit_result jit_made;
static int jit_asked;

/* Instead of that of jit_jobs.c. */
int jit_jobs_run(const struct jit_jobs *jobs)
{
	jit_asked++;
	jobs->done(jobs->arg, jobs->pid[0], &jit_made);
	return 0;
}

/* Nothing here has tables made for all processes. */
int jit_jobs_run_all(const struct table_maker *maker, jit_done_fn *done, void *arg, struct bee_error *error)
{
	(void)maker, (void)done, (void)arg, (void)error;
	abort();
}

static bool is_refused(pid_t pid, int code, const char *text)
{
	struct bee_error error = { 0 };

	if (manage_check(pid, &error) == -1 && error.code == code && !strcmp(error.text, text))
		return true;
	ksft_print_msg("%d: %d, %s\n", pid, error.code, error.text);
	return false;
}

static bool check_running(void)
{
	struct bee_error error = { 0 };

	return manage_check(getpid(), &error) == getpid() && !error.text[0];
}

/* WNOWAIT leaves the child a zombie. */
static bool check_zombie(void)
{
	siginfo_t info;
	pid_t pid = fork();
	bool good;

	if (!pid)
		_exit(0);
	good = !waitid(P_PID, pid, &info, WEXITED | WNOWAIT) &&
	       is_refused(pid, ESRCH, "a zombie: the process has ended already");
	waitpid(pid, NULL, 0);
	return good && is_refused(pid, ESRCH, "no such process");
}

static int ready[2];

/* Wait until /proc says that the first thread is a zombie: no event announces that. */
static void *thread_run(void *arg)
{
	char path[64], line[256] = "";
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/stat", getpid());
	while (!strstr(line, ") Z")) {
		file = fopen(path, "r");
		if (!file || !fgets(line, sizeof(line), file))
			_exit(1);
		fclose(file);
	}
	if (write(ready[1], "x", 1) != 1)
		_exit(1);
	pause();
	return arg;
}

/* A process whose first thread has ended while another one still runs. */
static bool check_other_thread(void)
{
	struct bee_error error = { 0 };
	pid_t pid, found;
	char byte;
	bool good;

	if (pipe(ready))
		return false;
	pid = fork();
	if (!pid) {
		pthread_t thread;

		if (pthread_create(&thread, NULL, thread_run, NULL))
			_exit(1);
		pthread_exit(NULL);
	}
	close(ready[1]);
	good = read(ready[0], &byte, 1) == 1;
	found = manage_check(pid, &error);
	good &= found > 0 && found != pid;
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	close(ready[0]);
	return good;
}

/*
 * Two ranges of one file with a table, one of another, one of no file; a third file is unmapped.
 * As nothing is to be done, the module is asked once.
 */
static bool check_counts(void)
{
	struct table_maker maker = { .cache = NULL };
	struct manage_result result;
	bool good;

	fake_reset();
	fake.pid = getpid();
	fake.nfiles = 3;
	fake.file[0] = (struct netlink_file){ .id = 1, .loaded = true, .bytes = 100 };
	fake.file[1] = (struct netlink_file){ .id = 2, .loaded = true, .bytes = 1000 };
	fake.file[2] = (struct netlink_file){ .id = 3, .loaded = true, .bytes = 7 };
	fake.nranges = 4;
	fake.range[0] = (struct range){ 0x1000, 0x2000, 0, 1 };
	fake.range[1] = (struct range){ 0x3000, 0x4000, 0, 1 };
	fake.range[2] = (struct range){ 0x5000, 0x6000, 0, 3 };
	fake.range[3] = (struct range){ 0x7000, 0x8000, 0, 0 };
	good = !manage_process(&maker, getpid(), &result) && result.ranges == 4 &&
	       result.tables == 2 && result.bytes == 107 && result.stored == 2 &&
	       !result.compiled && !strcmp(result.name, "manage_test") && *fake.dumps == 1;
	manage_result_free(&result);
	fake.nranges = 0;
	good &= manage_process(&maker, getpid(), &result) && result.error.code == ESRCH &&
		strstr(result.error.text, "about to end");
	manage_result_free(&result);
	return good;
}

/*
 * Tables of code in memory count as compiled; why there is none is a problem, not a failure.  Nobody
 * looks for such code where all that is executable is in files.
 */
static bool check_jit(void)
{
	struct table_maker maker = { .cache = NULL };
	struct manage_result result;
	bool good;

	fake_reset();
	fake.pid = getpid();
	fake.nfiles = 1;
	fake.file[0] = (struct netlink_file){ .id = 1, .loaded = true, .bytes = 100 };
	fake.nranges = 2;
	fake.range[0] = (struct range){ 0x1000, 0x2000, 0x1000, 1 };
	fake.range[1] = (struct range){ 0x3000, 0x4000, 0, 0 };
	jit_asked = 0;
	jit_made = (struct jit_result){ .tables = 1, .name = "[jit] x", .error.text = "why" };
	good = !manage_process(&maker, getpid(), &result) && result.jit == 1 &&
	       result.compiled == 1 && !result.stored && result.nproblems == 1 &&
	       !strcmp(result.problem[0].path, "[jit] x") &&
	       !strcmp(result.problem[0].why, "why") && jit_asked == 1;
	manage_result_free(&result);
	maker.no_jit = true;
	good &= !manage_process(&maker, getpid(), &result) && !result.jit && jit_asked == 1;
	manage_result_free(&result);
	maker.no_jit = false;
	fake.nranges = 1;
	good &= !manage_process(&maker, getpid(), &result) && !result.jit && jit_asked == 1;
	manage_result_free(&result);
	jit_made = (struct jit_result){};
	return good;
}

static int refuse_all(uint32_t pid)
{
	(void)pid;
	return EPERM;
}

static bool check_refused(void)
{
	struct table_maker maker = { .cache = NULL };
	struct manage_result result;
	bool good;

	fake_reset();
	fake.proc_code = refuse_all;
	good = manage_process(&maker, getpid(), &result) && result.error.code == EPERM;
	manage_result_free(&result);
	return good;
}

/* The fake module accepts this process and refuses its parent; no other process has user code. */
static int refuse_some(uint32_t pid)
{
	return pid == (uint32_t)getpid() ? 0 : pid == (uint32_t)getppid() ? EPERM : EINVAL;
}

static bool check_all(void)
{
	struct manage_all_result all;
	struct bee_error error;
	char why[64];

	fake_reset();
	fake.proc_code = refuse_some;
	snprintf(why, sizeof(why), "refused %d", getppid());
	return !manage_all(NULL, true, &all, &error) && all.managed == 1 && all.refused == 1 &&
	       all.pid == getppid() && !strcmp(all.why.text, why);
}

/* How often manage_all() has read /proc since a test has set this to 0. */
static int proc_reads = 1;

/* Instead of libc's: leaves this process out when /proc is read for the first time. */
struct dirent *readdir(DIR *dir)
{
	struct dirent64 *entry = readdir64(dir);

	if (entry && !strcmp(entry->d_name, "."))
		proc_reads++;
	if (entry && proc_reads == 1 && atoi(entry->d_name) == getpid())
		entry = readdir64(dir);
	return (struct dirent *)entry;
}

/* What was forked meanwhile by a process that was not managed yet. */
static bool check_all_forked(void)
{
	struct manage_all_result all;
	struct bee_error error;

	fake_reset();
	fake.proc_code = refuse_some;
	proc_reads = 0;
	return !manage_all(NULL, true, &all, &error) && all.managed == 1 && all.refused == 1;
}

/*
 * The fake module manages this process, and refuses to look at it again: manage_all() asks for that only if its
 * caller wants it.
 */
static int refuse_own(uint32_t pid)
{
	return pid == (uint32_t)getpid() ? EPERM : EINVAL;
}

static bool check_all_managed(void)
{
	struct manage_all_result all;
	struct bee_error error;
	bool good;

	fake_reset();
	fake.pid = getpid();
	fake.proc_code = refuse_own;
	good = !manage_all(NULL, false, &all, &error) && all.managed == 1 && !all.refused;
	return good && !manage_all(NULL, true, &all, &error) && !all.managed && all.refused == 1;
}

/* Its parent is busy for ever, which must not keep it from being accepted when it is tried again. */
static int busy_some(uint32_t pid)
{
	static int tries;

	if (pid == (uint32_t)getpid())
		return ++tries < 4 ? EBUSY : 0;
	return pid == (uint32_t)getppid() ? EBUSY : EINVAL;
}

static bool check_all_busy(void)
{
	struct manage_all_result all;
	struct bee_error error;

	fake_reset();
	fake.proc_code = busy_some;
	return !manage_all(NULL, true, &all, &error) && all.managed == 1 && all.refused == 1 &&
	       all.pid == getppid() && all.why.code == EBUSY;
}

static bool check_forget(void)
{
	struct bee_error error;
	size_t count;
	bool good;

	fake_reset();
	fake.pid = 5;
	good = !manage_forget_all(NULL, &count, &error) && count == 1;
	fake.pid = 5;
	fake.forks = 3;
	good &= !manage_forget_all(NULL, &count, &error) && count == 4;
	fake.pid = 5;
	fake.forks = -1;
	good &= manage_forget_all(NULL, &count, &error) && error.code == EAGAIN && count > 4;
	fake.pid = 5;
	fake.forks = 0;
	fake.forget_code = ENOENT;
	good &= !manage_forget_all(NULL, &count, &error) && !count;
	fake.pid = 5;
	fake.forget_code = EPERM;
	return good && manage_forget_all(NULL, &count, &error) && error.code == EPERM;
}

int main(void)
{
	char name[64];

	ksft_print_header();
	ksft_set_plan(13);
	ksft_test_result(check_running(), "a process that runs\n");
	ksft_test_result(is_refused(0x3fffffff, ESRCH, "no such process"), "no process\n");
	ksft_test_result(check_zombie(), "a zombie\n");
	ksft_test_result(check_other_thread(), "the first thread has ended\n");
	ksft_test_result(check_counts(), "mappings and tables are counted\n");
	ksft_test_result(check_jit(), "tables of code in memory\n");
	ksft_test_result(check_refused(), "refused by the module\n");
	ksft_test_result(check_all(), "all processes\n");
	ksft_test_result(check_all_forked(), "one that was forked while they were looked at\n");
	ksft_test_result(check_all_busy(), "those that are busy are tried again, for a while\n");
	ksft_test_result(check_all_managed(), "those that are managed already\n");
	ksft_test_result(check_forget(), "all processes are forgotten\n");
	manage_process_name(2, name, sizeof(name));
	if (strcmp(name, "kthreadd"))
		ksft_test_result_skip("a kernel thread # SKIP none is seen here\n");
	else
		ksft_test_result(is_refused(2, EINVAL, "a kernel thread has no user stack"),
				 "a kernel thread\n");
	ksft_finished();
}
