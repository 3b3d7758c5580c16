// SPDX-License-Identifier: GPL-2.0
/*
 * Names of code made at run time, from /tmp/perf-PID.map: lines "START SIZE NAME", hexadecimal
 * (tools/perf/Documentation/jit-interface.txt in the kernel's sources).
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "alloc.h"
#include "answer.h"
#include "io.h"
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
static char *jit_read(const char *path, const char **why)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat st;
	char *text = NULL;

	if (fd < 0) {
		*why = strerror(errno);
		return NULL;
	}
	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_size > JIT_MAX_BYTES) {
		*why = "no regular file of at most a GiB";
	} else if (st.st_uid && st.st_uid != geteuid() && geteuid()) {
		*why = "it belongs to somebody else";
	} else {
		text = alloc_zero(st.st_size + 1, 1);
		if (io_read_at(fd, text, st.st_size, 0) < 0)
			*text = '\0';
	}
	close(fd);
	return text;
}

/** jit_names_find() - answer a question about code made at run time.  Return: through @out. */
void jit_names_find(const struct question *question, FILE *out)
{
	struct symbols symbols = { 0 };
	const char *why = NULL;
	char path[256], *text, *rest, *line;
	u32 number = 0;
	size_t i;

	snprintf(path, sizeof(path), "%.200s/tmp/perf-%u.map", question->root, question->file.pid);
	text = rest = jit_read(path, &why);
	/* A function at the address of an older one replaces it. */
	while (rest && (line = strsep(&rest, "\n")))
		symbols_add_jit(&symbols, line, ++number);
	symbols_sort(&symbols);
	for (i = 0; i < question->count; i++) {
		const struct profile_frame *frame = &question->frame[i];
		const struct symbol *symbol = symbols_find(&symbols,
							   frame->offset - !frame->exact);

		answer_put(out, (struct answer){ .kind = FLAME_JIT }, symbol ? symbol->name : "",
			   NULL);
	}
	if (why)
		answer_warn(out, "no names of code made at run time by process %u: %s: %s",
			    question->file.pid, path, why);
	symbols_free(&symbols);
	free(text);
}
