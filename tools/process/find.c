// SPDX-License-Identifier: GPL-2.0
/*
 * Find a mapped file by its name.  That says something in the mount namespace of its
 * process only; which one that was nobody knows once the process has ended, so it is
 * looked up in all.
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "map_file.h"

/* Containers on one machine in which a name is looked up. */
#define MAX_NAMESPACES	256

/* Symbolic links lead where they do for the processes in there, and never out of it. */
static int open_below(int root, const char *name)
{
	struct open_how how = {
		.flags = O_PATH | O_CLOEXEC,
		.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS,
	};

	return syscall(SYS_openat2, root, name, &how, sizeof(how));
}

/* How sure it is that what is at @name in there is the file: 0 not at all, 2 quite. */
static int name_judge(const struct mapping *m, int pin)
{
	struct stat st;

	if (fstat(pin, &st) || !S_ISREG(st.st_mode) || (uint64_t)st.st_size != m->size)
		return 0;
	return (uint64_t)st.st_ino == m->inode ? 2 : 1;
}

/* Keep the better of what we have and what is at the name below @root. */
static void name_try(const struct mapping *m, int root, int *best, int *rank)
{
	int pin = open_below(root, m->path);
	int judged = pin < 0 ? 0 : name_judge(m, pin);

	if (judged > *rank) {
		if (*best >= 0)
			close(*best);
		*best = pin;
		*rank = judged;
	} else if (pin >= 0) {
		close(pin);
	}
}

static int root_open(const char *pid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%s/root", pid);
	return open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

/* Whether the mount namespace of @pid is one more than those in @seen. */
static bool namespace_is_new(const char *pid, ino_t *seen, size_t *count)
{
	char path[64];
	struct stat st;
	size_t i;

	snprintf(path, sizeof(path), "/proc/%s/ns/mnt", pid);
	if (stat(path, &st))
		return false;
	for (i = 0; i < *count; i++)
		if (seen[i] == st.st_ino)
			return false;
	if (*count == MAX_NAMESPACES)
		return false;
	seen[(*count)++] = st.st_ino;
	return true;
}

/* Our own namespace first: there most files are. */
static int name_find(const struct mapping *m)
{
	ino_t seen[MAX_NAMESPACES];
	size_t count = 0;
	int best = -1, rank = 0;
	const char *pid = "self";
	struct dirent *at;
	DIR *proc = opendir("/proc");

	do {
		int root = namespace_is_new(pid, seen, &count) ? root_open(pid) : -1;

		if (root >= 0) {
			name_try(m, root, &best, &rank);
			close(root);
		}
		do
			at = proc ? readdir(proc) : NULL;
		while (at && !isdigit((unsigned char)at->d_name[0]));
		pid = at ? at->d_name : NULL;
	} while (pid && rank < 2);
	if (proc)
		closedir(proc);
	return best;
}

/**
 * find_pin_by_name() - a file of a mapping's name and size
 * @mapping: the mapping
 *
 * In the root of its process, if that is still there; else in that of any.
 *
 * Return: an O_PATH descriptor, or -ENOENT.
 */
int find_pin_by_name(const struct mapping *mapping)
{
	char pid[16];
	int best = -1, rank = 0, root;

	if (mapping->path[0] != '/')
		return -ENOENT;
	snprintf(pid, sizeof(pid), "%d", mapping->pid);
	root = mapping->pid ? root_open(pid) : -1;
	if (root >= 0) {
		name_try(mapping, root, &best, &rank);
		close(root);
	}
	if (best < 0)
		best = name_find(mapping);
	return best < 0 ? -ENOENT : best;
}
