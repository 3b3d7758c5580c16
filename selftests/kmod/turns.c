// SPDX-License-Identifier: GPL-2.0
/*
 * Map libraries in turns: dlopen one, run in it, dlclose it, so that the next one is mapped at the
 * same place.  The libraries are made of this file too, with -DNUMBER=N.
 *	turns DIRECTORY LIBRARIES PROGRESS	until it is killed; the number of rounds, and its pid, are in PROGRESS
 */
#ifdef NUMBER
/* Calls deep enough that a stack without a table for this file shows. */
__attribute__((noinline)) unsigned int spin(unsigned int n)
{
	volatile unsigned int sum = NUMBER;

	while (n--)
		sum += n;
	return sum;
}

__attribute__((noinline)) unsigned int turn(unsigned int n)
{
	return spin(n) + 1;
}
#else
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static unsigned int turn(const char *directory, int number)
{
	unsigned int (*library_turn)(unsigned int), result;
	char path[256];
	void *library;

	snprintf(path, sizeof(path), "%s/libturn%d.so", directory, number);
	library = dlopen(path, RTLD_NOW);
	library_turn = library ? dlsym(library, "turn") : NULL;
	if (!library_turn)
		exit(1);
	result = library_turn(1000000);
	dlclose(library);
	return result;
}

int main(int argc, char **argv)
{
	unsigned int result = 0, round;
	char text[32];
	int fd, i, length;

	if (argc != 4)
		return 2;
	fd = open(argv[3], O_WRONLY | O_CREAT, 0600);
	for (round = 1;; round++) {
		for (i = 0; i < atoi(argv[2]); i++)
			result += turn(argv[1], i);
		length = snprintf(text, sizeof(text), "%08u %d\n", round, getpid());
		if (pwrite(fd, text, length, 0) != length)
			return result;
	}
}
#endif
