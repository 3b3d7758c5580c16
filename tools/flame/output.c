// SPDX-License-Identifier: GPL-2.0
/* Files that show a graph. */
#include <string.h>

#include "output.h"

static const struct output outputs[] = {
	{ "svg", ".svg", false, true, true, false, output_svg },
	{ "speedscope", ".speedscope.json", false, true, true, true, output_speedscope },
	{ "firefox", ".profile.json", false, false, false, true, output_firefox },
	{ "pprof", ".pb.gz", true, false, true, false, output_pprof },
	{ "folded", ".folded", false, true, true, false, output_folded },
	{ "raw", ".raw", true, false, false, false, NULL },
};

#define OUTPUTS	(sizeof(outputs) / sizeof(outputs[0]))

/** output_find() - the format of this name, or NULL */
const struct output *output_find(const char *name)
{
	size_t i;

	for (i = 0; i < OUTPUTS; i++)
		if (!strcmp(outputs[i].name, name))
			return &outputs[i];
	return NULL;
}

/** output_of_path() - the format of a file by the end of its name, or NULL */
const struct output *output_of_path(const char *path)
{
	size_t i, length = strlen(path);

	for (i = 0; i < OUTPUTS; i++) {
		size_t suffix = strlen(outputs[i].suffix);

		if (length > suffix && !strcmp(path + length - suffix, outputs[i].suffix))
			return &outputs[i];
	}
	return NULL;
}
