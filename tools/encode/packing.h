/* SPDX-License-Identifier: GPL-2.0 */
/* A table in the making: what pack.c, window.c and page.c share. */
#ifndef BEE_PACKING_H
#define BEE_PACKING_H

#include "bits.h"
#include "dict.h"
#include "elf.h"
#include "menu.h"
#include "tokens.h"
#include "tag_classes.h"

/**
 * struct pack_window - a window: what holds at its start, and where its tokens are
 * @first: its first token; that of the window behind it is the end
 * @body: body rule at its start, PACK_NO_BODY if nothing refers to it
 * @rule: rule at its first byte
 * @state: enum window_state
 * @asked: the state matters: there is text before the first token
 * @loose: no token refers to the body rule, so it may be what the state says, or any
 * @end: bit in the stream where it ends
 */
struct pack_window {
	u32	first;
	u32	body;
	u32	rule;
	u8	state;
	bool	asked;
	bool	loose;
	u64	end;
};

#define PACK_NO_BODY	(~0u)

/**
 * struct pack - a table in the making
 * @elf: the file
 * @rows: its rows
 * @parse: its tokens
 * @phrases: the phrases that they use
 * @words: rules in four bytes, without menu and number of a full rule
 * @numbers: phrase number by node
 * @dicts: head and step phrases by number
 * @menus: of heads and steps
 * @tags: the classes of tokens
 * @windows: all windows, and one more for the end
 * @nwindows: number of them, without that one
 * @rule_numbers: number in the table by rule
 * @rules: rule by number in the table
 * @nrules: number of those
 * @body_bits: width of a short body rule number
 * @stream: the bits of all windows
 * @page: log2 windows in a page
 * @border_bits: width of a border
 */
struct pack {
	const struct elf_file	*elf;
	const struct row_set	*rows;
	struct parse		 parse;
	struct phrase_set	 phrases;
	u32			*words;
	u32			*numbers;
	struct dict		 dicts[2];
	struct menu_set		 menus[2];
	struct tags		 tags;
	struct pack_window	*windows;
	u32			 nwindows;
	u32			*rule_numbers;
	u32			*rules;
	u32			 nrules;
	u32			 body_bits;
	struct bits		 stream;
	u32			 page;
	u32			 border_bits;
};

void window_find(struct pack *p);
void window_fit_tags(struct pack *p);
void window_write(struct pack *p);
void page_choose_size(struct pack *p);
void page_write(const struct pack *p, struct bits *directory, struct bits *records);

#endif /* BEE_PACKING_H */
