// SPDX-License-Identifier: GPL-2.0
/*
 * Fuzz the reader of perf's recordings and what is made of them: any bytes are refused in one line,
 * or give a tree in which parents come before their children.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "collect.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void profile_check(const struct profile *profile)
{
	uint32_t i;

	for (i = 0; i < profile->nodes.count; i++) {
		const struct profile_node *node = profile_node(profile, i);

		if ((node->parent != INTERN_NONE && node->parent >= i) ||
		    node->frame >= profile->frames.count ||
		    profile_frame(profile, node->frame)->file >= profile->files.count)
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct collect collect = { .roots = size % 3 };
	static int fd = -1;
	struct bee_error why = {};
	struct profile profile;
	struct stream stream;

	if (fd < 0)
		fd = memfd_create("fuzz_perfdata", MFD_CLOEXEC);
	if (ftruncate(fd, 0) || pwrite(fd, data, size, 0) != (ssize_t)size || lseek(fd, 0, SEEK_SET))
		abort();
	profile_open(&profile);
	stream_open(&stream, fd);
	if (!collect_perfdata(&collect, &stream, &profile, &why))
		profile_check(&profile);
	else if (!*why.text || strchr(why.text, '\n'))
		abort();
	stream_close(&stream);
	profile_close(&profile);
	return 0;
}
