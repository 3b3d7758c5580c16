// SPDX-License-Identifier: GPL-2.0
/* Read and write files as a whole. */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "alloc.h"
#include "io.h"

/**
 * io_write_all() - write to a file, at its offset
 * @fd: the file
 * @data: what
 * @size: how many bytes
 *
 * Return: 0, or -1 and errno.
 */
int io_write_all(int fd, const void *data, size_t size)
{
	while (size) {
		ssize_t put = write(fd, data, size);

		if (put < 0 && errno == EINTR)
			continue;
		if (put < 0)
			return -1;
		data = (const char *)data + put;
		size -= put;
	}
	return 0;
}

/* Close a file, and leave errno as it is.  Return: -1. */
static int io_give_up(int fd)
{
	int error = errno;

	close(fd);
	errno = error;
	return -1;
}

/**
 * io_memfd() - make a file in memory
 * @name: for people
 * @data: its content
 * @size: bytes of @data
 *
 * Return: its descriptor, which the caller closes, or -1 and errno.
 */
int io_memfd(const char *name, const void *data, size_t size)
{
	int fd = memfd_create(name, MFD_CLOEXEC);

	if (fd < 0 || !io_write_all(fd, data, size))
		return fd;
	return io_give_up(fd);
}

/**
 * io_memfd_vdso() - make a file in memory: a copy of this process's vDSO, which that of all 64-bit processes is like
 *
 * Return: its descriptor, which the caller closes, or -1 and errno.
 */
int io_memfd_vdso(void)
{
	const Elf64_Ehdr *header = (const void *)getauxval(AT_SYSINFO_EHDR);

	errno = ENOENT;
	/* The section headers end the image. */
	return header ? io_memfd("vdso", header, header->e_shoff + header->e_shnum * header->e_shentsize) : -1;
}

/**
 * io_memfd_copy() - make a file in memory, of the first bytes of another
 * @name: for people
 * @from: the other; its own offset is not used
 * @size: how many bytes
 *
 * Return: its descriptor, which the caller closes, or -1 and errno.  The copy is shorter than @size
 * if @from is.
 */
int io_memfd_copy(const char *name, int from, size_t size)
{
	int fd = memfd_create(name, MFD_CLOEXEC);
	ssize_t got = 1;
	off_t at = 0;

	if (fd < 0)
		return -1;
	while (got > 0 && (size_t)at < size)
		got = sendfile(fd, from, &at, size - at);
	return got < 0 ? io_give_up(fd) : fd;
}

/**
 * io_read_at() - read from a place in a file
 * @fd: the file; its own offset is not used
 * @to: filled
 * @size: how many bytes
 * @offset: where
 *
 * Return: @size; fewer if the file ends before; or -1 and errno.
 */
ssize_t io_read_at(int fd, void *to, size_t size, off_t offset)
{
	size_t done = 0;

	while (done < size) {
		ssize_t got = pread(fd, (char *)to + done, size - done, offset + done);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -1;
		if (!got)
			break;
		done += got;
	}
	return done;
}

/**
 * io_reopen() - open a file for reading, if it is a regular one
 * @pin: an O_PATH descriptor of the file; it stays open
 *
 * Checks the type before opening, because opening a device or pipe has effects; and opens the file
 * that was checked, through its descriptor: a path could lead to another file by then.
 *
 * Return: a file descriptor, or -1 and errno; ENXIO: it is something else.
 */
int io_reopen(int pin)
{
	char path[32];
	struct stat st;

	if (fstat(pin, &st))
		return -1;
	if (!S_ISREG(st.st_mode)) {
		errno = ENXIO;
		return -1;
	}
	snprintf(path, sizeof(path), "/proc/self/fd/%d", pin);
	return open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
}

/* As io_reopen(), but @pin is closed; it may be the -1 of a call that failed. */
static int io_open_pin(int pin)
{
	int fd;

	if (pin < 0)
		return -1;
	fd = io_reopen(pin);
	if (fd < 0)
		return io_give_up(pin);
	close(pin);
	return fd;
}

/**
 * io_open_regular() - open a file for reading, if its name leads to a regular one
 * @path: the name, which somebody else may have chosen; io_reopen() says why that matters
 *
 * Return: as io_reopen().
 */
int io_open_regular(const char *path)
{
	return io_open_pin(open(path, O_PATH | O_CLOEXEC));
}

/* What this process opens for reading alone has to be a regular file. */
static bool only_regular;

/**
 * io_open_only_regular() - let this process open only regular files for reading, by whichever library
 *
 * For a child in which libdw reads files.
 */
void io_open_only_regular(void)
{
	only_regular = true;
}

/**
 * open() - the C library's, but see io_open_only_regular()
 * @path: the name.  libdw has it from the ELF file (.gnu_debuglink, .gnu_debugaltlink, the names of
 *	split units), or makes it of the file's own: its owner chooses what it leads to, at any moment.
 * @flags: as for the C library's; libdw has no others than O_RDONLY
 *
 * The dynamic linker takes this definition for libdw, too, as the program's come before those of
 * libraries.  To libdw this says ENOENT of what is not a regular file.
 */
int open(const char *path, int flags, ...)
{
	bool has_mode = flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE;
	mode_t mode;
	va_list args;
	int fd;

	va_start(args, flags);
	mode = has_mode ? va_arg(args, mode_t) : 0;
	va_end(args);
	if (!only_regular || flags != O_RDONLY)
		return openat(AT_FDCWD, path, flags, mode);
	fd = io_open_regular(path);
	if (fd < 0 && errno == ENXIO)
		errno = ENOENT;
	return fd;
}

/**
 * io_pin_of_process() - find what a name leads to for a process, which may be in a container
 * @pid: the process, as /proc has it: a number or "self"
 * @path: the name.  The kernel looks it up below the root directory of the process, as after
 *	chroot(): neither ".." nor a symbolic link leads out of that.
 *
 * Return: an O_PATH descriptor, for io_reopen() if it is to be read; or -1 and errno.
 */
int io_pin_of_process(const char *pid, const char *path)
{
	struct open_how how = {
		.flags = O_PATH | O_CLOEXEC,
		.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS,
	};
	char link[64];
	int root, pin;

	snprintf(link, sizeof(link), "/proc/%s/root", pid);
	root = open(link, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (root < 0)
		return -1;
	pin = syscall(SYS_openat2, root, path, &how, sizeof(how));
	if (pin < 0)
		return io_give_up(root);
	close(root);
	return pin;
}

/**
 * io_open_of_process() - open the regular file that a name leads to for a process
 * @pid: the process id
 * @path: as for io_pin_of_process()
 *
 * Return: as io_reopen().
 */
int io_open_of_process(pid_t pid, const char *path)
{
	char number[16];

	snprintf(number, sizeof(number), "%d", pid);
	return io_open_pin(io_pin_of_process(number, path));
}

/**
 * io_beside_program() - the path of a file that was built or installed with the program that this process runs
 * @name: the file, as seen from the directory of the program
 * @path: filled; with "" on failure
 *
 * Return: 0, or -1.
 */
int io_beside_program(const char *name, char path[PATH_MAX])
{
	ssize_t length = readlink("/proc/self/exe", path, PATH_MAX - 1);
	char *base;

	path[length < 0 ? 0 : length] = '\0';
	base = strrchr(path, '/');
	if (base && base + 1 - path + strlen(name) < PATH_MAX) {
		strcpy(base + 1, name);
		return 0;
	}
	path[0] = '\0';
	return -1;
}

/**
 * io_read_all() - the content of a file, which may not know its size (/proc)
 * @path: the file
 * @size: bytes read; NULL if of no interest
 *
 * Return: the bytes and one NUL more, for free(); or NULL and errno.
 */
char *io_read_all(const char *path, size_t *size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), saved;
	size_t room = 64 << 10, bytes = 0;
	ssize_t got = -1;
	char *text;

	if (fd < 0)
		return NULL;
	text = alloc_array(NULL, room, 1);
	do {
		if (room - bytes <= 4096)
			text = alloc_array(text, room *= 2, 1);
		got = read(fd, text + bytes, room - bytes - 1);
		if (got > 0)
			bytes += got;
	} while (got > 0 || (got < 0 && errno == EINTR));
	saved = errno;
	close(fd);
	errno = saved;
	if (size)
		*size = bytes;
	text[bytes] = '\0';
	if (!got)
		return text;
	free(text);
	return NULL;
}

/**
 * io_own_pid() - what a process calls itself
 * @pid: the process
 *
 * Return: its id in its own pid namespace; @pid if that is not known.
 */
pid_t io_own_pid(pid_t pid)
{
	char path[32], *text, *at;
	pid_t own = pid;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	text = io_read_all(path, NULL);
	at = text ? strstr(text, "\nNSpid:") : NULL;
	for (at = at ? at + 7 : NULL; at && *at == '\t'; at += strcspn(at, "\t\n"))
		own = strtoul(++at, NULL, 10);
	free(text);
	return own;
}
