// SPDX-License-Identifier: GPL-2.0
/*
 * Text that a program has moved into memory without a file, so that it has huge pages: node with
 * --use-largepages, iodlr, HHVM, Chromium.  The copy is at the addresses of the text, so it is
 * found by the hole that it fills: the nearest mappings of a file below and above it are of one
 * file, both lie where the program headers of this file say, and according to these headers there
 * is text in between.  Then the bytes are compared.
 *
 * All of it is what a process has arranged.  If it has arranged for a table that is not right, its
 * own stacks are wrong.
 */
#include <stddef.h>
#include <string.h>

#include "io.h"
#include "order.h"
#include "remapped.h"

/* In so many mappings without a file is the copy, and what the program has put beside it, at most. */
#define REMAPPED_NEAR	1024

#define PAGE		4096ull
#define PAGE_DOWN(x)	((x) & ~(PAGE - 1))
#define PAGE_UP(x)	PAGE_DOWN((x) + PAGE - 1)

/**
 * remapped_find() - whether memory without a file is between two mappings of one file
 * @maps: what the process has mapped
 * @start: first address
 * @end: address after the last
 * @remapped: filled
 *
 * Return: true if it is, and no more than REMAPPED_NEAR mappings from each of them.
 */
bool remapped_find(const struct maps *maps, u64 start, u64 end, struct remapped *remapped)
{
	size_t low = order_upto(maps->entry, maps->count, sizeof(*maps->entry),
				offsetof(struct maps_entry, end), start);
	size_t high = low, at = low;

	while (high < maps->count && high - at < REMAPPED_NEAR && !maps->entry[high].inode)
		high++;
	while (low && at - low < REMAPPED_NEAR && !maps->entry[low - 1].inode)
		low--;
	if (!low || high == maps->count || !maps->entry[low - 1].inode ||
	    !maps->entry[high].inode || maps->entry[high].start < end)
		return false;
	*remapped = (struct remapped){
		.start = start, .end = end, .before = maps->entry[low - 1],
		.after = maps->entry[high],
	};
	return remapped->before.device == remapped->after.device &&
	       remapped->before.inode == remapped->after.inode;
}

/* Whether a mapping may be that of a segment; @bias: filled: its addresses less the file's. */
static bool segment_is_mapped(const struct elf_segment *load, const struct maps_entry *entry,
			      u64 *bias)
{
	u64 first = PAGE_DOWN(load->offset);

	*bias = entry->start - entry->offset + load->offset - load->vaddr;
	return !(*bias % PAGE) && entry->offset >= first &&
	       entry->offset - first < PAGE_UP(load->offset - first + load->size);
}

/* Whether a range has text if the file is mapped at @bias. */
static bool text_is_at(const struct elf_segment *text, u64 bias, struct remapped *remapped)
{
	u64 first = PAGE_DOWN(text->vaddr), pc = remapped->start - bias;
	u64 size = PAGE_UP(text->vaddr - first + text->size);

	if (text->offset % PAGE != text->vaddr % PAGE || pc < first || pc - first >= size ||
	    remapped->end - remapped->start > size - (pc - first))
		return false;
	remapped->offset = PAGE_DOWN(text->offset) + (pc - first);
	remapped->text = *text;
	return true;
}

static bool place_at(const struct elf_file *elf, u64 bias, struct remapped *remapped)
{
	u64 other;
	size_t i;

	for (i = 0; i < elf->nloads; i++)
		if (segment_is_mapped(&elf->loads[i], &remapped->after, &other) && other == bias)
			break;
	if (i == elf->nloads)
		return false;
	for (i = 0; i < elf->ntext; i++)
		if (text_is_at(&elf->text[i], bias, remapped))
			return true;
	return false;
}

/**
 * remapped_place() - which part of a file's text is missing between its mappings
 * @elf: the file, by elf_identify()
 * @remapped: from remapped_find(); offset and text are filled
 *
 * Return: false if none is.
 */
bool remapped_place(const struct elf_file *elf, struct remapped *remapped)
{
	u64 bias;
	size_t i;

	for (i = 0; i < elf->nloads; i++)
		if (segment_is_mapped(&elf->loads[i], &remapped->before, &bias) &&
		    place_at(elf, bias, remapped))
			return true;
	return false;
}

/* Compare the part of a page that is text: behind it the file and memory may differ. */
static bool page_is_text(struct memory *memory, int fd, const struct remapped *remapped, u64 at)
{
	const struct elf_segment *text = &remapped->text;
	u64 offset = remapped->offset + at, first = 0, end = PAGE;
	u8 there[PAGE], here[PAGE];

	if (offset < text->offset)
		first = text->offset - offset;
	if (offset + PAGE > text->offset + text->size)
		end = text->offset + text->size - offset;
	return memory_read(memory, remapped->start + at + first, here, end - first) &&
	       io_read_at(fd, there, end - first, offset + first) == (ssize_t)(end - first) &&
	       !memcmp(here, there, end - first);
}

/**
 * remapped_is_text() - whether memory has the bytes of the file
 * @memory: of the process
 * @fd: the file
 * @remapped: from remapped_place()
 *
 * Compares the first page, the last and others at equal distances, REMAPPED_PAGES at most.
 *
 * Return: true if they are equal.
 */
bool remapped_is_text(struct memory *memory, int fd, const struct remapped *remapped)
{
	u64 pages = (remapped->end - remapped->start) / PAGE, i;
	u64 count = pages < REMAPPED_PAGES ? pages : REMAPPED_PAGES;

	for (i = 0; i < count; i++)
		if (!page_is_text(memory, fd, remapped,
				  (count > 1 ? i * (pages - 1) / (count - 1) : 0) * PAGE))
			return false;
	return count;
}
