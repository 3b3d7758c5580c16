// SPDX-License-Identifier: GPL-2.0
/* Give the module the tables of what one process, or all, have mapped now. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "load.h"

/** load_add_problem() - note that a file, or code in memory, has no table; load_result_free() releases it */
void load_add_problem(struct load_result *result, const char *path, const char *why)
{
	result->problem = alloc_room(result->problem, result->nproblems, &result->room,
				     sizeof(*result->problem));
	result->problem[result->nproblems++] = (struct load_problem){
		.path = alloc_text(path), .why = alloc_text(why),
	};
}

/* A table_maker's done() */
static void load_done(void *arg, const struct table_want *want, const struct table_result *made)
{
	struct load_result *result = arg;

	(void)want;
	result->text += made->text;
	result->wrong += made->wrong;
	if (made->source != TABLE_NONE) {
		result->tables++;
		result->bytes += made->bytes;
		result->compiled += made->source == TABLE_COMPILED;
		result->cached += made->source == TABLE_CACHED;
		result->stored += made->source == TABLE_STORED;
	} else if (!table_jobs_note_refusal(made, &result->error)) {
		load_add_problem(result, made->name, made->error.text);
	}
}

static void load_jit_done(void *arg, pid_t pid, const struct jit_result *jit)
{
	struct load_result *result = arg;

	(void)pid;
	result->tables += jit->laid;
	result->bytes += jit->bytes;
	result->jit += jit->tables;
	result->compiled += jit->tables;
	result->remapped += jit->remapped;
	result->heaps += jit->heaps;
	result->stored += jit->laid - jit->tables - jit->remapped;
	if (jit->error.text[0])
		load_add_problem(result, jit->name[0] ? jit->name : "[jit]", jit->error.text);
}

/**
 * load_process() - give the module the tables of what a process has mapped
 * @maker: how tables are made; its done() is not used
 * @pid: a process or thread
 * @result: filled in any case; load_result_free() releases it
 *
 * Return: 0, or -1 with @result->error filled.
 */
int load_process(const struct table_maker *maker, pid_t pid, struct load_result *result)
{
	struct table_maker counting = *maker;
	struct table_wants wants = { 0 };
	struct mapped_list list = { 0 };
	struct table_stored stored;
	int ret;

	memset(result, 0, sizeof(*result));
	process_name(pid, result->name, sizeof(result->name));
	pid = process_check(pid, &result->error);
	if (pid < 0)
		return -1;
	counting.arg = result;
	counting.done = load_done;
	ret = mapped_add(&list, pid, &result->error);
	if (!ret && !list.count)
		ret = error_set(&result->error, ESRCH, "it has no executable memory: it is about to end");
	if (!ret) {
		stored = table_wants_add_mapped(&wants, &list, maker->nl);
		result->files = wants.count + stored.files;
		result->tables = result->stored = stored.files;
		result->bytes = stored.bytes;
		if (table_jobs_run(&counting, &wants) ||
		    jit_jobs_run_mapped(&counting, &list, load_jit_done, result))
			ret = error_set(&result->error, errno, "cannot start a process: %s", strerror(errno));
	}
	mapped_free(&list);
	table_wants_free(&wants);
	return ret || result->error.code ? -1 : 0;
}

/** load_result_free() - release the problems of a result */
void load_result_free(struct load_result *result)
{
	size_t i;

	for (i = 0; i < result->nproblems; i++) {
		free(result->problem[i].path);
		free(result->problem[i].why);
	}
	free(result->problem);
	result->problem = NULL;
	result->nproblems = result->room = 0;
}

/**
 * load_all() - give the module the tables of what all processes have mapped that run now
 * @maker: the module, and how tables are made; its done() is called for each file whose table the module does not
 *	have
 * @jit_done: called with what has become of the code in memory of each process that has some, and the arg of @maker;
 *	NULL: nobody wants to know
 * @processes: filled: how many there are; or NULL
 * @error: filled on failure
 *
 * Return: 0 or -1.
 */
int load_all(const struct table_maker *maker, jit_done_fn *jit_done, size_t *processes, struct bee_error *error)
{
	struct table_wants wants = { 0 };
	struct mapped_list list = { 0 };
	int ret = mapped_add_all(&list, processes, error);

	if (!ret) {
		table_wants_add_mapped(&wants, &list, maker->nl);
		if (table_jobs_run(maker, &wants) ||
		    jit_jobs_run_mapped(maker, &list, jit_done, maker->arg))
			ret = error_set(error, errno, "cannot start a process: %s", strerror(errno));
	}
	mapped_free(&list);
	table_wants_free(&wants);
	return ret;
}
