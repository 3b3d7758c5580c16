// SPDX-License-Identifier: GPL-2.0
/* The module that was built with this beectl: "make" puts both into one directory. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "io.h"
#include "own_module.h"
#include "text.h"

/**
 * own_module_load() - load the module that is beside the program that this process runs
 * @error: filled, if there is one and the kernel does not take it
 *
 * Says on standard error what was loaded.
 *
 * Return: 0, or -1.
 */
int own_module_load(struct bee_error *error)
{
	const char *wish = getenv("BEEUNWIND_LOAD");
	char path[PATH_MAX];
	int fd, ret;

	if ((wish && !strcmp(wish, "no")) || io_beside_program("beeunwind.ko", path))
		return -1;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	ret = syscall(SYS_finit_module, fd, "", 0);
	if (ret && errno != EEXIST)
		ret = error_set(error, errno, "%.200s is refused: %s%s", path, strerror(errno), errno == ENOEXEC ?
				" (it is for another kernel: make)" : errno == EPERM ? " (root can load it)" :
				" (dmesg says why)");
	close(fd);
	if (ret)
		return -1;
	fputs("beectl: loaded ", stderr);
	text_put_name(stderr, path);
	putc('\n', stderr);
	return 0;
}
