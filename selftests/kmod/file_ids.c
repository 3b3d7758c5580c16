// SPDX-License-Identifier: GPL-2.0
/*
 * file_ids [-t] PATH...: map files, all at once, and print for each "ID LOADED": the module's id of
 * the file, and 1 if it has a table.  -t: give each its own table first.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "guest.h"


static struct guest g;

/* As ld.so maps a library: it reads the headers first. */
static uintptr_t map_path(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	char header[64];
	void *p = MAP_FAILED;

	if (fd >= 0 && read(fd, header, sizeof(header)) == sizeof(header))
		p = mmap(NULL, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	if (p == MAP_FAILED)
		guest_die(path, strerror(errno));
	close(fd);
	return (uintptr_t)p;
}

static void print_file(uintptr_t at)
{
	struct netlink_file file = {};
	struct netlink_proc proc;
	size_t i;

	guest_get_proc(&g, getpid(), &proc);
	for (i = 0; i < proc.ranges.count; i++)
		if (proc.ranges.range[i].start <= at && at < proc.ranges.range[i].end)
			guest_get_table(&g, proc.ranges.range[i].file, &file);
	ranges_free(&proc.ranges);
	printf("%u %d\n", file.id, file.loaded);
}

int main(int argc, char **argv)
{
	uintptr_t at[16];
	int i, first = 1;

	guest_open(&g);
	guest_add(&g, getpid());
	if (argc > 1 && !strcmp(argv[1], "-t"))
		for (first = 2, i = first; i < argc; i++)
			guest_add_table(&g, argv[i]);
	for (i = first; i < argc && i < 16; i++)
		at[i] = map_path(argv[i]);
	for (i = first; i < argc && i < 16; i++)
		print_file(at[i]);
	return 0;
}
