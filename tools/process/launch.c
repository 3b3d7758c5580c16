// SPDX-License-Identifier: GPL-2.0
/*
 * Start a program once all is ready for it: its process waits before its exec, until the tables of what it
 * will map are in the module and perf is attached.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "alloc.h"
#include "io.h"
#include "launch.h"
#include "maps.h"

/* The dynamic linker lists libraries for so many seconds at most. */
#define NEEDS_SECONDS	5

/* A script's interpreter may be a script, so often (BINPRM_BUF_SIZE and exec_binprm() of the kernel). */
#define NEEDS_SCRIPTS	5

/**
 * launch_begin() - fork a program's process, which then waits
 * @launch: filled
 * @argv: the program, looked for in $PATH, and its arguments
 * @name: of the process until it executes the program; NULL: beectl's
 *
 * Signals that this process ignores stay ignored in the program.  If this process ends, it ends, too.
 *
 * Return: 0, or -1 and errno.
 */
int launch_begin(struct launch *launch, char **argv, const char *name)
{
	int go[2], report[2], code;
	char byte;

	*launch = (struct launch){ .go = -1, .report = -1 };
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, go))
		return -1;
	if (pipe2(report, O_CLOEXEC)) {
		close(go[0]);
		close(go[1]);
		return -1;
	}
	fflush(NULL);
	launch->pid = fork();
	if (!launch->pid) {
		close(go[1]);
		close(report[0]);
		if (name)
			prctl(PR_SET_NAME, name);
		if (read(go[0], &byte, 1) != 1)
			_exit(1);
		execvp(argv[0], argv);
		code = errno;
		io_write_all(report[1], &code, sizeof(code));
		_exit(127);
	}
	close(go[0]);
	close(report[1]);
	launch->go = go[1];
	launch->report = report[0];
	if (launch->pid > 0)
		return 0;
	code = errno;
	launch->pid = 0;
	launch_cancel(launch);
	errno = code;
	return -1;
}

/* No process that is forked later is to keep them open. */
static void launch_close(struct launch *launch)
{
	if (launch->go >= 0)
		close(launch->go);
	if (launch->report >= 0)
		close(launch->report);
	launch->go = launch->report = -1;
}

/**
 * launch_go() - have the program executed
 * @launch: from launch_begin(); its pid is to be waited for if this succeeds
 *
 * Return: 0; or -1 and errno, if it could not be executed: its process has ended and been waited for.
 */
int launch_go(struct launch *launch)
{
	int code = 0;
	ssize_t got;

	send(launch->go, "", 1, MSG_NOSIGNAL);
	do
		got = read(launch->report, &code, sizeof(code));
	while (got < 0 && errno == EINTR);
	if (got == sizeof(code)) {
		launch_cancel(launch);
		errno = code;
		return -1;
	}
	launch_close(launch);
	return 0;
}

/** launch_cancel() - end a program that has not been executed */
void launch_cancel(struct launch *launch)
{
	launch_close(launch);
	if (launch->pid)
		kill(launch->pid, SIGKILL);
	while (launch->pid && waitpid(launch->pid, NULL, 0) < 0 && errno == EINTR)
		;
	launch->pid = 0;
}

/* Add a file, if it can be opened and is not there yet. */
static void needs_add(struct table_wants *wants, const char *path)
{
	struct table_want *want;
	struct stat st;
	size_t i;
	int fd;

	for (i = 0; i < wants->count; i++)
		if (!strcmp(wants->want[i].name, path))
			return;
	fd = io_open_regular(path);
	if (fd < 0)
		return;
	want = table_wants_add(wants, path, getuid());
	want->fd = fd;
	if (!fstat(fd, &st))
		want->size = st.st_size;
}

/* Read the interpreter of an ELF file's header.  Return: whether it has one. */
static bool elf_interpreter(int fd, char *path, size_t size)
{
	Elf64_Phdr phdr;
	Elf64_Ehdr ehdr;
	ssize_t got;
	int i;

	if (io_read_at(fd, &ehdr, sizeof(ehdr), 0) != sizeof(ehdr) || memcmp(ehdr.e_ident, ELFMAG, SELFMAG) ||
	    ehdr.e_ident[EI_CLASS] != ELFCLASS64)
		return false;
	for (i = 0; i < ehdr.e_phnum; i++) {
		if (io_read_at(fd, &phdr, sizeof(phdr), ehdr.e_phoff + i * sizeof(phdr)) != sizeof(phdr))
			return false;
		if (phdr.p_type != PT_INTERP || phdr.p_filesz >= size)
			continue;
		got = io_read_at(fd, path, phdr.p_filesz, phdr.p_offset);
		path[got > 0 ? got : 0] = '\0';
		return *path == '/';
	}
	return false;
}

/* Have the dynamic linker say which libraries a program needs, as ldd(1) does: "NAME => PATH (ADDRESS)". */
static void needs_add_libraries(struct table_wants *wants, const char *linker, const char *path)
{
	const char *base = strrchr(linker, '/') + 1;
	char *line = NULL, *start, *end;
	size_t room = 0;
	int fds[2];
	pid_t pid;
	FILE *in;

	/* Others may run the program. */
	if ((strncmp(base, "ld-linux", 8) && strncmp(base, "ld-musl", 7)) || pipe2(fds, O_CLOEXEC))
		return;
	pid = fork();
	if (!pid) {
		int null = open("/dev/null", O_RDWR);

		dup2(null, STDIN_FILENO);
		dup2(null, STDERR_FILENO);
		dup2(fds[1], STDOUT_FILENO);
		alarm(NEEDS_SECONDS);
		execl(linker, linker, "--list", path, NULL);
		_exit(1);
	}
	close(fds[1]);
	in = fdopen(fds[0], "r");
	while (in && pid > 0 && getline(&line, &room, in) > 0) {
		start = strchr(line, '/');
		end = start ? strstr(start, " (0x") : NULL;
		if (!end)
			continue;
		*end = '\0';
		/* A line without an arrow has a name that is a path. */
		needs_add(wants, strstr(start, " => /") ? strstr(start, " => /") + 4 : start);
	}
	free(line);
	if (in)
		fclose(in);
	while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
}

/* Find a program in the directories of PATH, as execvp() does. */
static void needs_find(const char *name, char path[PATH_MAX])
{
	char *list, *rest, *dir;
	bool found = false;
	struct stat st;

	snprintf(path, PATH_MAX, "%s", name);
	if (strchr(name, '/'))
		return;
	list = rest = alloc_text(getenv("PATH") ?: "/bin:/usr/bin");
	while (!found && (dir = strsep(&rest, ":"))) {
		snprintf(path, PATH_MAX, "%s/%s", *dir ? dir : ".", name);
		found = !access(path, X_OK) && !stat(path, &st) && S_ISREG(st.st_mode);
	}
	free(list);
}

/**
 * launch_needs() - the files that a program will map before it begins
 * @argv: the program, looked for in $PATH
 * @wants: they are added to it: its own, or that of a script's interpreter, the dynamic linker, libraries, and
 *	the vDSO.  What a program that is executed later needs is not found.
 */
void launch_needs(char **argv, struct table_wants *wants)
{
	char path[PATH_MAX], linker[PATH_MAX], start[256], *word;
	int fd, scripts;
	ssize_t got;

	table_wants_add(wants, MAPS_VDSO, 0)->fd = NETLINK_VDSO;
	needs_find(argv[0], path);
	for (scripts = 0; scripts < NEEDS_SCRIPTS; scripts++) {
		fd = io_open_regular(path);
		if (fd < 0)
			return;
		got = io_read_at(fd, start, sizeof(start) - 1, 0);
		start[got > 0 ? got : 0] = '\0';
		if (strncmp(start, "#!", 2))
			break;
		close(fd);
		word = start + 2 + strspn(start + 2, " \t");
		word[strcspn(word, " \t\n")] = '\0';
		snprintf(path, sizeof(path), "%s", word);
	}
	if (scripts < NEEDS_SCRIPTS) {
		needs_add(wants, path);
		if (elf_interpreter(fd, linker, sizeof(linker))) {
			needs_add(wants, linker);
			needs_add_libraries(wants, linker, path);
		}
		close(fd);
	}
}
