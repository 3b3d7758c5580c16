// SPDX-License-Identifier: GPL-2.0
/* Names of addresses in the kernel and its modules, from kallsyms. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "answer.h"
#include "io.h"
#include "resolve.h"
#include "symbols.h"
#include "text.h"

#define KERNEL_KALLSYMS	"/proc/kallsyms"
#define KERNEL_NOTES	"/sys/kernel/notes"
/* Code of modules and of the kernel is not further away from its symbol. */
#define KERNEL_MAX_FUNCTION	(16u << 20)
/* In @limit of a symbol: it is in a module.  Higher than any address. */
#define KERNEL_MODULE		(~0ull - 1)

/**
 * kernel_names_build_id() - the build-id of the running kernel
 * @id: filled, in hexadecimal
 * @size: bytes of @id
 *
 * It is in the note of type NT_GNU_BUILD_ID, name "GNU".
 *
 * Return: whether it is known.
 */
bool kernel_names_build_id(char *id, size_t size)
{
	static const unsigned char note[] = { 4, 0, 0, 0, 20, 0, 0, 0, 3, 0, 0, 0, 'G', 'N', 'U', 0 };
	size_t length;
	char *notes = io_read_all(KERNEL_NOTES, &length);
	char *at = notes ? memmem(notes, length, note, sizeof(note)) : NULL;
	bool known = at && length - (at - notes) >= sizeof(note) + PERFDATA_MAX_BUILD_ID;

	if (known)
		text_hex((const u8 *)at + sizeof(note), PERFDATA_MAX_BUILD_ID, id, size);
	free(notes);
	return known;
}

static bool kernel_is_recorded(const char *wanted)
{
	char id[2 * PERFDATA_MAX_BUILD_ID + 1];

	return !*wanted || !kernel_names_build_id(id, sizeof(id)) || !strcmp(id, wanted);
}

/* "ffffffff81000000 T _text\t[module]": the name ends at white space. */
static void symbols_add_kallsyms(struct symbols *symbols, char *line)
{
	struct symbol symbol = { .limit = ~0ull };
	char type, *end;

	symbol.start = strtoull(line, &end, 16);
	if (end == line || *end != ' ' || !end[1] || end[2] != ' ' || !symbol.start)
		return;
	type = end[1];
	if (!strchr("tTwW", type))
		return;
	symbol.name = end + 3;
	symbol.limit = strchr(symbol.name, '[') ? KERNEL_MODULE : ~0ull;
	end[3 + strcspn(end + 3, " \t")] = '\0';
	/* The last of several at one address, as perf: they differ in nothing else that is known. */
	symbol.rank = symbols->count;
	symbols_add(symbols, &symbol);
}

/*
 * How far the kernel has moved: from where it was recorded to where @symbols have it, which are all
 * that kallsyms has: others may be at the same address as the one that perf has named.
 * Return: whether that is known.
 */
static bool kernel_moved(const struct question *question, const struct symbols *symbols, u64 *moved)
{
	size_t i;

	*moved = 0;
	if (!question->kernel_address || !*question->kernel_symbol)
		return true;
	for (i = 0; i < symbols->count; i++) {
		if (!strcmp(symbols->symbol[i].name, question->kernel_symbol)) {
			*moved = symbols->symbol[i].start - question->kernel_address;
			return true;
		}
	}
	return false;
}

/* The lines of @text become symbols, which point into it; none if @moved is not known. */
static bool symbols_read_kallsyms(struct symbols *symbols, char *text,
				  const struct question *question, u64 *moved)
{
	char *line;

	while ((line = strsep(&text, "\n")))
		symbols_add_kallsyms(symbols, line);
	if (symbols->count && !kernel_moved(question, symbols, moved)) {
		symbols_free(symbols);
		return false;
	}
	symbols_sort(symbols);
	return true;
}

/*
 * @moved: the kernel is not where it was when it was recorded.  By how much its modules have moved
 * is not known, so their symbols are not used then.
 */
static void kernel_put(const struct symbols *symbols, u64 address, bool moved, FILE *out)
{
	const struct symbol *symbol = symbols_find(symbols, address);
	struct answer answer = { .kind = FLAME_KERNEL };

	if (symbol && address - symbol->start < KERNEL_MAX_FUNCTION &&
	    !(moved && symbol->limit == KERNEL_MODULE))
		answer.outermost = answer_is_outermost(symbol->name);
	else
		symbol = NULL;
	answer_put(out, answer, symbol ? symbol->name : "", NULL);
}

/** kernel_names_find() - answer a question about the kernel.  Return: through @out. */
void kernel_names_find(const struct question *question, FILE *out)
{
	const char *path = question->kallsyms ?: KERNEL_KALLSYMS;
	bool recorded, placed = true;
	struct symbols symbols = { 0 };
	char *text = NULL;
	u64 moved = 0;
	size_t i;

	/* The recording itself has said what is there. */
	for (i = 0; *question->path && i < question->count; i++)
		answer_put(out, (struct answer){ .kind = FLAME_KERNEL }, question->path, NULL);
	if (*question->path)
		return;
	recorded = question->kallsyms || kernel_is_recorded(question->build_id);
	if (recorded)
		text = io_read_all(path, NULL);
	if (text)
		placed = symbols_read_kallsyms(&symbols, text, question, &moved);
	for (i = 0; i < question->count; i++)
		kernel_put(&symbols, question->frame[i].offset - !question->frame[i].exact + moved,
			   moved, out);
	if (!recorded)
		answer_warn(out, "no names: another kernel was recorded than the one that runs; "
			    "name its /proc/kallsyms with --kallsyms");
	else if (!text)
		answer_warn(out, "no names: %s: %s", path, strerror(errno));
	else if (!placed)
		answer_warn(out, "no names: %s has no symbol %s, by which the recording says where the "
			    "kernel was", path, question->kernel_symbol);
	else if (!symbols.count && question->kallsyms)
		answer_warn(out, "no names: %s is not what /proc/kallsyms shows to root",
			    question->kallsyms);
	else if (!symbols.count)
		answer_warn(out, "no names: " KERNEL_KALLSYMS " shows no addresses; be root, or set "
			    "kernel.kptr_restrict to 0");
	else if (moved && !question->kallsyms && !*question->build_id)
		answer_warn(out, "the machine was started anew since, and the recording does not say with "
			    "which kernel: names are those of the one that runs");
	symbols_free(&symbols);
	free(text);
}
