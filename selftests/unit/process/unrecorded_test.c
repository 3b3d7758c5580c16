// SPDX-License-Identifier: GPL-2.0
/*
 * A program that works in a process of its own, and starts a command: what perf counts of both, and
 * how it ends.  The program is this one, executed anew with the words "program HOW COMMAND".
 */
#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <linux/perf_event.h>

#include "kselftest.h"
#include "launch.h"
#include "unrecorded.h"

/* The program's work: page faults.  Without it there are far fewer of them. */
#define PAGES	10000
#define ROUNDS	10
#define FAULTS	(ROUNDS * PAGES)

static const char *how;

static void started(pid_t pid)
{
	if (pid <= 0)
		_exit(99);
}

static void work(void)
{
	size_t size = PAGES * 4096ul, i, round;
	char *memory;

	memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED || madvise(memory, size, MADV_NOHUGEPAGE))
		_exit(97);
	for (round = 0; round < ROUNDS; round++) {
		for (i = 0; i < size; i += 4096)
			memory[i] = 1;
		madvise(memory, size, MADV_DONTNEED);
	}
	munmap(memory, size);
}

static int look(void *arg, pid_t pid, enum launch_stop stop, uint64_t start, uint64_t end)
{
	unsigned int *looks = arg;

	(void)stop, (void)start, (void)end;
	(void)pid;
	if (!(*looks)++)
		work();
	if (!strcmp(how, "dies"))
		raise(SIGKILL);
	return strcmp(how, "refuses") ? 0 : -1;
}

/* Return: the exit status; 90 + state if the command has not run. */
static int program(char **words)
{
	char *command[] = { words[3], (char *)"-c", words[4], NULL };
	unsigned int looks = 0;
	enum launch_state state;
	int status;
	pid_t pid;

	how = words[2];
	if (unrecorded_begin(words, command, started, &status))
		return status;
	state = launch_start(command, look, &looks, &pid, &status);
	if (state == LAUNCH_RUNS)
		unrecorded_release();
	if (!strcmp(how, "hangs") && unrecorded_is())
		raise(SIGSTOP);
	if (state == LAUNCH_RUNS && launch_wait(pid, &status) != pid)
		return 98;
	if (state != LAUNCH_RUNS && state != LAUNCH_ENDED)
		return 90 + state;
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static int count_faults(pid_t pid)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE, .size = sizeof(attr), .inherit = 1,
		.config = PERF_COUNT_SW_PAGE_FAULTS, .exclude_kernel = 1,
	};

	return syscall(SYS_perf_event_open, &attr, pid, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

/* Run the program.  Return: its exit status; *@faults: of all processes, or 0 if unknown. */
static int run(const char *way, const char *file, const char *script, uint64_t *faults)
{
	int go[2], fd, status = 0;
	pid_t pid;
	char c;

	fflush(stdout);
	if (pipe(go))
		return -1;
	pid = fork();
	if (!pid) {
		close(go[1]);
		if (read(go[0], &c, 1) == 1)
			execl("/proc/self/exe", "unrecorded_test", "program", way, file, script, NULL);
		_exit(1);
	}
	fd = count_faults(pid);
	if (write(go[1], "", 1) != 1 || waitpid(pid, &status, 0) != pid)
		return -1;
	if (fd < 0 || read(fd, faults, sizeof(*faults)) != sizeof(*faults))
		*faults = 0;
	close(fd);
	close(go[0]);
	close(go[1]);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

static bool ends(const char *way, const char *file, const char *script, int want)
{
	uint64_t faults;
	int got = run(way, file, script, &faults);

	if (got != want)
		ksft_print_msg("%s, %s: %d, not %d\n", way, script, got, want);
	return got == want;
}

int main(int argc, char **argv)
{
	const char *script = "i=0; while [ $i -lt 400 ]; do (:); i=$((i+1)); done; exit 7";
	uint64_t faults = 0;
	bool good;

	if (argc == 5 && !strcmp(argv[1], "program"))
		return program(argv);
	ksft_print_header();
	ksft_set_plan(7);
	good = run("works", "/bin/sh", script, &faults) == 7;
	ksft_print_msg("%llu page faults\n", (unsigned long long)faults);
	if (!faults || geteuid())
		ksft_test_result_skip("perf counts the command, not the work # SKIP needs root, and perf\n");
	else
		ksft_test_result(good && faults >= 400 && faults < FAULTS,
				 "perf counts the command, not the work\n");
	ksft_test_result(ends("works", "/bin/sh", "kill -TERM $$", 143), "killed by a signal\n");
	ksft_test_result(ends("works", "/nonexistent", "", 90 + LAUNCH_NO_EXEC), "no command\n");
	ksft_test_result(ends("refuses", "/bin/sh", "exit 0", 90 + LAUNCH_KILLED),
			 "killed before its entry point\n");
	ksft_test_result(ends("dies", "/bin/sh", "exit 0", geteuid() ? -SIGKILL : 128 + SIGKILL),
			 "the process that works is killed\n");
	ksft_test_result(ends("hangs", "/bin/sh", "exit 7", 7),
			 "the process that works hangs: all ends with the command\n");
	good = !setresgid(-1, -1, getegid());
	if (geteuid() || !good) {
		ksft_test_result_skip("a process without CAP_SETGID works itself # SKIP needs root\n");
	} else {
		good = !setresuid(65534, 65534, 65534);
		ksft_test_result(good && ends("works", "/bin/sh", "exit 7", 7),
				 "a process without CAP_SETGID works itself\n");
	}
	ksft_finished();
}
