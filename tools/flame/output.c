// SPDX-License-Identifier: GPL-2.0
/* Files that show a graph. */
#include <string.h>

#include "output.h"

const struct output outputs[] = {
	{ .name = "svg", .suffix = ".svg", .diff = true, .views = true, .write = output_svg },
	{ .name = "speedscope", .suffix = ".speedscope.json", .diff = true, .views = true, .times = true,
	  .write = output_speedscope },
	{ .name = "firefox", .suffix = ".profile.json", .times = true, .write = output_firefox },
	{ .name = "pprof", .suffix = ".pb.gz", .all_events = true, .views = true, .write = output_pprof },
	{ .name = "folded", .suffix = ".folded", .diff = true, .views = true, .write = output_folded },
	{ .name = "raw", .suffix = ".raw", .all_events = true },
	{ .name = NULL },
};

/** output_find() - the format of this name, or NULL */
const struct output *output_find(const char *name)
{
	const struct output *output;

	for (output = outputs; output->name; output++)
		if (!strcmp(output->name, name))
			return output;
	return NULL;
}

/** output_of_path() - the format of a file by the end of its name, or NULL */
const struct output *output_of_path(const char *path)
{
	const struct output *output;
	size_t length = strlen(path);

	for (output = outputs; output->name; output++) {
		size_t suffix = strlen(output->suffix);

		if (length > suffix && !strcmp(path + length - suffix, output->suffix))
			return output;
	}
	return NULL;
}
