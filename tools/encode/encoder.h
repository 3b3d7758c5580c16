/* SPDX-License-Identifier: GPL-2.0 */
/* A table in the making: what encode.c, window.c and page.c share. */
#ifndef BEE_ENCODER_H
#define BEE_ENCODER_H

#include "bits.h"
#include "dict.h"
#include "menu.h"
#include "tokens.h"
#include "tag_classes.h"

struct table_info;

/**
 * struct window - the state that a window begins with, and its tokens
 * @first: its first token; its last is the one before @first of the next window
 * @body: body rule at its start; WINDOW_NO_BODY if neither state nor tokens refer to it
 * @rule: rule at its first byte
 * @state: BEE_WINDOW_*
 * @asked: there is text before the first token, so @state has to be right
 * @loose: no token refers to @body, so it may be any that @state allows
 * @end: bit in the stream where it ends
 */
struct window {
	u32	first;
	u32	body;
	u32	rule;
	u8	state;
	bool	asked;
	bool	loose;
	u64	end;
};

#define WINDOW_NO_BODY	(~0u)

/**
 * struct encoder - a table in the making
 * @info: what the table says of its file
 * @rows: the file's rows
 * @tokens: its tokens
 * @phrases: the phrases that @tokens use
 * @words: by rule: its four-byte form, without menu and without number of a full rule
 * @numbers: phrase number by node
 * @dicts: head and step phrases by number
 * @menus: of heads and steps
 * @tags: the classes of tokens
 * @windows: all windows, and one more for the end
 * @nwindows: number of @windows, without the one for the end
 * @rule_numbers: number in the table by rule
 * @rules: rule by number in the table
 * @nrules: number of @rules
 * @body_bits: width of a short body rule number
 * @stream: the bits of all windows
 * @page: log2 windows in a page
 * @border_bits: width of a border
 */
struct encoder {
	const struct table_info	*info;
	const struct row_set	*rows;
	struct tokens		 tokens;
	struct phrase_set	 phrases;
	u32			*words;
	u32			*numbers;
	struct dict		 dicts[2];
	struct menu_set		 menus[2];
	struct tag_classes	 tags;
	struct window		*windows;
	u32			 nwindows;
	u32			*rule_numbers;
	u32			*rules;
	u32			 nrules;
	u32			 body_bits;
	struct bits		 stream;
	u32			 page;
	u32			 border_bits;
};

void window_find(struct encoder *e);
void window_fit_tags(struct encoder *e);
void window_write(struct encoder *e);
void page_choose_size(struct encoder *e);
void page_write(const struct encoder *e, struct bits *directory, struct bits *records);

#endif /* BEE_ENCODER_H */
