// SPDX-License-Identifier: GPL-2.0
/* Build-ids of files, and of the kernel, whose recording does not have them: perf's pipe has none. */
#include <stdlib.h>

#include "alloc.h"
#include "answer.h"
#include "identify.h"
#include "parallel.h"

/**
 * struct identify - the work
 * @profile: the caller's profile
 * @root: as in struct resolve
 * @file: indices of files without build-id
 */
struct identify {
	struct profile	*profile;
	const char	*root;
	u32		*file;
};

static uid_t identify_owner(const void *arg, size_t index)
{
	const struct identify *identify = arg;

	return answer_owner(profile_file(identify->profile, identify->file[index]));
}

/* In a child: a file made to break its reader costs its own build-id only. */
static void identify_work(void *arg, size_t index, FILE *out)
{
	const struct identify *identify = arg;
	const struct profile_file *file = profile_file(identify->profile, identify->file[index]);
	const struct question question = {
		.file = *file, .path = profile_get_text(identify->profile, file->path),
		.build_id = "", .root = identify->root,
	};

	answer_limit(out);
	elf_names_identify(&question, out);
}

static void identify_done(void *arg, size_t index, const void *data, size_t size,
			  const char *died)
{
	const struct identify *identify = arg;

	if (!died && size && size <= 2 * PERFDATA_MAX_BUILD_ID)
		profile_file(identify->profile, identify->file[index])->build_id =
			texts_add(&identify->profile->texts, data, size);
}

/** identify_kernel() - set the build-id of the running kernel, which was recorded, unless there is one */
void identify_kernel(struct profile *profile)
{
	char id[2 * PERFDATA_MAX_BUILD_ID + 1];
	u32 i;

	if (!kernel_names_build_id(id, sizeof(id)))
		return;
	for (i = 0; i < profile->files.count; i++) {
		struct profile_file *file = profile_file(profile, i);

		if (file->kind == PROFILE_KERNEL && !*profile_get_text(profile, file->build_id))
			file->build_id = profile_text(profile, id);
	}
}

/**
 * identify_files() - look for build-ids of files that have none, but are in stacks
 * @profile: filled: build-ids of those that are the recorded ones, by their inode numbers
 * @root: as in struct resolve
 * @jobs: as in struct resolve
 *
 * Return: 0; or -1 if no process can be started.
 */
int identify_files(struct profile *profile, const char *root, unsigned int jobs)
{
	struct identify identify = { .profile = profile, .root = root };
	struct parallel work = { .jobs = jobs, .arg = &identify, .work = identify_work,
				 .owner = identify_owner, .patience = ANSWER_PATIENCE, .done = identify_done };
	bool *in_stacks = alloc_zero(profile->files.count + 1, sizeof(*in_stacks));
	u32 i;
	int ret;

	for (i = 0; i < profile->frames.count; i++)
		in_stacks[profile_frame(profile, i)->file] = true;
	identify.file = alloc_array(NULL, profile->files.count + 1, sizeof(*identify.file));
	for (i = 0; i < profile->files.count; i++) {
		const struct profile_file *file = profile_file(profile, i);

		if (in_stacks[i] && file->kind == PROFILE_ELF && file->inode &&
		    !*profile_get_text(profile, file->build_id))
			identify.file[work.count++] = i;
	}
	ret = work.count ? parallel_run(&work) : 0;
	free(identify.file);
	free(in_stacks);
	return ret;
}
