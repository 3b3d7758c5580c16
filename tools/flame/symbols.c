// SPDX-License-Identifier: GPL-2.0
/*
 * Symbols of one file.  Names are demangled by libiberty: unlike libstdc++ it knows both of Rust's
 * manglings, and it bounds recursion on names that were made to be deep.
 */
#include <libiberty/demangle.h>
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "order.h"
#include "symbols.h"

#define SYMBOL_MAX_MANGLED	(64u << 10)
#define GO_ABI			".abi0"		/* src/cmd/link/internal/ld/symtab.go, mangleABIName() */

void symbols_add(struct symbols *symbols, const struct symbol *symbol)
{
	symbols->symbol = alloc_room(symbols->symbol, symbols->count, &symbols->room,
				     sizeof(*symbols->symbol));
	symbols->symbol[symbols->count++] = *symbol;
}

/* The best of an address comes first; then an order that does not depend on the file's. */
static int symbol_compare(const void *a, const void *b)
{
	const struct symbol *x = a, *y = b;

	return order(x->start, y->start) ?: order(!x->end, !y->end) ?: order(y->rank, x->rank) ?:
	       order(strlen(y->name), strlen(x->name)) ?: strcmp(x->name, y->name);
}

/** symbols_sort() - once all are added: one for each address, and where those without size end */
void symbols_sort(struct symbols *symbols)
{
	size_t i, n = 0;

	if (!symbols->count)
		return;
	qsort(symbols->symbol, symbols->count, sizeof(*symbols->symbol), symbol_compare);
	for (i = 0; i < symbols->count; i++)
		if (!n || symbols->symbol[n - 1].start != symbols->symbol[i].start)
			symbols->symbol[n++] = symbols->symbol[i];
	symbols->count = n;
	for (i = 0; i < n; i++) {
		struct symbol *symbol = &symbols->symbol[i];

		symbol->is_label = !symbol->end;
		if (symbol->is_label)
			symbol->end = i + 1 < n && symbol[1].start < symbol->limit ?
				      symbol[1].start : symbol->limit;
		symbol->reach = i && symbol[-1].reach > symbol->end ? symbol[-1].reach : symbol->end;
	}
}

/**
 * symbols_find() - the function that has an address, or NULL
 * @symbols: sorted
 * @address: the address
 *
 * Return: the innermost one that has a size, if there is any: others in it are labels.
 */
const struct symbol *symbols_find(const struct symbols *symbols, u64 address)
{
	const struct symbol *label = NULL, *found;
	size_t low = order_upto(symbols->symbol, symbols->count, sizeof(*symbols->symbol),
				offsetof(struct symbol, start), address);

	while (low && symbols->symbol[low - 1].reach > address) {
		found = &symbols->symbol[--low];
		if (found->end <= address)
			continue;
		if (!found->is_label)
			return found;
		label = label ?: found;
	}
	return label;
}

void symbols_free(struct symbols *symbols)
{
	free(symbols->symbol);
	*symbols = (struct symbols){ 0 };
}

/**
 * symbol_demangle() - a function's name as in its source
 * @name: the symbol
 *
 * Return: the name without arguments, symbol version, and what Go's linker adds for the calling convention, for free().
 */
char *symbol_demangle(const char *name)
{
	size_t length = strlen(name), suffix = strlen(GO_ABI);
	const char *at = strchr(name, '@');
	char *text = NULL, *function;

	if (at && at > name) {
		char *symbol = alloc_check(strndup(name, at - name), 0);

		function = symbol_demangle(symbol);
		free(symbol);
		if (strcmp(at, "@plt"))
			return function;
		alloc_check(asprintf(&text, "%s@plt", function) < 0 ? NULL : text, 0);
		free(function);
		return text;
	}
	if (length > suffix && !strcmp(name + length - suffix, GO_ABI))
		return alloc_check(strndup(name, length - suffix), 0);
	if (name[0] == '_' && (name[1] == 'Z' || name[1] == 'R') &&
	    strnlen(name, SYMBOL_MAX_MANGLED) < SYMBOL_MAX_MANGLED)
		text = cplus_demangle(name, DMGL_AUTO);
	return text ?: alloc_text(name);
}
