// SPDX-License-Identifier: GPL-2.0
/* All that the module has counted: until one moment, or between two. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "counts.h"
#include "io.h"
#include "json.h"
#include "names.h"

/**
 * counts_get() - what the module has counted since it was loaded
 * @nl: the module
 * @counts: filled, of files only those in which walks have ended; counts_free() releases it, after an error as
 *	well
 * @error: filled on failure
 *
 * Return: 0 or -1.
 */
int counts_get(struct netlink *nl, struct counts *counts, struct bee_error *error)
{
	memset(counts, 0, sizeof(*counts));
	return netlink_info_get(nl, &counts->info, error) ?:
	       netlink_stats_get(nl, &counts->stats, error) ?:
	       netlink_files_get(nl, true, &counts->files, error) ?:
	       netlink_procs_get(nl, 0, &counts->procs, error);
}

/** counts_free() - release the memory of counters */
void counts_free(struct counts *counts)
{
	netlink_files_free(&counts->files);
	netlink_procs_free(&counts->procs);
}

/* A member of an object, or NULL: it is not there, or of another type. */
static struct json_object *json_member(struct json_object *object, const char *key, json_type type)
{
	struct json_object *value = NULL;

	if (!json_object_is_type(object, json_type_object) ||
	    !json_object_object_get_ex(object, key, &value) || !json_object_is_type(value, type))
		return NULL;
	return value;
}

static uint64_t member_uint(struct json_object *object, const char *key)
{
	return json_object_get_uint64(json_member(object, key, json_type_int));
}

static size_t array_length(struct json_object *array)
{
	return array ? json_object_array_length(array) : 0;
}

/* Read the statistics that stats_json() has written. */
static void read_stats(struct json_object *object, struct netlink_stats *stats)
{
	struct json_object *reasons = json_member(object, "reasons", json_type_array);
	uint32_t reason;
	size_t i;

	stats->frames = member_uint(object, "frames");
	stats->fp_steps = member_uint(object, "fp_steps");
	for (i = 0; i < array_length(reasons); i++) {
		struct json_object *stop = json_object_array_get_idx(reasons, i);
		const char *name;

		name = json_object_get_string(json_member(stop, "reason", json_type_string));
		for (reason = 0; name && reason <= BEEUNWIND_STOP_MAX; reason++)
			if (!strcmp(bee_stop_names[reason], name))
				stats->stop[reason] = member_uint(stop, "walks");
	}
}

/* An element of an array: its stops, as stops_json() has written them, and (returned) the number that names it. */
static uint64_t read_named(struct json_object *array, size_t i, const char *key, uint32_t stop[])
{
	struct json_object *object = json_object_array_get_idx(array, i);
	struct json_object *stops = json_member(object, "stops", json_type_object);
	uint32_t reason;

	for (reason = 0; reason <= BEEUNWIND_STOP_MAX; reason++)
		stop[reason] = member_uint(stops, bee_stop_names[reason]);
	return member_uint(object, key);
}

static void read_files(struct json_object *array, struct netlink_files *files)
{
	struct netlink_file *file;

	files->file = alloc_zero(array_length(array) + 1, sizeof(*file));
	for (; files->count < array_length(array); files->count++) {
		file = &files->file[files->count];
		file->id = read_named(array, files->count, "id", file->stop);
	}
}

static void read_procs(struct json_object *array, struct netlink_procs *procs)
{
	size_t i, count = array_length(array);

	procs->count = count;
	procs->proc = alloc_zero(count + 1, sizeof(*procs->proc));
	for (i = 0; i < count; i++)
		procs->proc[i].pid = read_named(array, i, "pid", procs->proc[i].stop);
}

/**
 * counts_read() - counters from what "beectl status --json" has written
 * @path: the file
 * @counts: filled with what counts_subtract() takes; counts_free() releases it, after an
 *	error as well
 * @error: filled on failure
 *
 * Return: 0 or -1.
 */
int counts_read(const char *path, struct counts *counts, struct bee_error *error)
{
	struct json_object *object = NULL;
	const char *instance;
	bool is_other;
	char *text;

	memset(counts, 0, sizeof(*counts));
	text = io_read_all(path, NULL);
	if (!text)
		return error_set(error, errno, "%.300s: %s", path, strerror(errno));
	object = json_tokener_parse(text);
	free(text);
	instance = json_object_get_string(json_member(object, "instance", json_type_string));
	is_other = instance && !json_member(object, "reasons", json_type_array);
	if (instance && !is_other) {
		counts->info.instance = strtoull(instance, NULL, 16);
		counts->info.hook_hits = member_uint(object, "hook_hits");
		read_stats(object, &counts->stats);
		read_files(json_member(object, "incomplete", json_type_array), &counts->files);
		read_procs(json_member(object, "processes", json_type_array), &counts->procs);
	}
	json_object_put(object);
	if (is_other)
		return error_set(error, EINVAL, "%.300s: written by another version of beectl; write "
				 "it anew with: beectl status --json", path);
	if (instance)
		return 0;
	return error_set(error, EINVAL, "%.300s: not the output of: beectl status --json", path);
}

/* Nothing, if it is another that has got the same name since, and has counted less. */
static void subtract_stops(uint32_t stop[], const uint32_t then[])
{
	uint32_t reason;

	for (reason = 0; reason <= BEEUNWIND_STOP_MAX; reason++)
		if ((int32_t)(stop[reason] - then[reason]) < 0)
			return;
	for (reason = 0; reason <= BEEUNWIND_STOP_MAX; reason++)
		stop[reason] -= then[reason];
}

/* The process with an id, or NULL. */
static const struct netlink_proc *procs_find(const struct netlink_procs *procs, uint32_t pid)
{
	size_t i;

	for (i = 0; i < procs->count; i++)
		if (procs->proc[i].pid == pid)
			return &procs->proc[i];
	return NULL;
}

/**
 * counts_subtract() - what was counted since an earlier moment
 * @counts: changed: walks of the module, its files and processes are those since then
 * @then: at the earlier moment
 * @error: filled on failure
 *
 * Counters of files and processes are modulo 2^32, and so are the differences.
 *
 * Return: 0; or -1, if the module was loaded anew in between.
 */
int counts_subtract(struct counts *counts, const struct counts *then, struct bee_error *error)
{
	uint32_t reason;
	size_t i;

	if (counts->info.instance != then->info.instance)
		return error_set(error, EINVAL, "the module was loaded anew since then, and has "
				 "begun to count anew");
	counts->info.hook_hits -= then->info.hook_hits;
	counts->stats.frames -= then->stats.frames;
	counts->stats.fp_steps -= then->stats.fp_steps;
	for (reason = 0; reason <= BEEUNWIND_STOP_MAX; reason++)
		counts->stats.stop[reason] -= then->stats.stop[reason];
	for (i = 0; i < counts->files.count; i++) {
		struct netlink_file *file = &counts->files.file[i];
		const struct netlink_file *old = netlink_files_find(&then->files, file->id);

		if (old)
			subtract_stops(file->stop, old->stop);
	}
	for (i = 0; i < counts->procs.count; i++) {
		struct netlink_proc *proc = &counts->procs.proc[i];
		const struct netlink_proc *old = procs_find(&then->procs, proc->pid);

		if (old)
			subtract_stops(proc->stop, old->stop);
	}
	return 0;
}
