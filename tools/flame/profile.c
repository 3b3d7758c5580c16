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
	free(profile->times.node);
	free(profile->times.time);
	profile->event = NULL;
	profile->times = (struct profile_times){ 0 };
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

/** profile_add_time() - note when a sample was taken that ended at @node */
void profile_add_time(struct profile *profile, u32 node, u64 time)
{
	struct profile_times *times = &profile->times;

	times->node = alloc_room(times->node, times->count, &times->node_room, sizeof(*times->node));
	times->time = alloc_room(times->time, times->count, &times->time_room, sizeof(*times->time));
	/* Records that came late are not in the order of their times. */
	if (times->count && time < times->time[times->count - 1])
		time = times->time[times->count - 1];
	times->node[times->count] = node;
	times->time[times->count++] = time;
}

void profile_add_event(struct profile *profile, const char *name, u64 samples)
{
	profile->event = alloc_array(profile->event, profile->nevents + 1, sizeof(*profile->event));
	profile->event[profile->nevents++] = (struct profile_event){
		profile_text(profile, name), samples,
	};
}

/** profile_event_is() - is @wanted this event?  "cycles" names "cycles:P", too: perf and PROFILE_OFF_CPU add words. */
bool profile_event_is(const char *name, const char *wanted)
{
	size_t length = strlen(wanted);

	if (strncmp(name, wanted, length))
		return false;
	name += length;
	return !*name || !strcmp(name, PROFILE_OFF_CPU) || (*name == ':' && !name[1 + strspn(name + 1, "ukhGHIpPSDWeb")]);
}
