// SPDX-License-Identifier: GPL-2.0
/*
 * See to it that files which are mapped have their tables in the module: there
 * already, read from the cache, or compiled.  Every file is looked at once in a run.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cache.h"
#include "find.h"
#include "maps.h"
#include "tables.h"

/**
 * struct tables - all that is known in this run
 * @nl: the module
 * @cache: compiled tables on disk
 * @stored: the module's files, as last asked for
 * @file: files looked at; pointers, as users keep them
 * @count: files in it
 * @room: files it has memory for
 * @progress: called before a file is compiled
 * @arg: its argument
 */
struct tables {
	struct bee_nl		*nl;
	struct cache		*cache;
	struct bee_nl_tables	 stored;
	struct mapped_file	**file;
	size_t			 count;
	size_t			 room;
	tables_progress_fn	 progress;
	void			*arg;
};

static int error_memory(struct bee_nl_error *error)
{
	error->code = ENOMEM;
	snprintf(error->text, sizeof(error->text), "%s", strerror(ENOMEM));
	return -1;
}

static void mapped_file_free(struct mapped_file *file)
{
	free(file->path);
	free(file);
}

static void files_forget(struct tables *tables)
{
	size_t i;

	for (i = 0; i < tables->count; i++)
		mapped_file_free(tables->file[i]);
	tables->count = 0;
}

/**
 * tables_open() - begin a run
 * @nl: connection to the module; stays the caller's
 * @progress: told about files that are going to be compiled, or NULL
 * @arg: argument of @progress
 * @error: filled on failure
 *
 * Return: for the other calls and tables_close(), or NULL.
 */
struct tables *tables_open(struct bee_nl *nl, tables_progress_fn progress, void *arg,
			   struct bee_nl_error *error)
{
	struct tables *tables = calloc(1, sizeof(*tables));

	if (!tables) {
		error_memory(error);
		return NULL;
	}
	tables->nl = nl;
	tables->progress = progress;
	tables->arg = arg;
	tables->cache = cache_open();
	if (!tables->cache)
		error_memory(error);
	else if (!bee_nl_tables_get(nl, &tables->stored, error))
		return tables;
	tables_close(tables);
	return NULL;
}

void tables_close(struct tables *tables)
{
	if (!tables)
		return;
	files_forget(tables);
	free(tables->file);
	bee_nl_tables_free(&tables->stored);
	cache_close(tables->cache);
	free(tables);
}

/* tables_warning(): one sentence worth telling the user once, or NULL */
const char *tables_warning(const struct tables *tables)
{
	return cache_warning(tables->cache);
}

static struct bee_nl_table *stored_find_id(struct tables *tables, uint32_t id)
{
	size_t i;

	for (i = 0; i < tables->stored.count; i++)
		if (tables->stored.table[i].id == id)
			return &tables->stored.table[i];
	return NULL;
}

/**
 * tables_update_sizes() - take the sizes of tables as the module counts them
 * @tables: the run
 *
 * Sizes are for people only: without an answer, those of the blobs stay.
 */
void tables_update_sizes(struct tables *tables)
{
	struct bee_nl_error error;
	size_t i;

	bee_nl_tables_free(&tables->stored);
	if (bee_nl_tables_get(tables->nl, &tables->stored, &error))
		return;
	for (i = 0; i < tables->count; i++) {
		struct mapped_file *file = tables->file[i];
		const struct bee_nl_table *known = stored_find_id(tables, file->id);

		if (file->source != TABLE_NONE && known)
			file->bytes = known->bytes;
	}
}

static struct mapped_file *file_find(const struct tables *tables, uint32_t id)
{
	size_t i;

	for (i = 0; i < tables->count; i++)
		if (tables->file[i]->id == id)
			return tables->file[i];
	return NULL;
}

/* Room for one more file in the list. */
static int files_extend(struct tables *tables)
{
	size_t room = tables->room ? 2 * tables->room : 32;
	struct mapped_file **array;

	if (tables->count < tables->room)
		return 0;
	array = reallocarray(tables->file, room, sizeof(*array));
	if (!array)
		return -1;
	tables->file = array;
	tables->room = room;
	return 0;
}

static struct mapped_file *file_new(struct tables *tables, uint32_t id)
{
	struct mapped_file *file;

	if (files_extend(tables))
		return NULL;
	file = calloc(1, sizeof(*file));
	if (!file)
		return NULL;
	file->id = id;
	file->path = strdup("?");
	if (!file->path) {
		free(file);
		return NULL;
	}
	tables->file[tables->count++] = file;
	return file;
}

static bool file_is_vdso(const struct mapped_file *file)
{
	return !strcmp(file->path, "[vdso]");
}

/*
 * Hold on to what is mapped there.  A mapping may have been split or merged since the
 * module looked: any part of it will do.
 */
static int range_pin(pid_t pid, const struct range *range)
{
	int pin = mapping_pin(pid, range->start, range->end);
	struct maps maps;
	size_t i;

	if (pin != -ENOENT)
		return pin;
	if (!maps_read(pid, &maps))
		for (i = 0; i < maps.count && pin == -ENOENT; i++)
			if (maps.mapping[i].start < range->end && range->start < maps.mapping[i].end)
				pin = mapping_pin(pid, maps.mapping[i].start, maps.mapping[i].end);
	maps_free(&maps);
	return pin;
}

static int file_open(struct mapped_file *file, const struct bee_nl_table *known, pid_t pid,
		     const struct range *range, bool *by_name)
{
	struct place place = {
		.name = known->name, .size = known->size, .inode = known->inode,
		.pid = pid, .start = range->start, .end = range->end,
	};
	int pin, fd;

	*by_name = false;
	if (file_is_vdso(file))
		return mapping_open_vdso(file->why, sizeof(file->why));
	pin = range_pin(pid, range);
	fd = place_open(&place, pin, file->why, sizeof(file->why));
	*by_name = pin < 0;
	if (pin >= 0)
		close(pin);
	return fd;
}

/* Refusals that are about the request as a whole, not about this file's table. */
static bool error_is_general(int code)
{
	return code == EPERM || code == ENOSPC || code == ENOMEM || code == BEE_NL_NO_MODULE ||
	       code == EIO || code == EPROTO;
}

/* A file opened by its name may be another: the module knows for certain. */
static int file_give_by_name(struct tables *tables, struct mapped_file *file, int exe_fd, int fd,
			     struct bee_nl_error *error)
{
	uint32_t id;

	if (bee_nl_table_add(tables->nl, fd, exe_fd, &id, error))
		return -1;
	if (id == file->id)
		return 0;
	error->code = ESTALE;
	snprintf(error->text, sizeof(error->text), "what is found by its name is "
		 "another file");
	return -1;
}

/* Return: 0, or -1 if it is hopeless for all. */
static int file_give(struct tables *tables, struct mapped_file *file, int exe_fd, bool by_name,
		     int fd, struct bee_nl_error *error)
{
	struct stat st;
	int ret;

	if (by_name)
		ret = file_give_by_name(tables, file, exe_fd, fd, error);
	else
		ret = bee_nl_table_set(tables->nl, fd, file->id, error);
	if (!ret) {
		file->bytes = fstat(fd, &st) ? 0 : st.st_size;
		return 0;
	}
	file->source = TABLE_NONE;
	if (error->code == ENOENT)
		snprintf(file->why, sizeof(file->why), "no longer mapped");
	else
		snprintf(file->why, sizeof(file->why), "its table was refused: %s", error->text);
	return error_is_general(error->code) ? -1 : 0;
}

/* Find or make the table of what is open at @exe_fd.  Return: as file_give(). */
static int file_resolve(struct tables *tables, struct mapped_file *file, int exe_fd, bool by_name,
			struct bee_nl_error *error)
{
	struct table_file table;
	int ret = 0;

	if (tables->progress)
		tables->progress(tables->arg, file->path);
	file->source = table_file_get(tables->cache, exe_fd, file->path, file_is_vdso(file), &table,
				      file->why, sizeof(file->why));
	if (tables->progress)
		tables->progress(tables->arg, NULL);
	if (file->source != TABLE_NONE)
		ret = file_give(tables, file, exe_fd, by_name, table.fd, error);
	table_file_close(&table);
	return ret;
}

/* What the module knows of the file.  Return: 0; 1 if it has forgotten it; or -1. */
static int file_ask(struct tables *tables, struct mapped_file *file,
		    const struct bee_nl_table **result, struct bee_nl_error *error)
{
	const struct bee_nl_table *known = stored_find_id(tables, file->id);
	char *path;

	if (!known) {
		bee_nl_tables_free(&tables->stored);
		if (bee_nl_tables_get(tables->nl, &tables->stored, error))
			return -1;
		known = stored_find_id(tables, file->id);
	}
	if (!known) {
		snprintf(file->why, sizeof(file->why), "no longer mapped");
		return 1;
	}
	path = strdup(known->name);
	if (!path)
		return error_memory(error);
	free(file->path);
	file->path = path;
	file->bytes = known->bytes;
	file->source = known->loaded ? TABLE_STORED : TABLE_NONE;
	*result = known;
	return 0;
}

/**
 * tables_get() - a mapped file, which has its table in the module if possible
 * @tables: the run
 * @pid: process that has it mapped
 * @range: where; names the file
 * @error: filled on failure
 *
 * Return: the file, with source TABLE_NONE and a reason if it has no table; owned by
 * @tables.  NULL if the module refused in a way that further files will not change.
 */
struct mapped_file *tables_get(struct tables *tables, pid_t pid, const struct range *range,
			       struct bee_nl_error *error)
{
	struct mapped_file *file = file_find(tables, range->file);
	const struct bee_nl_table *known = NULL;
	bool by_name;
	int fd, ret;

	if (!file)
		file = file_new(tables, range->file);
	if (!file) {
		error_memory(error);
		return NULL;
	}
	if (file->opened)
		return file;
	ret = file_ask(tables, file, &known, error);
	if (ret)
		return ret < 0 ? NULL : file;
	file->pid = pid;
	file->opened = file->source == TABLE_STORED;
	if (file->opened)
		return file;
	fd = file_open(file, known, pid, range, &by_name);
	if (fd < 0)
		return file;
	ret = file_resolve(tables, file, fd, by_name, error);
	file->opened = !ret;
	close(fd);
	return ret ? NULL : file;
}
