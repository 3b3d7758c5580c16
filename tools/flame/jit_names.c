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

/* Why there is no /tmp/perf-PID.map. */
#define JIT_NO_MAP \
	"no such file; the program has to write it " \
	"(node --perf-basic-prof; Java 17 and later: --java-names, or jcmd PID Compiler.perfmap before the program ends)"

static void symbols_add_jit(struct symbols *symbols, char *line)
{
	struct symbol symbol = { 0 };
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

/*
 * Somebody else's file may lie.  Root reads those of whoever runs the process, and below --symfs.
 * Return: NULL, or why a file is not to be believed.
 */
static const char *jit_distrust(const struct question *question, uid_t owner)
{
	struct stat process;
	char path[32];

	if (!owner || owner == geteuid() || (!geteuid() && *question->root))
		return NULL;
	snprintf(path, sizeof(path), "/proc/%u", question->file.pid);
	/* Another process may have its number by now. */
	if (!geteuid() && (question->file.ended || stat(path, &process)))
		return "it is not root's, and the process has ended (--symfs / takes it all the same)";
	if (geteuid())
		return "it belongs to somebody else";
	return process.st_uid != owner ? "it belongs to somebody else (--symfs / takes it all the same)" :
					 NULL;
}

/* Open the file that the process sees, which may be in a container, or else the one seen here. */
static int jit_open(const struct question *question, const char *path, const char *own_path)
{
	int fd = *question->root || question->file.ended ? -1 :
		 io_open_of_process(question->file.pid, own_path);

	return fd < 0 ? io_open_regular(path) : fd;
}

/* @path: as it is seen here; @own_path: as the process sees it; @absent: why, if it is not there */
static char *jit_read(const struct question *question, const char *path, const char *own_path,
		      const char *absent, size_t *size, const char **why)
{
	int fd = jit_open(question, path, own_path);
	struct stat st;
	char *text = NULL;
	ssize_t got;

	*size = 0;
	if (fd < 0) {
		*why = errno == ENXIO ? "not a regular file" :
		       errno == ENOENT ? absent : strerror(errno);
		return NULL;
	}
	if (fstat(fd, &st) || st.st_size > JIT_MAX_BYTES) {
		*why = "larger than a GiB";
	} else if (!(*why = jit_distrust(question, st.st_uid))) {
		text = alloc_zero(st.st_size + 1, 1);
		got = io_read_at(fd, text, st.st_size, 0);
		*size = got > 0 ? got : 0;
	}
	close(fd);
	return text;
}

static void jit_warn(const char *path, const char *why, FILE *out)
{
	answer_warn(out, "no names of code made at run time: %s: %s", path, why);
}

static u64 jit_address(const struct question *question, size_t index)
{
	return question->frame[index].offset - !question->frame[index].exact;
}

/*
 * Names of the addresses, NULL if there is none, for free().  @symbols are in the order in which the
 * functions were made: each replaces what was there.
 */
static const char **jit_names(const struct question *question, const struct symbols *symbols)
{
	const char **name = alloc_zero(question->count + 1, sizeof(*name));
	size_t i, low, high, middle;

	for (i = 0; i < symbols->count; i++) {
		const struct symbol *symbol = &symbols->symbol[i];

		for (low = 0, high = question->count; low < high;) {
			middle = (low + high) / 2;
			if (jit_address(question, middle) < symbol->start)
				low = middle + 1;
			else
				high = middle;
		}
		for (; low < question->count && jit_address(question, low) < symbol->end; low++)
			name[low] = symbol->name;
	}
	return name;
}

/** jit_names_find() - answer a question about code made at run time.  Return: through @out. */
void jit_names_find(const struct question *question, FILE *out)
{
	char *map, own_map[32], dump[PATH_MAX], *text, *rest, *line, *bytes = NULL;
	const char *no_map = NULL, *no_dump = NULL, **name;
	struct symbols symbols = { 0 };
	size_t i, size;

	if (*question->jitdump) {
		snprintf(dump, sizeof(dump), "%s%s", question->root, question->jitdump);
		bytes = jit_read(question, dump, question->jitdump, strerror(ENOENT), &size,
				 &no_dump);
		if (bytes)
			no_dump = jitdump_read(&symbols, cursor_of(bytes, size));
	}
	if (asprintf(&map, "%s/tmp/perf-%u.map", question->root, question->file.pid) < 0)
		alloc_check(NULL, 0);
	snprintf(own_map, sizeof(own_map), "/tmp/perf-%u.map",
		 question->file.ended ? question->file.pid : (u32)io_own_pid(question->file.pid));
	text = rest = jit_read(question, map, own_map, JIT_NO_MAP, &size, &no_map);
	while (rest && (line = strsep(&rest, "\n")))
		symbols_add_jit(&symbols, line);
	name = jit_names(question, &symbols);
	for (i = 0; i < question->count; i++)
		answer_put(out, (struct answer){ .kind = FLAME_JIT }, name[i] ?: "", NULL);
	if (no_dump)
		jit_warn(dump, no_dump, out);
	else if (no_map && !*question->jitdump)
		jit_warn(map, no_map, out);
	free(name);
	symbols_free(&symbols);
	free(text);
	free(bytes);
	free(map);
}
