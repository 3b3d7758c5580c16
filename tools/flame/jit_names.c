// SPDX-License-Identifier: GPL-2.0
/*
 * Names of code made at run time, from the process's jitdump file, if it has one, and from
 * /tmp/perf-PID.map: lines "START SIZE NAME", hexadecimal (tools/perf/Documentation/jit-interface.txt
 * in the kernel's sources).
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "alloc.h"
#include "answer.h"
#include "io.h"
#include "jitdump.h"
#include "resolve.h"
#include "symbols.h"

#define JIT_MAX_BYTES	(1u << 30)

static void symbols_add_jit(struct symbols *symbols, char *line, u32 number)
{
	struct symbol symbol = { .limit = ~0ull, .rank = number };
	char *at, *end;
	u64 size;

	symbol.start = strtoull(line, &at, 16);
	size = strtoull(at, &end, 16);
	if (at == line || end == at || *end != ' ' || !size || size > ~0ull - symbol.start)
		return;
	symbol.end = symbol.start + size;
	symbol.name = end + 1;
	symbols_add(symbols, &symbol);
}

/* A regular file; for others than root, of root's or their own: somebody else may lie. */
static char *jit_read(const char *path, size_t *size, const char **why)
{
	int fd = io_open_regular(path);
	struct stat st;
	char *text = NULL;
	ssize_t got;

	*size = 0;
	if (fd < 0) {
		*why = errno == ENXIO ? "not a regular file" : strerror(errno);
		return NULL;
	}
	if (fstat(fd, &st) || st.st_size > JIT_MAX_BYTES) {
		*why = "larger than a GiB";
	} else if (st.st_uid && st.st_uid != geteuid() && geteuid()) {
		*why = "it belongs to somebody else";
	} else {
		text = alloc_zero(st.st_size + 1, 1);
		got = io_read_at(fd, text, st.st_size, 0);
		*size = got > 0 ? got : 0;
	}
	close(fd);
	return text;
}

static void jit_warn(const struct question *question, const char *path, const char *why, FILE *out)
{
	answer_warn(out, "no names of code made at run time by process %u: %s: %s",
		    question->file.pid, path, why);
}

/** jit_names_find() - answer a question about code made at run time.  Return: through @out. */
void jit_names_find(const struct question *question, FILE *out)
{
	char map[256], dump[PATH_MAX], *text, *rest, *line, *bytes = NULL;
	const char *no_map = NULL, *no_dump = NULL;
	struct symbols symbols = { 0 };
	size_t i, size;

	if (*question->jitdump) {
		snprintf(dump, sizeof(dump), "%s%s", question->root, question->jitdump);
		bytes = jit_read(dump, &size, &no_dump);
		if (bytes)
			no_dump = jitdump_read(&symbols, cursor_of(bytes, size));
	}
	snprintf(map, sizeof(map), "%.200s/tmp/perf-%u.map", question->root, question->file.pid);
	text = rest = jit_read(map, &size, &no_map);
	/* A function at the address of an older one replaces it. */
	while (rest && (line = strsep(&rest, "\n")))
		symbols_add_jit(&symbols, line, symbols.count);
	symbols_sort(&symbols);
	for (i = 0; i < question->count; i++) {
		const struct profile_frame *frame = &question->frame[i];
		const struct symbol *symbol = symbols_find(&symbols,
							   frame->offset - !frame->exact);

		answer_put(out, (struct answer){ .kind = FLAME_JIT }, symbol ? symbol->name : "",
			   NULL);
	}
	if (no_dump)
		jit_warn(question, dump, no_dump, out);
	else if (no_map && !*question->jitdump)
		jit_warn(question, map, no_map, out);
	symbols_free(&symbols);
	free(text);
	free(bytes);
}
