// SPDX-License-Identifier: GPL-2.0
/*
 * A JIT compiler whose code comes and goes, at one address and with two frames in turn.
 *
 *	churned COUNT EVERY FLAG	so many pieces of code; one of EVERY is called until somebody
 *					has removed the file FLAG, which it makes
 */
#include <fcntl.h>

#include "own_jit.h"

static noinline void churn(int kept, const char *flag)
{
	int fd;

	if (kept) {
		fd = open(flag, O_CREAT | O_WRONLY, 0600);
		check(fd >= 0 && !close(fd), flag);
	}
	do
		call_code();
	while (kept && !access(flag, F_OK));
	not_tail();
}

int main(int argc, char **argv)
{
	int i, count, every;

	check(argc == 4, "three arguments");
	count = atoi(argv[1]);
	every = atoi(argv[2]);
	map_frames();
	for (i = 0; i < count; i++) {
		map_code();
		write_code(i & 1 ? 32 : 96);
		register_code();
		churn(i % every == every - 1, argv[3]);
		__jit_debug_descriptor.first = NULL;
		check(!munmap(code, PAGE), "munmap");
	}
	return 0;
}
