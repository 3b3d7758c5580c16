// SPDX-License-Identifier: GPL-2.0
/*
 * A program that moves a part of its text into memory without a file, as others do to have huge
 * pages; the functions there use rbp for something else.
 *
 *	remapped copy READY GO	maps memory over the text, and copies the text back
 *	remapped move READY GO	copies the text into memory, and moves that over the text
 *	remapped other READY GO	as copy, with other bytes
 *
 * At READY and GO, two fifos, it waits for tables to be loaded.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "mark.h"

#define PAGE	4096
#define moved	noinline __attribute__((section("moved_text")))
#define use_rbp() asm volatile("mov $12345, %%ebp" ::: "rbp")

/* Whole pages, though the functions are small.  Nobody executes the five. */
asm(".pushsection moved_text,\"ax\",@progbits\n"
    ".balign 4096\n"
    ".fill 5 * 4096, 1, 0x90\n"
    ".popsection");

extern unsigned char __start_moved_text[], __stop_moved_text[];

static void check(int ok, const char *what)
{
	if (ok)
		return;
	perror(what);
	exit(1);
}

static moved void inner(void)
{
	volatile char pad[40];

	pad[0] = 1;
	(void)pad;
	use_rbp();
	mark();
	not_tail();
}

static moved void outer(void)
{
	volatile char pad[200];

	pad[0] = 1;
	(void)pad;
	use_rbp();
	inner();
	not_tail();
}

static noinline void wait_for_tables(const char *ready, const char *go)
{
	int fd = open(ready, O_WRONLY);
	char c = 'l';

	check(fd >= 0 && write(fd, &c, 1) == 1, ready);
	close(fd);
	fd = open(go, O_RDONLY);
	check(fd >= 0 && read(fd, &c, 1) == 1, go);
	close(fd);
}

static void *map_at(void *address, size_t size, int flags)
{
	void *memory = mmap(address, size, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);

	check(memory != MAP_FAILED, "mmap");
	return memory;
}

/* Up to the end of a page: what else is there is moved as well. */
static void move_text(const char *how)
{
	unsigned char *text = __start_moved_text;
	size_t size = (__stop_moved_text - text + PAGE - 1) & -PAGE;
	unsigned char *copy = map_at(NULL, size, 0);

	memcpy(copy, text, size);
	if (!strcmp(how, "move")) {
		check(!mprotect(copy, size, PROT_READ | PROT_EXEC), "mprotect");
		check(mremap(copy, size, size, MREMAP_MAYMOVE | MREMAP_FIXED, text) == text,
		      "mremap");
		return;
	}
	if (!strcmp(how, "other"))
		copy[0] ^= 1;
	map_at(text, size, MAP_FIXED);
	memcpy(text, copy, size);
	check(!mprotect(text, size, PROT_READ | PROT_EXEC), "mprotect");
	check(!munmap(copy, size), "munmap");
}

int main(int argc, char **argv)
{
	int other;

	check(argc == 4, "three arguments");
	other = !strcmp(argv[1], "other");
	move_text(argv[1]);
	wait_for_tables(argv[2], argv[3]);
	/* perf is told of memory that becomes executable, and not of its move. */
	known("%s end", strcmp(argv[1], "move") ? "[jit]" : "inner");
	outer();
	wait_for_tables(argv[2], argv[3]);
	if (other)
		known("[jit] end");
	else if (strcmp(argv[1], "move"))
		known("[jit] [jit] main");
	else
		known("inner outer main");
	outer();
	return 0;
}
