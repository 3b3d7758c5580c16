// SPDX-License-Identifier: GPL-2.0
/* Which programs have stacks that end in code without a file: the module knows files only. */
#include <stdlib.h>

#include "alloc.h"
#include "memory_code.h"
#include "text.h"

#define MEMORY_CODE_NAMES	3

/* For each text, the samples of threads of this name whose stacks end in code without a file; for free().  @all: of all. */
static u64 *samples_by_name(const struct profile *profile, u64 *all)
{
	u32 *name = alloc_array(NULL, profile->nodes.count + 1, sizeof(*name)), i;
	u64 *samples = alloc_zero(profile->texts.index.count, sizeof(*samples));

	for (i = 0; i < profile->nodes.count; i++) {
		const struct profile_node *node = profile_node(profile, i), *parent;
		const struct profile_frame *above;

		*all += node->samples;
		name[i] = INTERN_NONE;
		if (node->parent == INTERN_NONE)
			continue;
		parent = profile_node(profile, node->parent);
		above = profile_frame(profile, parent->frame);
		if (profile_file(profile, above->file)->kind != PROFILE_COMM)
			name[i] = name[node->parent];
		else if (profile_node_is_memory(profile, node))
			name[i] = above->offset;
		if (name[i] != INTERN_NONE)
			samples[name[i]] += node->samples;
	}
	free(name);
	return samples;
}

/** memory_code_put() - print a line with the threads' names, those with most of such samples first; or nothing */
void memory_code_put(FILE *out, const struct profile *profile)
{
	u64 all = 0, *samples = samples_by_name(profile, &all);
	u32 text, most, n;

	for (n = 0; n < MEMORY_CODE_NAMES; n++) {
		for (most = text = 0; text < profile->texts.index.count; text++)
			if (samples[text] > samples[most])
				most = text;
		if (!samples[most])
			break;
		if (n)
			fputs(", ", out);
		else
			fprintf(out, "of %llu samples, those whose stacks end in code without a file: ",
				(unsigned long long)all);
		text_put_name(out, profile_get_text(profile, most));
		fprintf(out, " %llu", (unsigned long long)samples[most]);
		samples[most] = 0;
	}
	if (n)
		putc('\n', out);
	free(samples);
}
