// SPDX-License-Identifier: GPL-2.0
/*
 * Start a program so that others can look at it before its main() runs: under ptrace from exec
 * to the entry point of the main program, to which the dynamic linker jumps when it has mapped
 * all libraries and run their constructors.  A breakpoint stops the program there; it is removed,
 * and ptrace ended, before the program's first instruction.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include <linux/auxvec.h>
#include <linux/ptrace.h>

#include "io.h"
#include "launch.h"
#include "unrecorded.h"

#define TRACE_OPTIONS	(PTRACE_O_EXITKILL | PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEEXEC | \
			 PTRACE_O_TRACEFORK)

/**
 * struct launch - a program on its way to its entry point
 * @pid: the program
 * @mapped: called when new code is mapped
 * @arg: its argument
 * @executed: exec has happened
 * @entry: address of the breakpoint, 0 if there is none
 * @word: the eight aligned bytes around @entry without the breakpoint
 * @maps_code: the program is in a system call that maps code
 * @start: that asked for this address, or 0
 * @size: and so many bytes
 */
struct launch {
	pid_t			 pid;
	launch_mapped_fn	 mapped;
	void			*arg;
	bool			 executed;
	uint64_t		 entry;
	long			 word;
	bool			 maps_code;
	uint64_t		 start;
	uint64_t		 size;
};

/* What launch_follow() does after a stop of the program. */
enum step {
	STEP_GO_ON,
	STEP_ARRIVED,
	STEP_KILL,
	STEP_FAILED,
};

static int wait_for(pid_t pid, int *status)
{
	pid_t got;

	do
		got = waitpid(pid, status, __WALL);
	while (got < 0 && errno == EINTR);
	return got == pid ? 0 : -1;
}

/* Address at which the main program begins, from the auxiliary vector; 0 if unknown. */
static uint64_t read_entry(pid_t pid)
{
	uint64_t entry = 0, *pair;
	char path[64];
	size_t size, i;

	snprintf(path, sizeof(path), "/proc/%d/auxv", pid);
	pair = (uint64_t *)io_read_all(path, &size);
	for (i = 0; pair && i + 1 < size / sizeof(*pair) && pair[i] != AT_NULL; i += 2)
		if (pair[i] == AT_ENTRY)
			entry = pair[i + 1];
	free(pair);
	return entry;
}

/* int3 is the byte 0xcc.  ptrace writes words; an aligned one does not reach into the next page. */
static int breakpoint_place(struct launch *launch, uint64_t entry)
{
	unsigned int shift = 8 * (entry & 7);
	unsigned long word;

	errno = 0;
	launch->word = ptrace(PTRACE_PEEKTEXT, launch->pid, entry & ~7ull, NULL);
	word = (launch->word & ~(0xfful << shift)) | (0xccul << shift);
	if (errno || ptrace(PTRACE_POKETEXT, launch->pid, entry & ~7ull, word))
		return -1;
	launch->entry = entry;
	return 0;
}

/* From @pid, which is the program or a child that it forked and that has a copy of it. */
static int breakpoint_remove(const struct launch *launch, pid_t pid)
{
	if (!launch->entry)
		return 0;
	return ptrace(PTRACE_POKETEXT, pid, launch->entry & ~7ull, launch->word) ? -1 : 0;
}

static enum step notify_mapped(const struct launch *launch, enum launch_stop stop, uint64_t start,
			       uint64_t end)
{
	return launch->mapped(launch->arg, launch->pid, stop, start, end) ? STEP_KILL : STEP_GO_ON;
}

/* exec has replaced the image, and with it a breakpoint in the one before. */
static enum step stop_exec(struct launch *launch)
{
	struct user_regs_struct regs;
	uint64_t entry = read_entry(launch->pid);

	launch->executed = true;
	launch->entry = 0;
	launch->maps_code = false;
	if (ptrace(PTRACE_GETREGS, launch->pid, NULL, &regs))
		return STEP_FAILED;
	if (notify_mapped(launch, LAUNCH_AT_EXEC, 0, 0) == STEP_KILL)
		return STEP_KILL;
	/* A static program starts at its own entry point: all its code is mapped. */
	if (!entry || regs.rip == entry)
		return STEP_ARRIVED;
	return breakpoint_place(launch, entry) ? STEP_FAILED : STEP_GO_ON;
}

static uint64_t page_end(uint64_t address)
{
	uint64_t page = sysconf(_SC_PAGESIZE);

	return (address + page - 1) & -page;
}

static enum step stop_syscall(struct launch *launch)
{
	struct __ptrace_syscall_info info = { 0 };

	if (ptrace(PTRACE_GET_SYSCALL_INFO, launch->pid, sizeof(info), &info) <= 0)
		return STEP_FAILED;
	if (info.op == PTRACE_SYSCALL_INFO_ENTRY) {
		launch->maps_code = (info.entry.nr == SYS_mmap || info.entry.nr == SYS_mprotect) &&
				    info.entry.args[2] & PROT_EXEC;
		launch->start = info.entry.args[0];
		launch->size = info.entry.args[1];
	} else if (info.op == PTRACE_SYSCALL_INFO_EXIT && launch->maps_code) {
		launch->maps_code = false;
		/* mmap() returns the address, mprotect() 0. */
		if (!info.exit.is_error && info.exit.rval)
			launch->start = info.exit.rval;
		if (!info.exit.is_error)
			return notify_mapped(launch, LAUNCH_AT_MAP, launch->start,
					     page_end(launch->start + launch->size));
	}
	return STEP_GO_ON;
}

/* A child forked before the entry point, by a constructor, is let go at once. */
static enum step stop_fork(const struct launch *launch)
{
	unsigned long child = 0;
	int status;

	if (ptrace(PTRACE_GETEVENTMSG, launch->pid, NULL, &child))
		return STEP_FAILED;
	if (wait_for(child, &status) || !WIFSTOPPED(status))
		return STEP_GO_ON;
	breakpoint_remove(launch, child);
	ptrace(PTRACE_DETACH, child, NULL, NULL);
	return STEP_GO_ON;
}

/* Whether SIGTRAP is from our breakpoint; if so, remove it and set ip back to the entry point. */
static bool breakpoint_hit(struct launch *launch)
{
	struct user_regs_struct regs;

	if (!launch->entry || ptrace(PTRACE_GETREGS, launch->pid, NULL, &regs) ||
	    regs.rip != launch->entry + 1)
		return false;
	regs.rip = launch->entry;
	return !breakpoint_remove(launch, launch->pid) &&
	       !ptrace(PTRACE_SETREGS, launch->pid, NULL, &regs);
}

/* Handle a stop; @signal is filled with the signal that the program gets when it goes on. */
static enum step launch_step(struct launch *launch, int status, int *signal)
{
	siginfo_t info;

	*signal = 0;
	if (status >> 8 == (SIGTRAP | (PTRACE_EVENT_EXEC << 8)))
		return stop_exec(launch);
	if (status >> 8 == (SIGTRAP | (PTRACE_EVENT_FORK << 8)))
		return stop_fork(launch);
	if (WSTOPSIG(status) == (SIGTRAP | 0x80))
		return stop_syscall(launch);
	if (WSTOPSIG(status) == SIGTRAP && breakpoint_hit(launch))
		return notify_mapped(launch, LAUNCH_AT_ENTRY, 0, 0) == STEP_KILL ? STEP_KILL :
										   STEP_ARRIVED;
	/* A group-stop (ptrace(2)) has no signal to deliver. */
	if (!ptrace(PTRACE_GETSIGINFO, launch->pid, NULL, &info) || errno != EINVAL)
		*signal = WSTOPSIG(status);
	return STEP_GO_ON;
}

static enum launch_state launch_end(pid_t pid, enum launch_state state)
{
	int saved = errno, status;

	kill(pid, SIGKILL);
	while (!wait_for(pid, &status) && WIFSTOPPED(status))
		;
	errno = saved;
	return state;
}

/* From the first SIGSTOP to the entry point. */
static enum launch_state launch_follow(struct launch *launch, int *status)
{
	int signal = 0;

	for (;;) {
		/* System calls are of interest only after exec. */
		int request = launch->executed ? PTRACE_SYSCALL : PTRACE_CONT;

		if (ptrace(request, launch->pid, NULL, signal) && errno != ESRCH)
			return launch_end(launch->pid, LAUNCH_FAILED);
		if (wait_for(launch->pid, status))
			return LAUNCH_FAILED;
		if (!WIFSTOPPED(*status))
			return LAUNCH_ENDED;
		switch (launch_step(launch, *status, &signal)) {
		case STEP_GO_ON:
			break;
		case STEP_ARRIVED:
			ptrace(PTRACE_DETACH, launch->pid, NULL, NULL);
			return LAUNCH_RUNS;
		case STEP_KILL:
			return launch_end(launch->pid, LAUNCH_KILLED);
		case STEP_FAILED:
			/* If it has just been killed, the next wait status says so. */
			if (errno == ESRCH)
				break;
			return launch_end(launch->pid, LAUNCH_FAILED);
		}
	}
}

/* Fork the program: until exec closes it, the pipe tells the parent why there was no exec. */
static pid_t launch_fork(char **argv, int *report)
{
	int pipe[2], code;
	pid_t pid;

	if (unrecorded_is())
		return unrecorded_fork(report);
	if (pipe2(pipe, O_CLOEXEC))
		return -1;
	pid = fork();
	if (!pid) {
		if (!ptrace(PTRACE_TRACEME, 0, NULL, NULL) && !raise(SIGSTOP))
			execvp(argv[0], argv);
		code = errno;
		io_write_all(pipe[1], &code, sizeof(code));
		_exit(127);
	}
	close(pipe[1]);
	*report = pipe[0];
	return pid;
}

/* Return: whether a program that was forked by unrecorded_fork() may execute. */
static bool launch_let_go(int report)
{
	int go = 0;

	return !unrecorded_is() || write(report, &go, sizeof(go)) == sizeof(go);
}

/**
 * launch_start() - start a program, and let it go when it is about to begin
 * @argv: the program, looked for in $PATH, and its arguments
 * @mapped: called at every stop
 * @arg: its argument
 * @pid: filled: the program, to be waited for if LAUNCH_RUNS
 * @status: filled: its wait status if LAUNCH_ENDED
 *
 * Signals that this process ignores stay ignored in the program.
 */
enum launch_state launch_start(char **argv, launch_mapped_fn mapped, void *arg, pid_t *pid,
			       int *status)
{
	struct launch launch = { .mapped = mapped, .arg = arg };
	enum launch_state state = LAUNCH_FAILED;
	int report = -1, code;

	launch.pid = *pid = launch_fork(argv, &report);
	if (launch.pid > 0 && !wait_for(launch.pid, status)) {
		bool stopped = WIFSTOPPED(*status);

		if (!stopped)
			state = LAUNCH_ENDED;
		else if (ptrace(PTRACE_SETOPTIONS, launch.pid, NULL, TRACE_OPTIONS) ||
			 !launch_let_go(report))
			state = launch_end(launch.pid, LAUNCH_FAILED);
		else
			state = launch_follow(&launch, status);
		if (state == LAUNCH_ENDED && !launch.executed &&
		    read(report, &code, sizeof(code)) == sizeof(code)) {
			/* Before the first stop only PTRACE_TRACEME can fail. */
			state = stopped ? LAUNCH_NO_EXEC : LAUNCH_FAILED;
			errno = code;
		}
	}
	if (report >= 0)
		close(report);
	return state;
}

/** launch_wait() - as waitpid(), for the end of the program that launch_start() has started */
pid_t launch_wait(pid_t pid, int *status)
{
	if (unrecorded_is()) {
		unrecorded_wait();
		errno = ECHILD;
		return -1;
	}
	return waitpid(pid, status, 0);
}
