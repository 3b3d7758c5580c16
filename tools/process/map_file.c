// SPDX-License-Identifier: GPL-2.0
/*
 * Open the file behind a mapping of a process.  The sure way is through the process;
 * but what is mapped there may have changed, and if it has ended there is only the
 * name.  So it may be another file: the module, asked by inode, knows which.
 */
#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include "error.h"
#include "io.h"
#include "map_file.h"

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
 * mapped_pin() - hold on to a mapped file without opening it
 * @mapping: the mapping
 *
 * Goes through /proc/PID/map_files, so that it is the mapped file whatever has
 * become of its name, and whichever mount namespace the name is from.  Asks nothing
 * of the file's file system, which may be a FUSE server that does not answer.
 *
 * Return: an O_PATH descriptor for mapped_open(), or -errno.
 */
int mapped_pin(const struct mapping *mapping)
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
	int pin = find_pin_by_name(m), fd;

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
 * mapped_open() - open a mapped file, or perhaps another, for reading
 * @mapping: the mapping
 * @pin: from mapped_pin(), or -errno; it stays open
 * @error: filled on failure
 *
 * By name if there is no pin, because the process has ended or we may not.
 *
 * Return: a file descriptor, or -1.
 */
int mapped_open(const struct mapping *mapping, int pin, struct bee_error *error)
{
	int fd;

	if (!strcmp(mapping->path, MAPPED_VDSO))
		fd = open_vdso();
	else
		fd = pin < 0 ? open_by_name(mapping) : pin_open(pin);
	if (fd >= 0)
		return fd;
	return error_set(error, -fd, "%s", open_failure(-fd, pin == -EPERM || pin == -EACCES));
}
