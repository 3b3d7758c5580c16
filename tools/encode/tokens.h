/* SPDX-License-Identifier: GPL-2.0 */
/* From rows to tokens: the cheapest way to say them in phrases. */
#ifndef BEE_TOKENS_H
#define BEE_TOKENS_H

#include "phrase.h"
#include "rows.h"

/**
 * struct token - one token of the table
 * @at: byte from the origin
 * @phrase: its phrase's node
 * @body: number of the body rule that holds with it
 */
struct token {
	u32	at;
	u32	phrase;
	u32	body;
};

/**
 * struct tokens - the rows of a file, and the tokens that say them
 * @rows: the rows
 * @words: by rule: its four-byte form, without menu
 * @origin: pc of the first window
 * @window: log2 bytes of a window
 * @grain: log2 bytes that head tokens are aligned to
 * @plain: one step token for each row, for a file whose phrases exceed a dictionary
 * @candidates: how many body rules to try for each function
 * @phrases: the phrases in use and their costs
 * @places: cost of a step phrase's place by menu and phrase number; NULL before there are menus
 * @menus: menu by body rule, for @places
 * @numbers: phrase number by node, PHRASE_NONE for others, for @places
 * @nnumbers: nodes that there are numbers for
 * @nsteps: step phrases in each menu's @places
 * @token: ascending by @at
 * @ntokens: entries in @token
 * @room: tokens there is memory for
 */
struct tokens {
	const struct row_set	*rows;
	const u32		*words;
	u64			 origin;
	unsigned int		 window;
	unsigned int		 grain;
	bool			 plain;
	unsigned int		 candidates;
	struct phrase_set	*phrases;
	const u8		*places;
	const u8		*menus;
	const u32		*numbers;
	size_t			 nnumbers;
	u32			 nsteps;
	struct token		*token;
	size_t			 ntokens;
	size_t			 room;
};

void tokens_find(struct tokens *tokens);

#endif /* BEE_TOKENS_H */
