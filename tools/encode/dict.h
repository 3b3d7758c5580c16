/* SPDX-License-Identifier: GPL-2.0 */
/* The phrases of one kind as they stand in a table: numbered, with their shapes. */
#ifndef BEE_DICT_H
#define BEE_DICT_H

#include "bits.h"
#include "phrase.h"

/**
 * struct dict - the phrases of one kind
 * @nodes: node by number
 * @shapes: by number: number of its shape among the shapes with as many ops
 * @total: number of nodes
 * @id_bits: width of a phrase number in the table
 * @head: which kind
 * @nphrases: number with i + 1 ops
 * @nshapes: number of their shapes
 * @examples: by ops and shape: a phrase with that shape
 */
struct dict {
	u32	*nodes;
	u32	*shapes;
	u32	 total;
	u32	 id_bits;
	bool	 head;
	u32	 nphrases[BEE_TABLE_MAX_OPS];
	u32	 nshapes[BEE_TABLE_MAX_OPS];
	u32	*examples;
};

void dict_build(struct dict *dict, const struct phrase_set *phrases, bool head, u32 *numbers);
void dict_free(struct dict *dict);
u32 dict_id(const struct dict *dict, u32 number);
u32 dict_body(const struct dict *dict, const struct phrase_set *phrases, u32 number,
		  const u32 *rule_numbers);
void dict_write(const struct dict *dict, const struct phrase_set *phrases,
		    const u32 *rule_numbers, u32 nrules, struct bits *bits);

#endif /* BEE_DICT_H */
