// SPDX-License-Identifier: GPL-2.0
/*
 * From a mapped file to the id of its table in the module: found in the module's
 * store, read from the cache, or compiled.  Every file is looked at once in a run.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <asm/byteorder.h>

#include "cache.h"
#include "compile.h"
#include "elf.h"
#include "tables.h"

/**
 * struct tables - all that is known in this run
 * @nl: the module
 * @cache: compiled tables on disk
 * @stored: tables in the module's store
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
	free(file->segments);
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

/**
 * tables_refresh() - forget table ids, because the module no longer knows one
 * @tables: the run; files got from it before are gone
 * @error: filled on failure
 *
 * Return: 0 or -1.
 */
int tables_refresh(struct tables *tables, struct bee_nl_error *error)
{
	files_forget(tables);
	bee_nl_tables_free(&tables->stored);
	return bee_nl_tables_get(tables->nl, &tables->stored, error);
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

		if (file->id && known)
			file->bytes = known->bytes;
	}
}

static struct mapped_file *file_find(const struct tables *tables, const struct mapping *m)
{
	size_t i;

	for (i = 0; i < tables->count; i++) {
		struct mapped_file *file = tables->file[i];

		if (file->inode == m->inode && file->major == m->major &&
		    file->minor == m->minor && !strcmp(file->path, m->path))
			return file;
	}
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

static struct mapped_file *file_new(struct tables *tables, const struct mapping *m)
{
	struct mapped_file *file;

	if (files_extend(tables))
		return NULL;
	file = calloc(1, sizeof(*file));
	if (!file)
		return NULL;
	file->major = m->major;
	file->minor = m->minor;
	file->inode = m->inode;
	file->path = strdup(m->path);
	if (!file->path) {
		free(file);
		return NULL;
	}
	tables->file[tables->count++] = file;
	return file;
}

/* What the bias of a mapping is computed from, and what the file is called. */
static int file_read_elf(struct mapped_file *file, int fd, struct file_identity *identity)
{
	struct bee_elf elf;
	struct stat st;
	size_t i;

	/* Before the file is read: a change meanwhile gives it another ctime. */
	if (fstat(fd, &st)) {
		snprintf(file->why, sizeof(file->why), "%s", strerror(errno));
		return -1;
	}
	if (bee_elf_open(&elf, fd)) {
		snprintf(file->why, sizeof(file->why), "%s", elf.message);
		return -1;
	}
	*identity = (struct file_identity){ .type = elf.id_type, .len = elf.id_len,
					    .size = elf.file_size };
	memcpy(identity->id, elf.id, sizeof(identity->id));
	if (file->inode) {
		identity->inode = st.st_ino;
		identity->ctime = st.st_ctim.tv_sec * 1000000000ull + st.st_ctim.tv_nsec;
	}
	file->segments = calloc(elf.ntext + 1, sizeof(*file->segments));
	for (i = 0; file->segments && i < elf.ntext; i++)
		file->segments[i] = (struct bee_table_segment) {
			.vaddr = cpu_to_le64(elf.text[i].vaddr),
			.offset = cpu_to_le64(elf.text[i].offset),
			.size = cpu_to_le64(elf.text[i].size),
		};
	file->text.segments = file->segments;
	file->text.nsegments = file->segments ? elf.ntext : 0;
	bee_elf_close(&elf);
	return 0;
}

/* The vDSO's table: the only one that is found by its identity alone. */
static struct bee_nl_table *stored_find_vdso(struct tables *tables,
					     const struct file_identity *identity)
{
	size_t i;

	for (i = 0; i < tables->stored.count; i++) {
		struct bee_nl_table *t = &tables->stored.table[i];

		if (!t->inode && t->file_id_len == identity->len &&
		    !memcmp(t->file_id, identity->id, identity->len))
			return t;
	}
	return NULL;
}

static int file_compile(struct tables *tables, struct mapped_file *file, int fd,
			const struct file_identity *identity, struct table_file *table)
{
	struct compile_result result;
	int ret;

	if (tables->progress)
		tables->progress(tables->arg, file->path);
	ret = compile_elf(fd, &result);
	if (tables->progress)
		tables->progress(tables->arg, NULL);
	if (ret) {
		snprintf(file->why, sizeof(file->why), "%s", result.message);
	} else {
		ret = cache_store(tables->cache, identity, file->path, result.blob,
				  result.size, table, file->why, sizeof(file->why));
		result.blob = NULL;
	}
	compile_result_free(&result);
	return ret;
}

/* Refusals that are about the request as a whole, not about this file's table. */
static bool error_is_general(int code)
{
	return code == EPERM || code == ENOSPC || code == ENOMEM || code == BEE_NL_NO_MODULE ||
	       code == EIO || code == EPROTO;
}

static int file_add(struct tables *tables, struct mapped_file *file, int exe_fd,
		    const struct table_file *table, struct bee_nl_error *error)
{
	const struct bee_nl_table *known;
	struct stat st;

	/* A file without an inode (the vDSO) is found by its identity alone. */
	if (!file->inode)
		exe_fd = -1;
	if (bee_nl_table_add(tables->nl, table->fd, exe_fd, file->path, &file->id, error)) {
		snprintf(file->why, sizeof(file->why), "its table was refused: %s", error->text);
		file->source = TABLE_NONE;
		return error_is_general(error->code) ? -1 : 0;
	}
	file->bytes = fstat(table->fd, &st) ? 0 : st.st_size;
	known = stored_find_id(tables, file->id);
	if (known) {
		file->source = TABLE_STORED;
		file->bytes = known->bytes;
	}
	return 0;
}

/* Fill in @file from what is open at @fd.  Return: 0, or -1 if it is hopeless for all. */
static int file_resolve(struct tables *tables, struct mapped_file *file, int fd,
			struct bee_nl_error *error)
{
	const struct bee_nl_table *stored;
	struct file_identity identity;
	struct table_file table;
	int ret;

	if (file_read_elf(file, fd, &identity))
		return 0;
	/* Other files are always offered: the module knows for certain what it has. */
	stored = file->inode ? NULL : stored_find_vdso(tables, &identity);
	if (stored) {
		file->id = stored->id;
		file->bytes = stored->bytes;
		file->source = TABLE_STORED;
		return 0;
	}
	file->source = TABLE_CACHED;
	if (!cache_lookup(tables->cache, &identity, &table)) {
		file->source = TABLE_COMPILED;
		if (file_compile(tables, file, fd, &identity, &table)) {
			file->source = TABLE_NONE;
			return 0;
		}
	}
	ret = file_add(tables, file, fd, &table, error);
	table_file_close(&table);
	return ret;
}

/**
 * tables_get() - the file behind a mapping, with its table in the module
 * @tables: the run
 * @pid: process that has it mapped
 * @mapping: of kind MAPPING_FILE or MAPPING_VDSO
 * @error: filled on failure
 *
 * Return: the file, with id 0 and a reason if it has no table; owned by @tables.
 * NULL if the module refused in a way that further files will not change.
 */
struct mapped_file *tables_get(struct tables *tables, pid_t pid, const struct mapping *mapping,
			       struct bee_nl_error *error)
{
	struct mapped_file *file = file_find(tables, mapping);
	int fd, ret;

	if (!file)
		file = file_new(tables, mapping);
	if (!file) {
		error_memory(error);
		return NULL;
	}
	if (file->opened)
		return file;
	if (mapping->kind == MAPPING_VDSO)
		fd = mapping_open_vdso(file->why, sizeof(file->why));
	else
		fd = mapping_open(pid, mapping, file->why, sizeof(file->why));
	if (fd < 0)
		return file;
	file->pid = pid;
	ret = file_resolve(tables, file, fd, error);
	file->opened = !ret;
	close(fd);
	return ret ? NULL : file;
}

/**
 * mapped_file_bias() - bias of a mapping of the file
 * @file: with a table
 * @mapping: the mapping
 * @bias: filled
 *
 * Return: false if no executable segment of the file is mapped there.
 */
bool mapped_file_bias(const struct mapped_file *file, const struct mapping *mapping,
		      uint64_t *bias)
{
	u64 found;

	if (!bee_table_bias(&file->text, mapping->start, mapping->offset, &found))
		return false;
	*bias = found;
	return true;
}
