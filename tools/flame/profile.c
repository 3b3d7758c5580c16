// SPDX-License-Identifier: GPL-2.0
/* Samples, as a tree of addresses. */
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "profile.h"

void profile_open(struct profile *profile)
{
	*profile = (struct profile){
		.files = INTERN_OF(struct profile_file, build_id),
		.frames = { .size = sizeof(struct profile_frame), .key = sizeof(struct profile_frame) },
		.nodes = INTERN_OF(struct profile_node, samples),
	};
	texts_open(&profile->texts);
	profile->cmdline = profile->stops = profile->kernel_symbol = profile_text(profile, "");
}

void profile_close(struct profile *profile)
{
	texts_close(&profile->texts);
	intern_free(&profile->files);
	intern_free(&profile->frames);
	intern_free(&profile->nodes);
	free(profile->event);
	profile->event = NULL;
}

u32 profile_text(struct profile *profile, const char *text)
{
	return texts_add(&profile->texts, text, strlen(text));
}

u32 profile_add_frame(struct profile *profile, u32 file, u64 offset, bool exact)
{
	const struct profile_frame frame = { file, exact, offset };

	return intern_add(&profile->frames, &frame);
}

/** profile_add_node() - the node of a frame below @parent; INTERN_NONE for an event */
u32 profile_add_node(struct profile *profile, u32 parent, u32 frame)
{
	const struct profile_node node = { .parent = parent, .frame = frame };

	return intern_add(&profile->nodes, &node);
}

/** profile_add_file() - a file of which no more than a name is known; @path: number of its text */
u32 profile_add_file(struct profile *profile, enum profile_file_kind kind, u32 path)
{
	u32 none = profile_text(profile, "");
	const struct profile_file file = {
		.kind = kind, .path = path, .mapped_id = none, .build_id = none,
		.jitdump = none,
	};

	return intern_add(&profile->files, &file);
}

void profile_add_event(struct profile *profile, const char *name, u64 samples)
{
	profile->event = alloc_array(profile->event, profile->nevents + 1, sizeof(*profile->event));
	profile->event[profile->nevents++] = (struct profile_event){
		profile_text(profile, name), samples,
	};
}
