// SPDX-License-Identifier: GPL-2.0
/*
 * Names of the methods that a Java virtual machine has compiled: it writes them to /tmp/perf-PID.map itself, asked by
 * the jcmd of its own JDK, which nsenter(1) starts in its namespaces and as its user.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "alloc.h"
#include "child.h"
#include "io.h"
#include "java_names.h"

#define WORDS_MOST	65536	/* bytes that jcmd may say */

/* Where a link of /proc/PID leads.  Return: 0 or -errno. */
static int read_link(pid_t pid, const char *name, char path[PATH_MAX])
{
	char link[48];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/%d/%s", pid, name);
	n = readlink(link, path, PATH_MAX - 1);
	if (n < 0)
		return -errno;
	path[n] = 0;
	return 0;
}

/* The jcmd beside the process's executable, as the process sees it.  Return: 0 or -errno. */
static int find_jcmd(pid_t pid, char path[PATH_MAX])
{
	char exe[PATH_MAX], root[PATH_MAX], outside[PATH_MAX + 32];
	size_t skip;
	int ret;

	ret = read_link(pid, "exe", exe) ?: read_link(pid, "root", root);
	if (ret)
		return ret;
	skip = strlen(root);
	if (skip == 1 || strncmp(exe, root, skip) || exe[skip] != '/')
		skip = 0;
	*strrchr(exe + skip, '/') = 0;
	if (snprintf(path, PATH_MAX, "%s/jcmd", exe + skip) >= PATH_MAX)
		return -ENAMETOOLONG;
	snprintf(outside, sizeof(outside), "/proc/%d/root%s", pid, path);
	return access(outside, X_OK) ? -errno : 0;
}

struct jcmd {
	pid_t		pid;
	pid_t		own_pid;	/* in its pid namespace */
	char		path[PATH_MAX];
	struct stat	user;
};

/* Run jcmd; called in a child, which becomes it. */
static void run_jcmd(void *arg, size_t index, FILE *out)
{
	const struct jcmd *jcmd = arg;
	char pid[16], own_pid[16], uid[16], gid[16];
	const char *inside[] = {
		"nsenter", "--target", pid, "--mount", "--pid", "--root", "--setuid", uid, "--setgid", gid,
		"--", jcmd->path, own_pid, "Compiler.perfmap", NULL,
	};
	const char **words = geteuid() ? inside + 11 : inside;

	(void)index;
	snprintf(pid, sizeof(pid), "%d", jcmd->pid);
	snprintf(own_pid, sizeof(own_pid), "%d", jcmd->own_pid);
	snprintf(uid, sizeof(uid), "%u", jcmd->user.st_uid);
	snprintf(gid, sizeof(gid), "%u", jcmd->user.st_gid);
	dup2(fileno(out), STDOUT_FILENO);
	dup2(fileno(out), STDERR_FILENO);
	execvp(words[0], (char **)words);
	fprintf(out, "%s: %s", words[0], strerror(errno));
}

/**
 * java_names_write() - have a Java virtual machine write its /tmp/perf-PID.map
 * @pid: its process, which must still be there
 * @error: filled if it does not: as jcmd says, or why there is none
 *
 * For JDK 17 and later.  Takes as long as jcmd does, which gives up after some seconds if the virtual machine
 * does not answer.
 *
 * Return: 0 or -1.
 */
int java_names_write(pid_t pid, struct bee_error *error)
{
	struct jcmd jcmd = { .pid = pid, .own_pid = io_own_pid(pid) };
	struct child child = { 0 };
	char path[32], *words, *line;
	int ret;

	snprintf(path, sizeof(path), "/proc/%d", pid);
	ret = stat(path, &jcmd.user) ? -errno : find_jcmd(pid, jcmd.path);
	if (ret)
		return error_set(error, -ret, "%s%s%s", jcmd.path, *jcmd.path ? ": " : "", strerror(-ret));
	if (child_start(&child, run_jcmd, &jcmd, 0))
		return error_set(error, errno, "cannot start a process: %s", strerror(errno));
	child.limit = WORDS_MOST;
	while (child_read(&child))
		;
	ret = child.size && memmem(child.data, child.size, "executed successfully", 21) ? 0 : -1;
	if (ret) {
		words = child.size ? alloc_check(strndup(child.data, child.size), 1) : alloc_text("no answer");
		/* jcmd begins with the process's id and a colon. */
		line = words + strspn(words, "0123456789:\n");
		line[strcspn(line, "\n")] = 0;
		error_set(error, EIO, "%s: %s", jcmd.path, line);
		free(words);
	}
	free(child.data);
	return ret;
}
