// SPDX-License-Identifier: GPL-2.0
/* Read /proc/PID/maps and open what is mapped. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io.h"
#include "maps.h"

#define DELETED	" (deleted)"

/* The kernel writes a newline in a name as \012 and nothing else so. */
static void path_unescape(char *path)
{
	char *to = path;

	while (*path) {
		if (!strncmp(path, "\\012", 4)) {
			*to++ = '\n';
			path += 4;
		} else {
			*to++ = *path++;
		}
	}
	*to = '\0';
}

static bool path_strip_deleted(char *path)
{
	size_t length = strlen(path), tail = strlen(DELETED);

	if (length <= tail || strcmp(path + length - tail, DELETED))
		return false;
	path[length - tail] = '\0';
	return true;
}

static enum mapping_kind mapping_kind(const struct mapping *m)
{
	if (m->inode)
		return MAPPING_FILE;
	if (!strcmp(m->path, "[vdso]"))
		return MAPPING_VDSO;
	if (!strcmp(m->path, "[vsyscall]"))
		return MAPPING_VSYSCALL;
	return MAPPING_ANON;
}

/* All of a line but the name.  Return: where that starts in it, or 0. */
static int mapping_parse_head(const char *line, size_t length, struct mapping *m, char perms[5])
{
	char head[160];
	int path = 0;

	snprintf(head, sizeof(head), "%.*s", (int)length, line);
	if (sscanf(head, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %x:%x %" SCNu64 " %n",
		   &m->start, &m->end, perms, &m->offset, &m->major, &m->minor, &m->inode,
		   &path) != 7 || strlen(perms) != 4 || m->start >= m->end)
		return 0;
	return path;
}

/* One line without its newline.  Return: 1 if executable, 0 if not, -errno. */
static int mapping_parse(const char *line, size_t length, struct mapping *m)
{
	char perms[5];
	int path = mapping_parse_head(line, length, m, perms);

	if (!path)
		return -EINVAL;
	if (perms[2] != 'x')
		return 0;
	m->path = strndup(line + path, length - path);
	if (!m->path)
		return -ENOMEM;
	path_unescape(m->path);
	m->deleted = m->inode && path_strip_deleted(m->path);
	m->kind = mapping_kind(m);
	return 1;
}

static int maps_append(struct maps *maps, const struct mapping *m)
{
	if (maps->count && maps->mapping[maps->count - 1].end > m->start)
		return -EINVAL;
	if (maps->count == maps->room) {
		size_t room = maps->room ? 2 * maps->room : 32;
		struct mapping *array = reallocarray(maps->mapping, room, sizeof(*array));

		if (!array)
			return -ENOMEM;
		maps->mapping = array;
		maps->room = room;
	}
	maps->mapping[maps->count++] = *m;
	return 0;
}

/**
 * maps_parse() - executable mappings from the text of /proc/PID/maps
 * @text: the whole file
 * @maps: filled; maps_free() releases it, after an error as well
 *
 * Return: 0, -EINVAL for text that no kernel writes, or -ENOMEM.
 */
int maps_parse(const char *text, struct maps *maps)
{
	*maps = (struct maps){ 0 };
	while (*text) {
		size_t length = strcspn(text, "\n");
		struct mapping m = { 0 };
		int ret = mapping_parse(text, length, &m);

		if (ret > 0)
			ret = maps_append(maps, &m);
		if (ret < 0) {
			free(m.path);
			return ret;
		}
		text += length + (text[length] == '\n');
	}
	return 0;
}

/**
 * maps_read() - executable mappings of a process
 * @pid: a process or thread
 * @maps: filled; maps_free() releases it, after an error as well
 *
 * Kernel threads and zombies have none.
 * Return: 0 or -errno; -ESRCH and -ENOENT mean that there is no such process.
 */
int maps_read(pid_t pid, struct maps *maps)
{
	char path[64], *text;
	int ret;

	*maps = (struct maps){ 0 };
	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	text = io_read_all(path, NULL);
	ret = text ? maps_parse(text, maps) : -errno;
	free(text);
	return ret;
}

static bool mapping_is_same(const struct mapping *a, const struct mapping *b)
{
	return a->start == b->start && a->end == b->end && a->offset == b->offset &&
	       a->inode == b->inode && a->major == b->major && a->minor == b->minor &&
	       a->kind == b->kind;
}

bool maps_are_same(const struct maps *a, const struct maps *b)
{
	size_t i;

	if (a->count != b->count)
		return false;
	for (i = 0; i < a->count; i++)
		if (!mapping_is_same(&a->mapping[i], &b->mapping[i]))
			return false;
	return true;
}

void maps_free(struct maps *maps)
{
	size_t i;

	for (i = 0; i < maps->count; i++)
		free(maps->mapping[i].path);
	free(maps->mapping);
	*maps = (struct maps){ 0 };
}

/**
 * regular_open() - open what an O_PATH descriptor stands for, if it is a regular file
 * @pin: the descriptor; it stays open
 *
 * Looks before opening, because to open a device or pipe does things to it, and opens
 * what was looked at: a path could lead elsewhere by then.
 *
 * Return: a file descriptor for reading, or -errno: -ENXIO if it is no regular file.
 */
int regular_open(int pin)
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

static int open_regular(const char *path)
{
	int pin = open(path, O_PATH | O_CLOEXEC), fd;

	if (pin < 0)
		return -errno;
	fd = regular_open(pin);
	close(pin);
	return fd;
}

/* What /proc/self/maps says of our mapping at @start. */
static bool mapping_find_own(uint64_t start, struct mapping *m)
{
	char *text = io_read_all("/proc/self/maps", NULL), *line, perms[5];
	bool found = false;

	for (line = text; line && *line && !found; line += *line == '\n') {
		found = mapping_parse_head(line, strcspn(line, "\n"), m, perms) &&
			m->start == start;
		line += strcspn(line, "\n");
	}
	free(text);
	return found;
}

/*
 * Is what is open at @fd the file that is mapped?  The inode and device in maps are
 * those of the file system below, which stat() does not tell of overlayfs and btrfs;
 * so map it and compare maps with maps.
 */
static bool mapping_is_of(const struct mapping *m, int fd)
{
	struct mapping own;
	bool same;
	void *at;

	at = mmap(NULL, 1, PROT_READ, MAP_PRIVATE, fd, 0);
	if (at == MAP_FAILED)
		return false;
	same = mapping_find_own((uintptr_t)at, &own) && own.inode == m->inode &&
	       own.major == m->major && own.minor == m->minor;
	munmap(at, 1);
	return same;
}

/**
 * mapping_open_by_path() - open what a mapping's name leads to, if it is that file
 * @pid: process that has it mapped
 * @m: of kind MAPPING_FILE
 *
 * For those who may not follow map_files.
 * Return: a file descriptor or -errno: -ESTALE if it is another file.
 */
int mapping_open_by_path(pid_t pid, const struct mapping *m)
{
	char *path;
	int fd;

	if (m->deleted || m->path[0] != '/')
		return -EPERM;
	if (asprintf(&path, "/proc/%d/root%s", pid, m->path) < 0)
		return -ENOMEM;
	fd = open_regular(path);
	free(path);
	if (fd >= 0 && !mapping_is_of(m, fd)) {
		close(fd);
		return -ESTALE;
	}
	return fd;
}

static const char *open_failure(int error)
{
	switch (error) {
	case ENXIO:
		return "not a regular file";
	case EPERM:
		return "may not be opened: needs CAP_SYS_ADMIN or CAP_CHECKPOINT_RESTORE";
	case ENOENT:
		return "no longer mapped";
	case ESTALE:
		return "replaced by another file of that name, and opening the mapped one "
		       "needs CAP_SYS_ADMIN or CAP_CHECKPOINT_RESTORE";
	}
	return strerror(error);
}

/**
 * mapping_pin() - hold on to the file behind a mapping
 * @pid: process that has it mapped
 * @start: of the mapping
 * @end: of the mapping
 *
 * Goes through /proc/PID/map_files, so that it is the mapped file whatever has
 * become of its name, and whichever mount namespace the name is from.  Asks nothing
 * of the file's file system, which may be a FUSE server that does not answer.
 *
 * Return: an O_PATH descriptor for regular_open(), or -errno.
 */
int mapping_pin(pid_t pid, uint64_t start, uint64_t end)
{
	char path[96];
	int pin;

	snprintf(path, sizeof(path), "/proc/%d/map_files/%" PRIx64 "-%" PRIx64, pid, start, end);
	pin = open(path, O_PATH | O_CLOEXEC);
	return pin < 0 ? -errno : pin;
}

/**
 * mapping_open() - open the file behind a mapping for reading
 * @pid: process that has it mapped
 * @mapping: of kind MAPPING_FILE
 * @why: on failure a sentence
 * @size: bytes of @why
 *
 * As mapping_pin() does, or by name for those who may not do that.
 *
 * Return: a file descriptor, or -1.
 */
int mapping_open(pid_t pid, const struct mapping *mapping, char *why, size_t size)
{
	int pin = mapping_pin(pid, mapping->start, mapping->end);
	int fd = pin < 0 ? pin : regular_open(pin);

	if (pin >= 0)
		close(pin);
	if (fd == -EPERM || fd == -EACCES)
		fd = mapping_open_by_path(pid, mapping);
	if (fd >= 0)
		return fd;
	snprintf(why, size, "%s", open_failure(-fd));
	return -1;
}

static size_t vdso_size(uint64_t start)
{
	struct maps maps;
	size_t i, size = 0;

	if (!maps_read(getpid(), &maps))
		for (i = 0; i < maps.count; i++)
			if (maps.mapping[i].start == start)
				size = maps.mapping[i].end - start;
	maps_free(&maps);
	return size;
}

/**
 * mapping_open_vdso() - the vDSO as a file
 * @why: on failure a sentence
 * @size: bytes of @why
 *
 * Every 64-bit process has the same image, so our own serves for all.
 *
 * Return: a file descriptor, or -1.
 */
int mapping_open_vdso(char *why, size_t size)
{
	uint64_t start = getauxval(AT_SYSINFO_EHDR);
	size_t bytes = start ? vdso_size(start) : 0;
	int fd;

	if (!bytes) {
		snprintf(why, size, "this system has no vDSO");
		return -1;
	}
	fd = memfd_create("vdso", MFD_CLOEXEC);
	if (fd >= 0 && !io_write_all(fd, (const void *)(uintptr_t)start, bytes))
		return fd;
	snprintf(why, size, "%s", strerror(errno));
	if (fd >= 0)
		close(fd);
	return -1;
}
