// SPDX-License-Identifier: GPL-2.0
/* beectl load --all: every process, and a summary. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "alloc.h"
#include "commands.h"
#include "json.h"
#include "load_all.h"
#include "maker.h"
#include "manage.h"
#include "messages.h"
#include "progress.h"
#include "text.h"

/* Reasons that are told apart in the summary. */
#define MAX_REASONS	16

/* Files without a table for one reason. */
struct reason {
	char	why[384];
	char	first[256];
	size_t	files;
};

/**
 * struct load_summary - what came of it
 * @options: of the command
 * @processes: which are managed
 * @compiled: tables compiled now
 * @cached: tables read from the cache
 * @text: bytes that tables which are not exact have rules for
 * @wrong: of these, with a wrong rule
 * @reason: why files have no table
 * @nreasons: number of them
 * @refusal: the first that other files would have met as well
 * @problems: for JSON; NULL without
 */
struct load_summary {
	const struct load_all_options	*options;
	struct manage_all_result	 processes;
	size_t				 compiled;
	size_t				 cached;
	uint64_t			 text;
	uint64_t			 wrong;
	struct reason			 reason[MAX_REASONS];
	size_t				 nreasons;
	struct table_result		 refusal;
	struct json_object		*problems;
};

static void summary_note(struct load_summary *summary, const char *name, const char *why)
{
	struct reason *reason = summary->reason;
	size_t i;

	for (i = 0; i < summary->nreasons && strcmp(reason[i].why, why); i++)
		;
	if (i == MAX_REASONS)
		return;
	if (i == summary->nreasons) {
		summary->nreasons++;
		snprintf(reason[i].why, sizeof(reason[i].why), "%s", why);
		snprintf(reason[i].first, sizeof(reason[i].first), "%s", name);
	}
	reason[i].files++;
}

static void summary_problem(struct load_summary *summary, const char *name, const char *why)
{
	const struct load_all_options *options = summary->options;

	summary_note(summary, name, why);
	json_append_problem(summary->problems, name, "reason", why);
	if (options->verbose && !options->quiet && !options->json) {
		progress_end();
		message_warning("load", name, why);
	}
}

static void summary_done(void *arg, const struct table_want *want,
			 const struct table_result *result)
{
	struct load_summary *summary = arg;

	summary->text += result->text;
	summary->wrong += result->wrong;
	if (result->source == TABLE_COMPILED)
		summary->compiled++;
	else if (result->source == TABLE_CACHED)
		summary->cached++;
	else
		summary_problem(summary, want->name, result->error.text);
	if (table_jobs_refusal_is_general(result->refusal) && !summary->refusal.refusal)
		summary->refusal = *result;
}

static void print_reasons(const struct load_summary *summary)
{
	size_t i;

	for (i = 0; i < summary->nreasons; i++) {
		const struct reason *reason = &summary->reason[i];
		char files[sizeof(reason->first) + 32];

		snprintf(files, sizeof(files), reason->files > 1 ? "%s and %zu more" : "%s",
			 reason->first, reason->files - 1);
		message_warning("load", files, reason->why);
	}
}

static size_t summary_stored(const struct load_summary *summary, const struct netlink_info *info)
{
	size_t now = summary->compiled + summary->cached;

	return info->tables > now ? info->tables - now : 0;
}

static void print_summary(const struct load_summary *summary, const struct netlink_info *info)
{
	printf("%zu process%s, %u files, %u tables (%zu compiled, %zu cached, %zu already loaded), ",
	       summary->processes.managed, summary->processes.managed == 1 ? "" : "es",
	       info->files, info->tables, summary->compiled, summary->cached,
	       summary_stored(summary, info));
	printf("%s", text_size(info->table_bytes + info->range_bytes).text);
	printf(" of %s\n", text_size(info->budget).text);
	maker_print_wrong(stdout, summary->wrong, summary->text);
	if (!summary->options->verbose)
		print_reasons(summary);
}

static void print_json(struct load_summary *summary, const struct netlink_info *info)
{
	struct json_object *object = json_object_new_object();

	json_add_uint(object, "processes", summary->processes.managed);
	json_add_uint(object, "refused", summary->processes.refused);
	json_add_uint(object, "files", info->files);
	json_add_uint(object, "tables", info->tables);
	json_add_uint(object, "compiled", summary->compiled);
	json_add_uint(object, "cached", summary->cached);
	json_add_uint(object, "loaded", summary_stored(summary, info));
	json_add_uint(object, "bytes", info->table_bytes + info->range_bytes);
	json_add_uint(object, "text", summary->text);
	json_add_uint(object, "wrong", summary->wrong);
	json_add(object, "problems", json_object_get(summary->problems));
	json_print(object);
}

/* The exit status is 1 if some stacks will not be complete that should be. */
static int summary_status(const struct load_summary *summary)
{
	const struct manage_all_result *processes = &summary->processes;
	char why[640];

	if (processes->refused) {
		snprintf(why, sizeof(why), "%zu process%s not loaded, the first is %d: %s",
			 processes->refused, processes->refused == 1 ? "" : "es", processes->pid,
			 processes->why.text);
		message_error("load", NULL, why);
	}
	if (summary->refusal.refusal)
		message_error("load", NULL, summary->refusal.error.text);
	return processes->refused || summary->refusal.refusal ? EXIT_FAILED : EXIT_OK;
}

static int summary_make(struct load_summary *summary, struct table_maker *maker,
			struct bee_error *error)
{
	struct table_wants wants = { 0 };
	int ret;

	progress_begin("looking at all processes");
	ret = manage_all(maker->nl, &summary->processes, error) ?:
	      table_jobs_find(maker->nl, 0, &wants, error);
	if (!ret && table_jobs_run(maker, &wants))
		ret = error_set(error, errno, "cannot start a process: %s", strerror(errno));
	progress_end();
	table_jobs_free(&wants);
	return ret;
}

/**
 * load_all() - every process of the machine
 * @as: how tables are made; its done() is not used
 * @options: of the command
 *
 * Return: exit status.
 */
int load_all(const struct table_maker *as, const struct load_all_options *options)
{
	struct load_summary summary = { .options = options };
	struct table_maker maker = *as;
	struct netlink_info info;
	struct bee_error error;
	int status;

	maker.arg = &summary;
	maker.done = summary_done;
	if (options->json)
		summary.problems = json_object_new_array();
	if (summary_make(&summary, &maker, &error) || netlink_info_get(maker.nl, &info, &error)) {
		status = message_error("load", NULL, error.text);
	} else {
		if (options->json)
			print_json(&summary, &info);
		else if (!options->quiet)
			print_summary(&summary, &info);
		status = summary_status(&summary);
	}
	json_object_put(summary.problems);
	return status;
}
