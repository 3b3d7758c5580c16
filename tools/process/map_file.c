// SPDX-License-Identifier: GPL-2.0
/*
 * Open the file behind a mapping of a process: through /proc/PID/map_files or, if the process has
 * ended or that is not permitted, by its name.  Either can yield another file, if the mapping or
 * the name has changed since; callers let the module compare inodes.
 *
 * A name is valid in the mount namespace of its process.  When the process has ended its namespace
 * is unknown, so the name is looked up in ours, in those of root, and in those of the process's user.
 */
#include <ctype.h>
#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include "child.h"
#include "error.h"
#include "io.h"
#include "map_file.h"

/* Mount namespaces, as containers have, in which a name is looked up. */
#define MAX_NAMESPACES	256

static int pin_at(int dir, const char *name)
{
	int pin = openat(dir, name, O_PATH | O_CLOEXEC);

	return pin < 0 ? -errno : pin;
}

/**
 * map_file_pin() - hold on to a mapped file without opening it
 * @mapping: the mapping
 *
 * Goes through /proc/PID/map_files, so that it is the mapped file even if its name has been
 * reused, or is one of another mount namespace.  Does not wait for the file's file system, but for
 * the process, which can hold its mmap_lock as long as it likes: for a child, or see pinner.c.
 *
 * Return: an O_PATH descriptor for map_file_open(), or -errno.
 */
int map_file_pin(const struct mapping *mapping)
{
	char path[80];
	struct dirent *entry;
	uint64_t start, end;
	DIR *dir;
	int pin;

	snprintf(path, sizeof(path), "/proc/%d/map_files/%" PRIx64 "-%" PRIx64, mapping->pid,
		 mapping->start, mapping->end);
	pin = pin_at(AT_FDCWD, path);
	if (pin != -ENOENT)
		return pin;
	/* The mapping may have been split or merged since: take any that overlaps it. */
	snprintf(path, sizeof(path), "/proc/%d/map_files", mapping->pid);
	dir = opendir(path);
	if (!dir)
		return -errno;
	while (pin == -ENOENT && (entry = readdir(dir)))
		if (sscanf(entry->d_name, "%" SCNx64 "-%" SCNx64, &start, &end) == 2 &&
		    start < mapping->end && mapping->start < end) {
			pin = pin_at(dirfd(dir), entry->d_name);
			break;
		}
	closedir(dir);
	return pin;
}

/**
 * struct name_search - the best file of a mapping's name so far
 * @mapping: the mapping
 * @pin: the file, an O_PATH descriptor; -1 if there is none
 * @rank: 0: no file; 1: it has the mapped file's size; 2: and its inode number
 */
struct name_search {
	const struct mapping	*mapping;
	int			 pin;
	int			 rank;
};

/*
 * Look the mapping's name up below the root directory of process @pid ("self" or a number), and keep
 * the file if it is a better one than the best so far.
 */
static void name_try(struct name_search *search, const char *pid)
{
	const struct mapping *m = search->mapping;
	int pin = io_pin_of_process(pid, m->path), rank = 0;
	struct stat st;

	if (pin >= 0 && !fstat(pin, &st) && S_ISREG(st.st_mode) && (uint64_t)st.st_size == m->size)
		rank = (uint64_t)st.st_ino == m->inode ? 2 : 1;
	if (rank > search->rank) {
		if (search->pin >= 0)
			close(search->pin);
		search->pin = pin;
		search->rank = rank;
	} else if (pin >= 0) {
		close(pin);
	}
}

/* Whether a process is root's, or the user's whose file is looked for. */
static bool is_of_user(const struct name_search *search, const char *pid)
{
	uid_t user = child_owner(atoi(pid));

	return !user || user == search->mapping->user;
}

/*
 * Try each mount namespace once, our own first, as most files are in it.  A user can mount a file system
 * that never answers in a namespace of its own, so no file of another user is looked for there.
 */
static void name_search_all(struct name_search *search)
{
	ino_t seen[MAX_NAMESPACES];
	const char *pid = "self";
	size_t i, count = 0;
	struct dirent *at;
	struct stat st;
	char path[64];
	DIR *proc = opendir("/proc");

	do {
		snprintf(path, sizeof(path), "/proc/%s/ns/mnt", pid);
		if (count < MAX_NAMESPACES && !stat(path, &st)) {
			for (i = 0; i < count && seen[i] != st.st_ino; i++)
				;
			if (i == count && (!count || is_of_user(search, pid))) {
				seen[count++] = st.st_ino;
				name_try(search, pid);
			}
		}
		do
			at = proc ? readdir(proc) : NULL;
		while (at && !isdigit((unsigned char)at->d_name[0]));
		pid = at ? at->d_name : NULL;
	} while (pid && search->rank < 2);
	if (proc)
		closedir(proc);
}

/* A file of the mapping's name and size: in the root of its process, or else of any. */
static int pin_by_name(const struct mapping *mapping)
{
	struct name_search search = { .mapping = mapping, .pin = -1 };
	char pid[16];

	if (mapping->path[0] != '/')
		return -ENOENT;
	snprintf(pid, sizeof(pid), "%d", mapping->pid);
	if (mapping->pid)
		name_try(&search, pid);
	if (!search.rank)
		name_search_all(&search);
	return search.pin < 0 ? -ENOENT : search.pin;
}

static int pin_open(int pin)
{
	int fd = io_reopen(pin);

	return fd < 0 ? -errno : fd;
}

/* All 64-bit processes have the same vDSO: copy this process's. */
static int open_vdso(void)
{
	const Elf64_Ehdr *header = (const void *)getauxval(AT_SYSINFO_EHDR);
	int fd;

	if (!header)
		return -ENOENT;
	/* The section headers end the image. */
	fd = io_memfd("vdso", header, header->e_shoff + header->e_shnum * header->e_shentsize);
	return fd < 0 ? -errno : fd;
}

/**
 * map_file_open() - open a mapped file, or perhaps another, for reading
 * @mapping: the mapping
 * @pin: from map_file_pin(), or -errno; it stays open
 * @error: filled on failure
 *
 * Without a pin, as the process has ended or privileges are missing, it opens the file by name.
 *
 * Return: a file descriptor, or -1.
 */
int map_file_open(const struct mapping *mapping, int pin, struct bee_error *error)
{
	bool denied = pin == -EPERM || pin == -EACCES;
	int fd, named = -1;

	if (!strcmp(mapping->path, MAP_FILE_VDSO)) {
		fd = open_vdso();
	} else if (pin >= 0) {
		fd = pin_open(pin);
	} else {
		named = pin_by_name(mapping);
		fd = named < 0 ? named : pin_open(named);
	}
	if (named >= 0)
		close(named);
	if (fd >= 0)
		return fd;
	if (fd == -ENXIO)
		return error_set(error, ENXIO, "not a regular file");
	if (fd == -ENOENT && denied)
		return error_set(error, ENOENT, "not found by its name, and to open mapped files "
				 "needs CAP_SYS_ADMIN or CAP_CHECKPOINT_RESTORE");
	return error_set(error, -fd, "%s", fd == -ENOENT ?
			 "no longer mapped, and not found by its name" : strerror(-fd));
}
