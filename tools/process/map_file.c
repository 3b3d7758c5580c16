// SPDX-License-Identifier: GPL-2.0
/*
 * Open the file behind a mapping of a process.  The sure way is through the process;
 * but what is mapped there may have changed, and if it has ended there is only the
 * name.  So it may be another file: the module, asked by inode, knows which.
 *
 * A name says something in the mount namespace of its process only; which one that was
 * nobody knows once the process has ended, so it is looked up in all.
 */
#include <ctype.h>
#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/openat2.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

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

/* The mapping that it was may have been split or merged since: any part of it will do. */
static int pin_overlapping(DIR *dir, const struct mapping *m)
{
	uint64_t start, end;
	struct dirent *entry;

	while ((entry = readdir(dir)))
		if (sscanf(entry->d_name, "%" SCNx64 "-%" SCNx64, &start, &end) == 2 &&
		    start < m->end && m->start < end)
			return pin_at(dirfd(dir), entry->d_name);
	return -ENOENT;
}

/**
 * map_file_pin() - hold on to a mapped file without opening it
 * @mapping: the mapping
 *
 * Goes through /proc/PID/map_files, so that it is the mapped file whatever has
 * become of its name, and whichever mount namespace the name is from.  Asks nothing
 * of the file's file system, which may be a FUSE server that does not answer.
 *
 * Return: an O_PATH descriptor for map_file_open(), or -errno.
 */
int map_file_pin(const struct mapping *mapping)
{
	char path[64], name[40];
	DIR *dir;
	int pin;

	snprintf(path, sizeof(path), "/proc/%d/map_files", mapping->pid);
	dir = opendir(path);
	if (!dir)
		return -errno;
	snprintf(name, sizeof(name), "%" PRIx64 "-%" PRIx64, mapping->start, mapping->end);
	pin = pin_at(dirfd(dir), name);
	if (pin == -ENOENT)
		pin = pin_overlapping(dir, mapping);
	closedir(dir);
	return pin;
}

/**
 * struct name_search - the best file of a mapping's name so far
 * @mapping: the mapping
 * @pin: the file, an O_PATH descriptor; -1 if there is none
 * @rank: how sure it is that it is the mapped one: 0 no file, 1 by size, 2 by inode number too
 */
struct name_search {
	const struct mapping	*mapping;
	int			 pin;
	int			 rank;
};

static int name_rank(const struct mapping *m, int pin)
{
	struct stat st;

	if (fstat(pin, &st) || !S_ISREG(st.st_mode) || (uint64_t)st.st_size != m->size)
		return 0;
	return (uint64_t)st.st_ino == m->inode ? 2 : 1;
}

/* Look where process @pid ("self" or a number) has its root, as it does itself after chroot. */
static void name_try(struct name_search *search, const char *pid)
{
	struct open_how how = {
		.flags = O_PATH | O_CLOEXEC,
		.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS,
	};
	char path[64];
	int root, pin, rank;

	snprintf(path, sizeof(path), "/proc/%s/root", pid);
	root = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (root < 0)
		return;
	pin = syscall(SYS_openat2, root, search->mapping->path, &how, sizeof(how));
	close(root);
	rank = pin < 0 ? 0 : name_rank(search->mapping, pin);
	if (rank > search->rank) {
		if (search->pin >= 0)
			close(search->pin);
		search->pin = pin;
		search->rank = rank;
	} else if (pin >= 0) {
		close(pin);
	}
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
static void name_search_all(struct name_search *search)
{
	ino_t seen[MAX_NAMESPACES];
	size_t count = 0;
	const char *pid = "self";
	struct dirent *at;
	DIR *proc = opendir("/proc");

	do {
		if (namespace_is_new(pid, seen, &count))
			name_try(search, pid);
		do
			at = proc ? readdir(proc) : NULL;
		while (at && !isdigit((unsigned char)at->d_name[0]));
		pid = at ? at->d_name : NULL;
	} while (pid && search->rank < 2);
	if (proc)
		closedir(proc);
}

/* A file of the mapping's name and size, in the root of its process or, if that has ended, of any. */
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

/*
 * Look before opening, because to open a device or pipe does things to it, and open
 * what was looked at: a path could lead elsewhere by then.
 */
static int pin_open(int pin)
{
	char path[32];
	struct stat st;
	int fd;

	if (fstat(pin, &st))
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -ENXIO;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", pin);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	return fd < 0 ? -errno : fd;
}

static int open_by_name(const struct mapping *m)
{
	int pin = pin_by_name(m), fd;

	if (pin < 0)
		return pin;
	fd = pin_open(pin);
	close(pin);
	return fd;
}

static const char *open_failure(int error, bool denied)
{
	switch (error) {
	case ENXIO:
		return "not a regular file";
	case ENOENT:
		return denied ? "not found by its name, and to open mapped files needs "
				"CAP_SYS_ADMIN or CAP_CHECKPOINT_RESTORE" :
				"no longer mapped, and not found by its name";
	}
	return strerror(error);
}

/* Every 64-bit process has the same image, so our own serves for all. */
static int open_vdso(void)
{
	const Elf64_Ehdr *header = (const void *)getauxval(AT_SYSINFO_EHDR);
	int fd;

	if (!header)
		return -ENOENT;
	/* Its section headers are the last that there is of it. */
	fd = io_memfd("vdso", header, header->e_shoff + header->e_shnum * header->e_shentsize);
	return fd < 0 ? -errno : fd;
}

/**
 * map_file_open() - open a mapped file, or perhaps another, for reading
 * @mapping: the mapping
 * @pin: from map_file_pin(), or -errno; it stays open
 * @error: filled on failure
 *
 * By name if there is no pin, because the process has ended or we may not.
 *
 * Return: a file descriptor, or -1.
 */
int map_file_open(const struct mapping *mapping, int pin, struct bee_error *error)
{
	int fd;

	if (!strcmp(mapping->path, MAP_FILE_VDSO))
		fd = open_vdso();
	else
		fd = pin < 0 ? open_by_name(mapping) : pin_open(pin);
	if (fd >= 0)
		return fd;
	return error_set(error, -fd, "%s", open_failure(-fd, pin == -EPERM || pin == -EACCES));
}
