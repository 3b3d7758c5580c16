// SPDX-License-Identifier: GPL-2.0
/*
 * A JIT compiler whose code comes and goes: each piece is registered, called and taken back, and
 * replaces the one before at the same address, in one of three ways and with two frames in turn.
 *
 *	churned COUNT EVERY FLAG	so many pieces; one of EVERY is called until somebody has
 *					removed the file FLAG, which it makes, and once more
 */
#include "own_jit.h"

static noinline void churn(int kept, const char *flag)
{
	int fd;

	if (kept) {
		fd = open(flag, O_CREAT | O_WRONLY, 0600);
		check(fd >= 0 && !close(fd), flag);
		do {
			call_code();
			usleep(2000);
		} while (!access(flag, F_OK));
	}
	call_code();
	not_tail();
}

/* write_code() makes the memory writable, and executable when the code is there. */
static void make_room(int way)
{
	if (way == 0)
		check(!munmap(code, PAGE), "munmap");
	/* Over what is there, if anything is. */
	if (way != 2)
		map_code();
}

int main(int argc, char **argv)
{
	int i, count, every;

	check(argc == 4, "three arguments");
	count = atoi(argv[1]);
	every = atoi(argv[2]);
	map_frames();
	map_code();
	for (i = 0; i < count; i++) {
		make_room(i % 3);
		write_code(i & 1 ? 32 : 96);
		register_code();
		churn(i % every == every - 1, argv[3]);
		__jit_debug_descriptor.first = NULL;
	}
	return 0;
}
