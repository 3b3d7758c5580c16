// SPDX-License-Identifier: GPL-2.0
/* Maps the first page of each FILE executable, prints "ready", and waits for a line. */
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>

int main(int argc, char **argv)
{
	char line[8];
	int i, fd;

	for (i = 1; i < argc; i++) {
		fd = open(argv[i], O_RDONLY | O_CLOEXEC);
		if (fd < 0 || mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0) == MAP_FAILED) {
			perror(argv[i]);
			return 1;
		}
	}
	puts("ready");
	fflush(stdout);
	return !fgets(line, sizeof(line), stdin);
}
