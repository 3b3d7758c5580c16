// SPDX-License-Identifier: GPL-2.0
/* A managed process stays managed through every kind of exec; and tests of follow=all. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "guest.h"
#include "kselftest.h"

#define SCRIPT	"/tmp/exec_test.script"

static struct guest g;

/* Does the process execute a file of that name by now? */
static bool executes(pid_t pid, const char *comm)
{
	char path[64], name[64] = "";
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/comm", pid);
	f = fopen(path, "r");
	if (!f || !fgets(name, sizeof(name), f))
		name[0] = '\0';
	if (f)
		fclose(f);
	name[strcspn(name, "\n")] = '\0';
	return !strcmp(name, comm);
}

/* Is the process asleep in its main loop?  Then it has mapped all that it will map. */
static bool sleeps(pid_t pid)
{
	char path[64], text[256] = "";
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/syscall", pid);
	f = fopen(path, "r");
	if (!f || !fgets(text, sizeof(text), f))
		text[0] = '\0';
	if (f)
		fclose(f);
	/* pause, nanosleep, clock_nanosleep, wait4 */
	return !strncmp(text, "34 ", 3) || !strncmp(text, "35 ", 3) || !strncmp(text, "230 ", 4) ||
	       !strncmp(text, "61 ", 3);
}

static bool becomes(pid_t pid, const char *comm)
{
	const long deadline = guest_deadline();

	do {
		if (executes(pid, comm) && sleeps(pid))
			return true;
	} while (guest_waits(deadline));
	ksft_print_msg("%d did not become %s\n", pid, comm);
	return false;
}

static void check(pid_t pid, const char *comm, const char *how)
{
	ksft_test_result(becomes(pid, comm) && guest_is_managed(&g, pid) && guest_is_exact(&g, pid),
			 "exec %s\n", how);
	guest_reap(pid);
}

static char *const sleep_argv[] = { "sleep", "1000", NULL };

static void test_fork_exec(void)
{
	pid_t pid = fork();

	if (!pid) {
		execv("/bin/sleep", sleep_argv);
		_exit(1);
	}
	check(pid, "sleep", "after fork");
}

static void test_vfork_exec(void)
{
	pid_t pid = vfork();

	if (!pid) {
		execv("/bin/sleep", sleep_argv);
		_exit(1);
	}
	check(pid, "sleep", "after vfork");
	ksft_test_result(guest_is_exact(&g, getpid()), "vfork leaves the parent as it was\n");
}

static void *thread_exec(void *arg)
{
	execv("/bin/sleep", sleep_argv);
	return arg;
}

static void test_thread_exec(void)
{
	pid_t pid = fork();
	pthread_t thread;

	if (!pid) {
		pthread_create(&thread, NULL, thread_exec, NULL);
		for (;;)
			pause();
	}
	check(pid, "sleep", "from another thread than the first");
}

static void *thread_pause(void *arg)
{
	for (;;)
		pause();
	return arg;
}

static bool is_zombie(pid_t pid)
{
	char path[64], text[512] = "";
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	f = fopen(path, "r");
	if (!f || !fgets(text, sizeof(text), f))
		text[0] = '\0';
	if (f)
		fclose(f);
	return strstr(text, ") Z ");
}

/* A process whose main thread has ended lives on in its other threads, and stays managed. */
static void test_main_thread_exit(void)
{
	const long deadline = guest_deadline();
	pid_t pid = fork();
	pthread_t thread;

	if (!pid) {
		pthread_create(&thread, NULL, thread_pause, NULL);
		pthread_exit(NULL);
	}
	while (!is_zombie(pid) && guest_waits(deadline))
		;
	ksft_test_result(is_zombie(pid) && guest_is_managed(&g, pid),
			 "a process whose first thread has ended\n");
	guest_add(&g, pid);
	ksft_test_result(guest_is_managed(&g, pid), "can still be named by its pid\n");
	guest_reap(pid);
}

static int pause_beside(void *arg)
{
	for (;;)
		pause();
	return arg != NULL;
}

/* Who was named has ended, and another process lives on in its address space. */
static void test_named_has_ended(void)
{
	static char stack[65536];
	struct netlink_procs procs;
	int told[2], status;
	pid_t pid, other = 0;

	if (prctl(PR_SET_CHILD_SUBREAPER, 1) || pipe(told))
		guest_die("pipe", strerror(errno));
	pid = fork();
	if (!pid) {
		raise(SIGSTOP);
		other = clone(pause_beside, stack + sizeof(stack), CLONE_VM | SIGCHLD, NULL);
		_exit(write(told[1], &other, sizeof(other)) != sizeof(other));
	}
	close(told[1]);
	waitpid(pid, &status, WUNTRACED);
	if (netlink_proc_del(g.nl, pid, &g.error))
		guest_die("proc-del", g.error.text);
	guest_add(&g, pid);
	kill(pid, SIGCONT);
	if (read(told[0], &other, sizeof(other)) != sizeof(other))
		guest_die("child", "has ended");
	close(told[0]);
	waitpid(pid, &status, 0);
	if (netlink_procs_get(g.nl, other, &procs, &g.error))
		guest_die("proc-get", g.error.text);
	ksft_print_msg("%d was named, %d runs there\n", pid, other);
	ksft_test_result(procs.count == 1 && procs.proc[0].pid == (uint32_t)other,
			 "a process that runs in the address space of one that has ended\n");
	netlink_procs_free(&procs);
	guest_reap(other);
	prctl(PR_SET_CHILD_SUBREAPER, 0);
}

static void test_script(void)
{
	int fd = open(SCRIPT, O_CREAT | O_WRONLY | O_TRUNC | O_CLOEXEC, 0755);
	const char text[] = "#!/bin/bash\nsleep infinity\nexit 0\n";
	pid_t pid;

	if (write(fd, text, sizeof(text) - 1) != (ssize_t)sizeof(text) - 1)
		guest_die(SCRIPT, strerror(errno));
	close(fd);
	pid = fork();
	if (!pid) {
		char *const argv[] = { SCRIPT, NULL };

		setpgid(0, 0);
		execv(SCRIPT, argv);
		_exit(1);
	}
	ksft_test_result(becomes(pid, "exec_test.scrip") && guest_is_managed(&g, pid) &&
			 guest_is_exact(&g, pid), "exec of a script\n");
	kill(-pid, SIGKILL);
	waitpid(pid, NULL, 0);
	unlink(SCRIPT);
}

static void try_bad_exec(void *arg)
{
	char *const argv[] = { arg, NULL };

	if (!execv(arg, argv))
		_exit(1);
}

/* Execs that the kernel refuses, some before and some after it has allocated the new mm. */
static void test_failed_exec(const struct netlink_info *before)
{
	static const char header[64] = "\177ELF\2\1\1";
	char *const bad[] = { "/no/such/file", "/etc/passwd", "/etc", SCRIPT };
	pid_t pid;
	size_t i;
	int fd = open(SCRIPT, O_CREAT | O_WRONLY | O_TRUNC | O_CLOEXEC, 0755);

	if (write(fd, header, sizeof(header)) != sizeof(header))
		guest_die(SCRIPT, strerror(errno));
	close(fd);
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		pid = guest_spawn(try_bad_exec, bad[i]);
		ksft_test_result(guest_is_exact(&g, pid), "a failed exec of %s changes nothing\n",
				 bad[i]);
		guest_reap(pid);
	}
	ksft_test_result(guest_settles(&g, before), "and leaves nothing behind\n");
	unlink(SCRIPT);
}

/*
 * An exec of a process with two threads: the kernel makes it wait until the other thread has ended,
 * and a tracer stops that thread in its exit.  By then the module's hook of begin_new_exec() has
 * looked up whether the process is managed.
 */
struct held {
	pid_t		tid;
	pid_t		asker;
	sem_t		seized;
	sem_t		stopped;
	atomic_bool	answered;
};

/* Is the thread that sends the request (@asker) in sendto() or sendmsg()? */
static bool asker_waits(const struct held *held)
{
	char path[64], text[256] = "";
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/syscall", held->asker);
	f = fopen(path, "r");
	if (f) {
		if (!fgets(text, sizeof(text), f))
			text[0] = '\0';
		fclose(f);
	}
	/* sendto, sendmsg */
	return !strncmp(text, "44 ", 3) || !strncmp(text, "46 ", 3);
}

/* Wait until the request is waiting in the kernel for the exec, or has been answered. */
static void wait_for_request(struct held *held)
{
	const long deadline = guest_deadline();

	while (!held->answered && !asker_waits(held) && guest_waits(deadline))
		;
}

static void *hold_thread(void *arg)
{
	struct held *held = arg;
	int status;

	if (ptrace(PTRACE_SEIZE, held->tid, 0, PTRACE_O_TRACEEXIT))
		guest_die("ptrace", strerror(errno));
	sem_post(&held->seized);
	waitpid(held->tid, &status, __WALL);
	sem_post(&held->stopped);
	wait_for_request(held);
	ptrace(PTRACE_CONT, held->tid, 0, 0);
	waitpid(held->tid, &status, __WALL);
	return NULL;
}

static pid_t other_thread(pid_t pid)
{
	struct dirent *entry;
	pid_t tid = 0;
	char path[64];
	DIR *tasks;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	while (!tid) {
		tasks = opendir(path);
		while (tasks && (entry = readdir(tasks)))
			if (atoi(entry->d_name) != pid)
				tid = atoi(entry->d_name);
		if (tasks)
			closedir(tasks);
	}
	return tid;
}

/* The child: starts a second thread, and executes sleep as soon as the parent closes the pipe. */
static int run_held(int gate[2])
{
	pthread_t thread;
	char c;

	close(gate[1]);
	pthread_create(&thread, NULL, thread_pause, NULL);
	if (read(gate[0], &c, 1))
		return 1;
	return execv("/bin/sleep", sleep_argv);
}

/* A process that is added in the middle of an exec is managed after it; one let go is not. */
static void test_named_while_executing(bool add, const struct netlink_info *start)
{
	struct held held = {};
	pthread_t tracer;
	bool good;
	int gate[2];
	pid_t pid;

	if (pipe(gate))
		guest_die("pipe", strerror(errno));
	pid = fork();
	if (!pid)
		_exit(run_held(gate));
	close(gate[0]);
	held.tid = other_thread(pid);
	held.asker = gettid();
	if (!add)
		guest_add(&g, pid);
	sem_init(&held.seized, 0, 0);
	sem_init(&held.stopped, 0, 0);
	pthread_create(&tracer, NULL, hold_thread, &held);
	sem_wait(&held.seized);
	close(gate[1]);
	sem_wait(&held.stopped);
	if (add)
		guest_add(&g, pid);
	else if (netlink_proc_del(g.nl, pid, &g.error))
		guest_die("proc-del", g.error.text);
	held.answered = true;
	good = becomes(pid, "sleep") && guest_is_managed(&g, pid) == add;
	pthread_join(tracer, NULL);
	guest_reap(pid);
	ksft_test_result(guest_settles(&g, start) && good, "%s while it executes\n",
			 add ? "managed" : "let go");
}

/* Processes that end before any tool could have loaded them. */
static void test_short_ones(void)
{
	struct netlink_stats before, after;
	char *const argv[] = { "perf", "record", "-q", "-o", "/tmp/exec_test.data", "-e",
			       "raw_syscalls:sys_enter", "-c", "1", "-g", "--", "/bin/sh", "-c",
			       "for i in 1 2 3 4 5 6 7 8 9 10; do /bin/true; done", NULL };
	uint64_t walks = 0, whole = 0;
	struct netlink_info start;
	uint32_t reason;
	int status = -1;
	pid_t pid;

	guest_info(&g, &start);
	guest_add_table(&g, "/bin/true");
	guest_add_table(&g, "/bin/dash");
	guest_add_table(&g, "/lib/x86_64-linux-gnu/libc.so.6");
	guest_add_table(&g, "/lib64/ld-linux-x86-64.so.2");
	if (netlink_proc_del(g.nl, getpid(), &g.error) ||
	    netlink_config_set(g.nl, BEEUNWIND_A_CONFIG_FOLLOW, BEEUNWIND_FOLLOW_ALL, &g.error) ||
	    netlink_stats_get(g.nl, &before, &g.error))
		guest_die("follow", g.error.text);
	pid = fork();
	if (!pid) {
		execvp("perf", argv);
		_exit(1);
	}
	waitpid(pid, &status, 0);
	if (netlink_config_set(g.nl, BEEUNWIND_A_CONFIG_FOLLOW,
			       BEEUNWIND_FOLLOW_MANAGED, &g.error) ||
	    netlink_stats_get(g.nl, &after, &g.error))
		guest_die("follow", g.error.text);
	for (reason = 0; reason <= BEEUNWIND_STOP_MAX; reason++)
		walks += after.stop[reason] - before.stop[reason];
	whole = after.stop[BEEUNWIND_STOP_OUTERMOST] - before.stop[BEEUNWIND_STOP_OUTERMOST];
	ksft_print_msg("%lu of %lu stacks whole\n", whole, walks);
	ksft_test_result(!status && walks > 200 && whole * 100 >= walks * 99,
			 "follow=all: processes of milliseconds, from their first system call on\n");
	unlink("/tmp/exec_test.data");
}

int main(void)
{
	struct netlink_info start, managed, end;
	struct netlink_files tables;
	size_t i;

	ksft_print_header();
	ksft_set_plan(19);
	guest_open(&g);
	guest_info(&g, &start);
	test_named_while_executing(true, &start);
	test_named_while_executing(false, &start);
	guest_add(&g, getpid());
	guest_info(&g, &managed);
	ksft_test_result(guest_is_exact(&g, getpid()), "the module's own look at the mappings\n");

	test_fork_exec();
	test_vfork_exec();
	test_thread_exec();
	test_main_thread_exit();
	test_named_has_ended();
	test_script();
	test_failed_exec(&managed);
	test_short_ones();

	if (netlink_files_get(g.nl, &tables, &g.error))
		guest_die("table-get", g.error.text);
	for (i = 0; i < tables.count; i++)
		netlink_table_del(g.nl, tables.file[i].id, false, &g.error);
	netlink_files_free(&tables);
	ksft_test_result(guest_settles(&g, &start), "everything is given back\n");
	guest_info(&g, &end);
	ksft_test_result(!end.follow_lost, "nothing was lost\n");
	ksft_finished();
}
