// SPDX-License-Identifier: GPL-2.0
/*
 * Open a file that was seen mapped somewhere.  The sure way is through the process
 * that has it mapped.  If that has ended, there is the name, which says something in
 * the process's mount namespace only; which one that was nobody knows any more, so it
 * is looked up in all.  What is found so may be another file of the same size: the
 * caller has to ask the module which one it is.
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

#include "find.h"
#include "maps.h"

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
static int place_judge(const struct place *place, int pin)
{
	struct stat st;

	if (fstat(pin, &st) || !S_ISREG(st.st_mode) || (uint64_t)st.st_size != place->size)
		return 0;
	return (uint64_t)st.st_ino == place->inode ? 2 : 1;
}

/* Keep the better of what we have and what is at the name below @root. */
static void place_try(const struct place *place, int root, int *best, int *rank)
{
	int pin = open_below(root, place->name);
	int judged = pin < 0 ? 0 : place_judge(place, pin);

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
static int place_find(const struct place *place)
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
			place_try(place, root, &best, &rank);
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

static int pin_open(int pin)
{
	int fd = pin < 0 ? pin : regular_open(pin);

	if (pin >= 0)
		close(pin);
	return fd;
}

/* For those who may not follow map_files, and for processes that are gone. */
static int place_open_by_name(const struct place *place)
{
	char pid[16];
	int best = -1, rank = 0, root;

	if (place->name[0] != '/')
		return -ENOENT;
	snprintf(pid, sizeof(pid), "%d", place->pid);
	root = place->pid ? root_open(pid) : -1;
	if (root >= 0) {
		place_try(place, root, &best, &rank);
		close(root);
	}
	if (best < 0)
		best = place_find(place);
	return best < 0 ? -ENOENT : pin_open(best);
}

static const char *open_failure(int error, bool denied)
{
	switch (error) {
	case ENXIO:
		return "not a regular file";
	case ENOENT:
		return denied ? "not found by its name, and opening mapped files takes "
				"CAP_SYS_ADMIN or CAP_CHECKPOINT_RESTORE" :
				"its process has ended, and no file of that name and size is there";
	}
	return strerror(error);
}

/**
 * place_open() - open the file that was mapped there, or perhaps another
 * @place: where
 * @pin: from mapping_pin(), or -errno; it stays open
 * @why: on failure a sentence
 * @size: bytes of @why
 *
 * With a pin it is that file for sure; else it has the name and the size.
 *
 * Return: a file descriptor, or -1.
 */
int place_open(const struct place *place, int pin, char *why, size_t size)
{
	int fd = pin < 0 ? pin : regular_open(pin);
	bool denied = pin == -EPERM || pin == -EACCES;

	if (pin < 0)
		fd = place_open_by_name(place);
	if (fd >= 0)
		return fd;
	snprintf(why, size, "%s", open_failure(-fd, denied));
	return -1;
}
