// SPDX-License-Identifier: GPL-2.0
/*
 * The table of code in memory: one for a range, of all objects that have code there.  A pc is an
 * address of the process.
 *
 * An object can say how to unwind its own code only: what lies in its sections of instructions, and
 * in none of an object that came later (jit_objects_settle()).
 */
#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "alloc.h"
#include "eh_frame.h"
#include "jit_table.h"
#include "order.h"
#include "reader.h"

/* Bytes of code that are copied at once. */
#define COPY_BYTES	(256u << 10)

/* Whether all code in [@start, @end) belongs to an object. */
static bool object_owns(const struct jit_objects *objects, u32 object, u64 start, u64 end)
{
	size_t upto = order_upto(objects->owner, objects->nowners, sizeof(*objects->owner),
				 offsetof(struct jit_owner, start), start);

	return upto && objects->owner[upto - 1].object == object && end <= objects->owner[upto - 1].end;
}

/* Return: index of the first owner whose code ends after @address; @nowners if there is none. */
static size_t owner_first(const struct jit_objects *objects, u64 address)
{
	return order_upto(objects->owner, objects->nowners, sizeof(*objects->owner),
			  offsetof(struct jit_owner, end), address);
}

/**
 * jit_objects_cover() - may objects say how to unwind code in a range?
 * @objects: the objects, after jit_objects_settle()
 * @start: first address of the range
 * @end: address after the last
 *
 * Return: true if one of them has code there, and FDEs.
 */
bool jit_objects_cover(const struct jit_objects *objects, u64 start, u64 end)
{
	size_t i;

	for (i = owner_first(objects, start); i < objects->nowners && objects->owner[i].start < end; i++)
		if (objects->object[objects->owner[i].object].frames)
			return true;
	return false;
}

static int compare_u32(const void *a, const void *b)
{
	return order(*(const u32 *)a, *(const u32 *)b);
}

/* The objects that have FDEs, and code in a range: ascending; for free().  @count: filled. */
static u32 *objects_in(const struct jit_objects *objects, u64 start, u64 end, size_t *count)
{
	size_t i, n = 0, kept = 0, room = 0;
	u32 *found = NULL;

	for (i = owner_first(objects, start); i < objects->nowners && objects->owner[i].start < end; i++) {
		if (!objects->object[objects->owner[i].object].frames)
			continue;
		found = alloc_room(found, n, &room, sizeof(*found));
		found[n++] = objects->owner[i].object;
	}
	if (n)
		qsort(found, n, sizeof(*found), compare_u32);
	for (i = 0; i < n; i++)
		if (!kept || found[i] != found[kept - 1])
			found[kept++] = found[i];
	*count = kept;
	return found;
}

/* Add an object's FDEs for code in [@start, @end) that is the object's. */
static void list_add_object(struct fde_list *list, const struct jit_objects *objects, u32 number,
			    u64 start, u64 end)
{
	const struct jit_object *object = &objects->object[number];
	const struct elf_frames frames = {
		.data = object->frames, .size = object->frames_size,
		.base = { .data = object->frames, .vaddr = object->frames_start },
	};
	size_t i, kept = list->nfdes;

	eh_frame_add(&frames, list);
	for (i = kept; i < list->nfdes; i++) {
		const struct fde *fde = &list->fdes[i];

		if (fde->begin < start || fde->end > end ||
		    !object_owns(objects, number, fde->begin, fde->end))
			continue;
		list->fdes[kept] = *fde;
		list->fdes[kept].order = kept;
		kept++;
	}
	list->nfdes = kept;
}

/* FNV-1a, 64 bits: to tell a table from the one that the same process had before. */
#define HASH_START	0xcbf29ce484222325ull

static u64 hash_bytes(u64 hash, const void *bytes, size_t size)
{
	const u8 *byte = bytes, *end = byte + size;

	while (byte < end)
		hash = (hash ^ *byte++) * 0x100000001b3ull;
	return hash;
}

static u64 hash_object(u64 hash, const struct jit_object *object)
{
	hash = hash_bytes(hash, &object->frames_start, sizeof(object->frames_start));
	hash = hash_bytes(hash, object->frames, object->frames_size);
	return hash_bytes(hash, object->span, object->nspans * sizeof(*object->span));
}

/* Copy [@start, @end) to the same offsets of a new, otherwise empty file; add it to @hash. */
static int copy_code(struct memory *memory, u64 start, u64 end, u64 *hash, struct bee_error *error)
{
	u8 *buffer = alloc_array(NULL, COPY_BYTES, 1);
	int fd = memfd_create("beeunwind-code", MFD_CLOEXEC);
	bool read = true, done = fd >= 0;

	while (done && start < end) {
		u64 size = end - start < COPY_BYTES ? end - start : COPY_BYTES;

		read = memory_read(memory, start, buffer, size);
		done = read && pwrite(fd, buffer, size, start) == (ssize_t)size;
		*hash = hash_bytes(*hash, buffer, done ? size : 0);
		start += size;
	}
	if (!read)
		error_set(error, 0, memory->left ? "JIT code cannot be read" : MEMORY_USED_UP);
	else if (!done)
		error_set(error, errno, "no memory for a copy of JIT code: %s", strerror(errno));
	free(buffer);
	if (done)
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

/* @hash: hash of the objects whose FDEs are in @list. */
static int make_from_list(struct memory *memory, struct fde_list *list, u64 hash,
			  struct compile_result *result, struct bee_error *error)
{
	struct elf_segment code = { .vaddr = UINT64_MAX };
	struct elf_file elf = { .shared = true, .loads = &code, .nloads = 1, .ntext = 1,
				.id_type = BEE_ID_SHA256, .id_len = BEE_TABLE_ID_MAX };
	struct row_set rows = {};
	u64 end = 0;
	int fd, ret = -1;
	size_t i;

	for (i = 0; i < list->nfdes; i++) {
		if (list->fdes[i].begin < code.vaddr)
			code.vaddr = list->fdes[i].begin;
		if (list->fdes[i].end > end)
			end = list->fdes[i].end;
	}
	code.offset = code.vaddr;
	code.size = end - code.vaddr;
	if (code.size > JIT_MAX_CODE)
		return error_set(error, 0, "more than %u MiB of JIT code in one mapping",
				 JIT_MAX_CODE >> 20);
	fd = copy_code(memory, code.vaddr, end, &hash, error);
	if (fd < 0)
		return -1;
	memcpy(elf.id, &hash, sizeof(hash));
	elf.text[0] = code;
	elf.reader = reader_open(fd, error);
	if (elf.reader)
		ret = compile_list(&elf, list, &rows, result, error);
	row_set_free(&rows);
	reader_close(elf.reader);
	close(fd);
	return ret;
}

/**
 * jit_table_make() - make the table of the JIT code in a range
 * @memory: of the process
 * @objects: what its JIT compilers have registered, after jit_objects_settle()
 * @start: first address of the range
 * @end: address after the last
 * @result: always filled; compile_result_free() releases it.  The table has one segment, whose
 *	addresses and offsets are those of the process.  Its id is made of CFI and code: if a process
 *	has a table with an equal one it is the same.
 * @error: filled on failure
 *
 * Return: 0 or -1.
 */
int jit_table_make(struct memory *memory, const struct jit_objects *objects, u64 start, u64 end,
		   struct compile_result *result, struct bee_error *error)
{
	struct fde_list list = {};
	size_t i, count, before;
	u32 *object = objects_in(objects, start, end, &count);
	u64 hash = HASH_START;
	int ret = -1;

	*result = (struct compile_result){};
	for (i = 0; i < count; i++) {
		before = list.nfdes;
		list_add_object(&list, objects, object[i], start, end);
		if (list.nfdes > before)
			hash = hash_object(hash, &objects->object[object[i]]);
	}
	free(object);
	if (list.nfdes)
		ret = make_from_list(memory, &list, hash, result, error);
	else
		error_set(error, 0, "no FDE describes JIT code of this mapping");
	eh_frame_free(&list);
	return ret;
}
