// SPDX-License-Identifier: GPL-2.0
/*
 * Run a command again and again, and each time change the file that it reads, each time before
 * another one of its system calls.
 *
 *	meddle FILE HOW STEP OUTPUT COMMAND...
 *
 * System calls of COMMAND and its children are counted from when one of them opens FILE.
 * Before the n-th system call FILE is changed, for n = 1, 1 + STEP, ... until there are no
 * more.  The command reads FILE by system calls or through a mapping, and a mapping changes with
 * FILE.  HOW is a size to cut FILE to, "scribble" or "grow".
 *
 * COMMAND must exit with 0, and leave in OUTPUT the result for the unchanged or for the changed
 * file; or exit with 1 after one line on standard error that does not report a signal.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

struct content {
	char	*bytes;
	size_t	 size;
};

static const char *path, *how, *output;
static struct content original, expected[2];

static void die(const char *what)
{
	perror(what);
	exit(2);
}

static struct content content_read(const char *name)
{
	struct content content = {};
	struct stat st;
	int fd = open(name, O_RDONLY);

	if (fd < 0)
		return content;
	if (fstat(fd, &st))
		die(name);
	content.size = st.st_size;
	content.bytes = malloc(content.size + 1);
	if (read(fd, content.bytes, content.size) != (ssize_t)content.size)
		die(name);
	content.bytes[content.size] = '\0';
	close(fd);
	return content;
}

/* Restore the file, with an old mtime, so that the next change alters the mtime. */
static void file_restore(void)
{
	const struct timespec old[2] = { { .tv_sec = 1000000000 }, { .tv_sec = 1000000000 } };
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);

	if (fd < 0 || write(fd, original.bytes, original.size) != (ssize_t)original.size ||
	    futimens(fd, old) || close(fd))
		die(path);
}

static void file_change(void)
{
	size_t i, size = original.size;
	int fd = open(path, O_WRONLY);
	char *bytes = malloc(size);

	if (fd < 0)
		die(path);
	if (!strcmp(how, "grow")) {
		if (ftruncate(fd, size + 1))
			die(path);
	} else if (!strcmp(how, "scribble")) {
		/* The headers stay, so that the command still reads what they refer to. */
		for (i = 0; i < size; i++)
			bytes[i] = i < 4096 ? original.bytes[i] : (char)(i * 37 >> 3);
		if (pwrite(fd, bytes, size, 0) != (ssize_t)size)
			die(path);
	} else if (ftruncate(fd, strtoul(how, NULL, 10))) {
		die(path);
	}
	free(bytes);
	close(fd);
}

static bool opens_file(pid_t pid, const struct user_regs_struct *regs)
{
	char name[PATH_MAX] = "";
	struct iovec to = { name, sizeof(name) - 1 }, from = { (void *)regs->rsi, PATH_MAX - 1 };

	if (regs->orig_rax != SYS_openat)
		return false;
	/* The string may end near the end of mapped memory: then read less. */
	while (from.iov_len && process_vm_readv(pid, &to, 1, &from, 1, 0) < 0)
		from.iov_len /= 2;
	return !strcmp(name, path);
}

static pid_t command_start(char **words, const char *errors)
{
	pid_t pid = fork();
	int fd;

	if (pid)
		return pid;
	fd = open(errors, O_WRONLY | O_CREAT | O_TRUNC, 0644);
	dup2(fd, STDERR_FILENO);
	ptrace(PTRACE_TRACEME, 0, 0, 0);
	raise(SIGSTOP);
	execvp(words[0], words);
	_exit(127);
}

/*
 * Run the command with a change before system call @nth, which is counted down: it is 0 or less
 * at the end if the change was made.  Return: the command's wait status.
 */
static int command_run(char **words, const char *errors, int *nth)
{
	const long options = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK |
			     PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL;
	pid_t first = command_start(words, errors), pid;
	bool opened = false;
	int status;

	if (waitpid(first, &status, 0) != first || !WIFSTOPPED(status) ||
	    ptrace(PTRACE_SETOPTIONS, first, 0, options) || ptrace(PTRACE_SYSCALL, first, 0, 0))
		die("ptrace");
	while ((pid = waitpid(-1, &status, __WALL)) > 0) {
		struct user_regs_struct regs;
		int signal = 0;

		if (!WIFSTOPPED(status)) {
			if (pid == first)
				return status;
			continue;
		}
		if (WSTOPSIG(status) == (SIGTRAP | 0x80)) {
			if (ptrace(PTRACE_GETREGS, pid, 0, &regs))
				continue;
			/* rax is -ENOSYS at the entry of a system call, so this is not its exit. */
			if ((long)regs.rax == -ENOSYS && opened && !--*nth)
				file_change();
			opened |= (long)regs.rax == -ENOSYS && opens_file(pid, &regs);
		} else if (WSTOPSIG(status) != SIGTRAP && WSTOPSIG(status) != SIGSTOP) {
			signal = WSTOPSIG(status);
		}
		ptrace(PTRACE_SYSCALL, pid, 0, signal);
	}
	die("waitpid");
	return 0;
}

static bool content_same(const struct content *a, const struct content *b)
{
	return a->bytes && b->bytes && a->size == b->size && !memcmp(a->bytes, b->bytes, a->size);
}

static bool is_one_line(const struct content *text)
{
	const char *newline = text->bytes ? strchr(text->bytes, '\n') : NULL;

	return newline && !newline[1] && !strstr(text->bytes, "signal");
}

/* May the command end with this status and these errors? */
static bool ended_well(int status, const struct content *errors)
{
	struct content got = content_read(output);
	bool same = content_same(&got, &expected[0]) || content_same(&got, &expected[1]);

	free(got.bytes);
	if (!WIFEXITED(status))
		return false;
	if (WEXITSTATUS(status) == 1)
		return is_one_line(errors);
	return !WEXITSTATUS(status) && same && !errors->size;
}

int main(int argc, char **argv)
{
	unsigned int failed = 0, done[2] = {};
	char errors_path[PATH_MAX];
	int n, nth, status, step, places = 0;

	if (argc < 6)
		return 2;
	path = argv[1];
	how = argv[2];
	step = atoi(argv[3]);
	output = argv[4];
	snprintf(errors_path, sizeof(errors_path), "%s.errors", output);
	original = content_read(path);
	file_restore();
	nth = INT_MAX;
	status = command_run(argv + 5, errors_path, &nth);
	expected[0] = content_read(output);
	if (status || !expected[0].size || nth == INT_MAX) {
		fprintf(stderr, "left alone, the command fails\n");
		return 2;
	}
	unlink(output);
	file_change();
	nth = INT_MAX;
	if (!command_run(argv + 5, errors_path, &nth))
		expected[1] = content_read(output);
	for (n = 1, nth = 0; nth <= 0 && step > 0; n += step, places++) {
		struct content errors;

		file_restore();
		unlink(output);
		nth = n;
		status = command_run(argv + 5, errors_path, &nth);
		errors = content_read(errors_path);
		if (!ended_well(status, &errors)) {
			printf("%s before system call %d: wait status 0x%x, \"%s\"\n", how, n,
			       status, errors.bytes);
			failed++;
		}
		done[WIFEXITED(status) && !WEXITSTATUS(status)]++;
		free(errors.bytes);
	}
	printf("%s: %d places, %u failures told, %u complete\n", how, places, done[0], done[1]);
	return failed || !done[0] || !done[1];
}
