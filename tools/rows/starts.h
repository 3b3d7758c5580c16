/* SPDX-License-Identifier: GPL-2.0 */
/* What a file says of the places in its code: where functions start, and where calls end. */
#ifndef BEE_STARTS_H
#define BEE_STARTS_H

#include "code.h"
#include "relocs.h"

/**
 * enum start - what says that a function starts at a place, and whether the function returns; bits
 * @START_SYMBOL: a symbol of a function
 * @START_ENTRY: DT_INIT or DT_FINI
 * @START_CALL: a call
 * @START_RELOC: a relocated word of data, or one of .init_array or .fini_array
 * @START_WORD: a word of data, in a file that is not position-independent
 * @START_LEA: code that computes the address
 * @START_ENDBR: an endbr64 behind padding or the end of a path
 * @START_GUESS: nothing but the end of what is before it
 * @START_STRONG: any of those that are believed without a look at the code
 * @START_NORETURN: the function does not return
 * @START_ENDS: calls of the function are where functions end, so it does not return unless it has a ret
 */
enum start {
	START_SYMBOL	= 1 << 0,
	START_ENTRY	= 1 << 1,
	START_CALL	= 1 << 2,
	START_RELOC	= 1 << 3,
	START_WORD	= 1 << 4,
	START_LEA	= 1 << 5,
	START_ENDBR	= 1 << 6,
	START_GUESS	= 1 << 7,
	START_STRONG	= START_SYMBOL | START_ENTRY | START_CALL,
	START_NORETURN	= 1 << 8,
	START_ENDS	= 1 << 9,
};

/**
 * struct starts - what is known of the places of code
 * @code: the code
 * @at: enum start, bits for each place
 * @plt: of each gap: it is of a PLT
 * @nplts: sections of PLTs found
 * @relocs: the file's relocations
 * @functions: pcs where functions with rows start, ascending
 * @nfunctions: entries in @functions
 * @named: addresses of data that code names, ascending
 * @nnamed: entries in @named
 * @room_named: addresses there is memory for
 * @ends: words of imports that are called where functions end, ascending
 * @nends: entries in @ends
 * @room_ends: words there is memory for
 * @cut: a bound was reached, so that the file says more than this
 */
struct starts {
	const struct code	*code;
	u16			*at;
	bool			*plt;
	unsigned int		 nplts;
	struct relocs		 relocs;
	const u64		*functions;
	size_t			 nfunctions;
	u64			*named;
	size_t			 nnamed;
	size_t			 room_named;
	u64			*ends;
	size_t			 nends;
	size_t			 room_ends;
	bool			 cut;
};

/**
 * struct start_callee - what a call or jump leads to
 * @place: in the code, or CODE_NOWHERE
 * @import: the word that has its address, if that is in another file or not known; otherwise NULL
 */
struct start_callee {
	size_t			 place;
	const struct reloc	*import;
};

void starts_find(struct starts *starts, const struct code *code, const u64 *functions,
		 size_t nfunctions);
void starts_free(struct starts *starts);
struct start_callee starts_callee(const struct starts *starts, u64 pc);
struct start_callee starts_slot(const struct starts *starts, u64 where);
bool starts_returns(const struct starts *starts, const struct start_callee *callee);
bool starts_has_function(const struct starts *starts, u64 pc);
bool starts_end(const struct starts *starts, size_t at, size_t end);
u64 starts_next_named(const struct starts *starts, u64 address);

#endif /* BEE_STARTS_H */
