// SPDX-License-Identifier: GPL-2.0
/*
 * Open the file behind a mapping of a process: through /proc/PID/map_files or, where that is not
 * permitted, by its name below the process's root.  Either can yield another file, if the mapping or
 * the name has changed since; the module takes the inode of what was opened.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "io.h"
#include "map_file.h"
#include "maps.h"

static int pin_at(int dir, const char *name)
{
	int pin = openat(dir, name, O_PATH | O_CLOEXEC);

	return pin < 0 ? -errno : pin;
}

/* An O_PATH descriptor, which does not wait for the file's file system; or -errno. */
static int pin_mapped(const struct mapping *mapping)
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

/* Open the file of the mapping's name, if map_files may not be read.  Return: an O_PATH descriptor, or -errno. */
static int pin_named(const struct mapping *mapping)
{
	struct bee_error ignored;
	struct maps maps = {};
	int pin = -ENOENT;
	char pid[16];
	size_t i;

	snprintf(pid, sizeof(pid), "%d", mapping->pid);
	if (!maps_read_process(mapping->pid, &maps, &ignored))
		for (i = 0; i < maps.count && pin == -ENOENT; i++) {
			const struct maps_entry *entry = &maps.entry[i];

			if (!entry->path || *entry->path != '/' || entry->start >= mapping->end ||
			    mapping->start >= entry->end)
				continue;
			pin = io_pin_of_process(pid, entry->path);
			if (pin < 0)
				pin = -errno;
		}
	maps_free(&maps);
	return pin;
}

/**
 * map_file_pin() - open a mapped file with O_PATH
 * @mapping: the mapping
 * @error: filled on failure; code ENOENT if it is mapped no longer
 *
 * Waits for the process, which may hold its mmap_lock as long as it likes, but not for the file's file system.
 *
 * Return: a file descriptor, or -1.
 */
int map_file_pin(const struct mapping *mapping, struct bee_error *error)
{
	int pin = pin_mapped(mapping);
	bool denied = pin == -EPERM || pin == -EACCES;

	if (denied)
		pin = pin_named(mapping);
	if (pin < 0)
		return error_set(error, pin == -ESRCH ? ENOENT : -pin, "%s", denied && pin == -ENOENT ?
				 "not found by its name, and to open mapped files needs CAP_SYS_ADMIN or "
				 "CAP_CHECKPOINT_RESTORE" : pin == -ENOENT || pin == -ESRCH ?
				 "no longer mapped" : strerror(-pin));
	return pin;
}

/**
 * map_file_open() - open a mapped file for reading
 * @mapping: the mapping
 * @name: filled with the file's name, for people
 * @size: bytes of @name
 * @error: filled on failure, as by map_file_pin(); or code ENXIO if it is no regular file
 *
 * Waits for the file's file system as well: for a child.
 *
 * Return: a file descriptor, or -1.
 */
int map_file_open(const struct mapping *mapping, char *name, size_t size, struct bee_error *error)
{
	int pin = map_file_pin(mapping, error), fd;
	char link[32];
	ssize_t length;

	if (pin < 0)
		return -1;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", pin);
	length = readlink(link, name, size - 1);
	name[length < 0 ? 0 : length] = '\0';
	fd = io_reopen(pin);
	if (fd < 0)
		error_set(error, errno, "%s", errno == ENXIO ? "not a regular file" : strerror(errno));
	close(pin);
	return fd;
}

/**
 * map_file_open_vdso() - a copy of this process's vDSO; all 64-bit processes have the same
 * @error: filled on failure
 *
 * Return: a file descriptor, or -1.
 */
int map_file_open_vdso(struct bee_error *error)
{
	int fd = io_memfd_vdso();

	return fd < 0 ? error_set(error, errno, "%s", strerror(errno)) : fd;
}
