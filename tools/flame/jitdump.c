// SPDX-License-Identifier: GPL-2.0
/*
 * Names of code made at run time, from jitdump files: records of the functions that were made and
 * moved, in the order of their times (tools/perf/Documentation/jitdump-specification.txt and
 * tools/perf/util/jitdump.h in the kernel's sources).  What is at an address last is what counts,
 * as in perf-PID.map.
 */
#include <ctype.h>
#include <string.h>

#include "intern.h"
#include "jitdump.h"

#define JITDUMP_MAGIC		0x4a695444u	/* "JiTD", in this byte order */
#define JITDUMP_HEADER		40		/* bytes of struct jitheader */
#define JITDUMP_RECORD		16		/* bytes of struct jr_prefix */

enum { JIT_CODE_LOAD, JIT_CODE_MOVE };

/**
 * jitdump_is() - is this the name of a jitdump file?
 * @path: what a process has mapped; it maps the file for perf to see its name
 */
bool jitdump_is(const char *path)
{
	const char *base = basename(path);

	if (strncmp(base, "jit-", 4) || !isdigit((unsigned char)base[4]))
		return false;
	return !strcmp(base + 4 + strspn(base + 4, "0123456789"), ".dump");
}

/* struct place - an address at which functions have begun, and the name of the latest one */
struct place {
	u64		 start;
	const char	*name;
};

static struct place *place_of(struct intern *places, u64 start)
{
	const struct place place = { .start = start };

	return intern_item(places, intern_add(places, &place));
}

static void jitdump_add(struct symbols *symbols, struct intern *places, u64 start, u64 size,
			const char *name)
{
	const struct symbol symbol = { .start = start, .end = start + size, .name = name };

	if (!size || size > ~0ull - start)
		return;
	symbols_add(symbols, &symbol);
	place_of(places, start)->name = name;
}

/* struct jr_code_load, then the name and the code. */
static void jitdump_load(struct symbols *symbols, struct intern *places, struct cursor c)
{
	const char *name;
	u64 start, size;

	cursor_u64(&c);		/* pid, tid */
	cursor_u64(&c);		/* vma */
	start = cursor_u64(&c);
	size = cursor_u64(&c);
	cursor_u64(&c);		/* code_index */
	name = cursor_string(&c);
	if (name)
		jitdump_add(symbols, places, start, size, name);
}

/* struct jr_code_move: the latest function at the old address has the new one as well. */
static void jitdump_move(struct symbols *symbols, struct intern *places, struct cursor c)
{
	const char *name;
	u64 from, to, size;

	cursor_u64(&c);		/* pid, tid */
	cursor_u64(&c);		/* vma */
	from = cursor_u64(&c);
	to = cursor_u64(&c);
	size = cursor_u64(&c);
	name = c.bad ? NULL : place_of(places, from)->name;
	if (name)
		jitdump_add(symbols, places, to, size, name);
}

/**
 * jitdump_read() - read a jitdump file
 * @symbols: functions are added, in the order in which they were made; their names are in the file
 * @file: its bytes
 *
 * A file whose end has not been written yet is read as far as it goes.
 *
 * Return: NULL, or why it cannot be read.
 */
const char *jitdump_read(struct symbols *symbols, struct cursor file)
{
	struct intern places = INTERN_OF(struct place, name);
	struct cursor header = file, record;
	u32 magic = cursor_u32(&header), size, id;

	cursor_u32(&header);	/* version */
	size = cursor_u32(&header);
	if (header.bad || magic != JITDUMP_MAGIC)
		return "no jitdump file of this byte order";
	if (size < JITDUMP_HEADER || !cursor_take(&file, size))
		return "its header is cut off";
	while (cursor_left(&file) >= JITDUMP_RECORD) {
		record = file;
		id = cursor_u32(&record);
		size = cursor_u32(&record);
		cursor_u64(&record);	/* timestamp */
		if (size < JITDUMP_RECORD || !cursor_take(&file, size))
			break;
		record.end = file.at;
		if (id == JIT_CODE_LOAD)
			jitdump_load(symbols, &places, record);
		else if (id == JIT_CODE_MOVE)
			jitdump_move(symbols, &places, record);
	}
	intern_free(&places);
	return NULL;
}
