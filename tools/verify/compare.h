/* SPDX-License-Identifier: GPL-2.0 */
/* Compare a table with what libdw makes of the file's CFI. */
#ifndef BEE_COMPARE_H
#define BEE_COMPARE_H

#include "elf.h"
#include "libdw.h"
#include "rule_text.h"

/**
 * enum compare_doubt - why it is the file that is wrong where table and libdw disagree
 * @COMPARE_NO_DOUBT: it is not
 * @COMPARE_OVERLAP: FDEs overlap and say different things
 * @COMPARE_UNLISTED: .eh_frame_hdr, in which libdw searches, does not list the FDE
 * @COMPARE_DAMAGED: .eh_frame_hdr is damaged, so that libdw finds other FDEs or none
 */
enum compare_doubt {
	COMPARE_NO_DOUBT,
	COMPARE_OVERLAP,
	COMPARE_UNLISTED,
	COMPARE_DAMAGED,
};

/**
 * struct compare_range - text where table and libdw disagree
 * @start: first pc
 * @end: pc after the last; both sides say one thing in between
 * @doubt: enum compare_doubt
 * @symbol: the function and an offset into it, or ""
 * @oracle: what libdw says
 * @table: what the table says
 */
struct compare_range {
	u64	start;
	u64	end;
	u8	doubt;
	char	symbol[96];
	char	oracle[LIBDW_TEXT_MAX];
	char	table[RULE_TEXT_MAX];
};

/**
 * struct compare_form - rules that a table cannot hold
 * @reason: enum bee_unsupported
 * @rows: rows with them
 * @bytes: of text in these rows
 * @text: the rules
 */
struct compare_form {
	u8	reason;
	u64	rows;
	u64	bytes;
	char	text[LIBDW_TEXT_MAX];
};

/**
 * struct compare_result - what a comparison found
 * @rows: rows of the table
 * @frames: ranges for which libdw has one answer
 * @pcs: pcs looked up and compared
 * @text: bytes of executable segments
 * @gaps: of @text, bytes without FDE
 * @padding: of @gaps, bytes that the table counts to the function before them
 * @go: of @text, bytes that are not compared, as Go's function table describes them
 * @synth: of @gaps, bytes whose rows their code proves
 * @synth_rows: those rows
 * @abi: of @gaps, bytes whose rows are made from their code, and right if it keeps the ABI
 * @abi_rows: those rows
 * @differences: pcs where table and libdw disagree, and not because of the file
 * @contradictory: pcs where they disagree because of the file: enum compare_doubt
 * @overlaps: bytes of text of FDEs that overlap and say different things
 * @outside: FDEs for text that is in no executable segment
 * @shown: ranges where table and libdw disagree, the first @max_shown
 * @nshown: entries in @shown
 * @max_shown: set by the caller
 * @room_shown: ranges there is memory for
 * @forms: what the table cannot hold
 * @nforms: entries in @forms
 * @room_forms: forms there is memory for
 *
 * compare_add() takes what is before @shown for an array of numbers.
 */
struct compare_result {
	u64			 rows;
	u64			 frames;
	u64			 pcs;
	u64			 text;
	u64			 gaps;
	u64			 padding;
	u64			 go;
	u64			 synth;
	u64			 synth_rows;
	u64			 abi;
	u64			 abi_rows;
	u64			 differences;
	u64			 contradictory;
	u64			 overlaps;
	u64			 outside;
	struct compare_range	*shown;
	size_t			 nshown;
	size_t			 max_shown;
	size_t			 room_shown;
	struct compare_form	*forms;
	size_t			 nforms;
	size_t			 room_forms;
};

void compare_file(const struct elf_file *elf, const struct bee_table *table,
		  struct compare_result *result);
void compare_add(struct compare_result *sum, const struct compare_result *result);
void compare_free(struct compare_result *result);

#endif /* BEE_COMPARE_H */
