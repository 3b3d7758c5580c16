// SPDX-License-Identifier: GPL-2.0
/* The phrases of one kind as they stand in a table: numbered, with their shapes. */
#include <string.h>

#include "alloc.h"
#include "dict.h"
#include "kmod/table.h"
#include "order.h"

/* A phrase or a shape, by what it is sorted: number of ops, uses, and its node. */
struct dict_key {
	u32	nops;
	u32	count;
	u32	node;
};

static int dict_compare(const void *a, const void *b)
{
	const struct dict_key *x = a, *y = b;

	return order(x->nops, y->nops) ?: order(y->count, x->count) ?: order(x->node, y->node);
}

/* The nodes in use of a kind, sorted; all nodes of a set of shapes are step phrases. */
static struct dict_key *dict_sorted(const struct phrase_set *set, bool head, u32 *n)
{
	struct dict_key *keys = alloc_array(NULL, set->nnodes, sizeof(*keys));
	size_t i;

	*n = 0;
	for (i = 2; i < set->nnodes; i++) {
		const struct phrase_node *node = &set->nodes[i];

		if (node->count && node->head == head)
			keys[(*n)++] = (struct dict_key){ node->nops, node->count, i };
	}
	qsort(keys, *n, sizeof(*keys), dict_compare);
	return keys;
}

/* The shape of a step phrase: the node in @shapes with its ops, without distances. */
static u32 dict_shape(struct phrase_set *shapes, const struct phrase_set *phrases, u32 node)
{
	const struct phrase_node *n = &phrases->nodes[node];

	if (!n->nops)
		return PHRASE_STEP;
	return phrase_add(shapes, dict_shape(shapes, phrases, n->parent), n->op, 0);
}

static void dict_number_shapes(struct dict *dict, struct phrase_set *shapes)
{
	u32 *number = alloc_array(NULL, shapes->nnodes, sizeof(*number));
	u32 i, n, *example;
	struct dict_key *keys = dict_sorted(shapes, false, &n);

	for (i = 0; i < n; i++)
		number[keys[i].node] = dict->nshapes[keys[i].nops - 1]++;
	dict->examples = alloc_array(NULL, n + 1, sizeof(*dict->examples));
	example = alloc_array(NULL, shapes->nnodes, sizeof(*example));
	for (i = dict->total; i-- > 0;)
		example[dict->shapes[i]] = dict->nodes[i];
	for (i = 0; i < n; i++)
		dict->examples[i] = example[keys[i].node];
	for (i = 0; i < dict->total; i++)
		dict->shapes[i] = number[dict->shapes[i]];
	free(example);
	free(number);
	free(keys);
}

/**
 * dict_build() - number the phrases of a kind that are in use
 * @dict: filled; dict_free() releases it
 * @phrases: counted phrases
 * @head: which kind
 * @numbers: by node: filled with the number of the phrase
 *
 * Phrases with fewer ops come first; of these the most used; of these the one found first.
 */
void dict_build(struct dict *dict, const struct phrase_set *phrases, bool head, u32 *numbers)
{
	struct phrase_set shapes;
	struct dict_key *keys;
	u32 i;

	*dict = (struct dict){ .head = head };
	keys = dict_sorted(phrases, head, &dict->total);
	dict->nodes = alloc_array(NULL, dict->total + 1, sizeof(*dict->nodes));
	dict->shapes = alloc_array(NULL, dict->total + 1, sizeof(*dict->shapes));
	phrase_init(&shapes);
	for (i = 0; i < dict->total; i++) {
		u32 node = keys[i].node, parent = phrases->nodes[node].parent;

		numbers[node] = i;
		dict->nodes[i] = node;
		dict->nphrases[keys[i].nops - 1]++;
		/* Phrases that differ in the last op of a head, its body rule, have one shape. */
		dict->shapes[i] = head ?
			phrase_add(&shapes, dict_shape(&shapes, phrases, parent), 0, 0) :
			dict_shape(&shapes, phrases, node);
		shapes.nodes[dict->shapes[i]].count += keys[i].count;
	}
	for (i = 0; i < BEE_TABLE_MAX_OPS; i++)
		if (3 + bee_table_width(dict->nphrases[i]) > dict->id_bits)
			dict->id_bits = 3 + bee_table_width(dict->nphrases[i]);
	dict_number_shapes(dict, &shapes);
	phrase_free(&shapes);
	free(keys);
}

/* dict_id(): the number in the table of the phrase with number @number in @dict */
u32 dict_id(const struct dict *dict, u32 number)
{
	u32 group;

	for (group = 0; number >= dict->nphrases[group]; group++)
		number -= dict->nphrases[group];
	return number * BEE_TABLE_MAX_OPS + group;
}

void dict_free(struct dict *dict)
{
	free(dict->nodes);
	free(dict->shapes);
	free(dict->examples);
}

/* dict_body(): number in the table of the body rule of head phrase @number */
u32 dict_body(const struct dict *dict, const struct phrase_set *phrases, u32 number,
		  const u32 *rule_numbers)
{
	return rule_numbers[phrases->nodes[dict->nodes[number]].op - BEE_OP_RULE];
}

/**
 * dict_write() - append the phrases, then the shapes
 * @dict: the phrases
 * @phrases: their nodes
 * @rule_numbers: number in the table of each rule of the row set
 * @nrules: rules in the table
 * @bits: appended to; starts and ends at a byte
 */
void dict_write(const struct dict *dict, const struct phrase_set *phrases,
		    const u32 *rule_numbers, u32 nrules, struct bits *bits)
{
	u32 width = bee_table_width(dict->head ? nrules : BEE_OP_RULE + nrules);
	u32 group, i, j, n, at = 0, ops[BEE_TABLE_MAX_OPS] = {};
	u8 deltas[BEE_TABLE_MAX_OPS] = {};

	for (group = 0; group < BEE_TABLE_MAX_OPS; group++) {
		for (i = 0; i < dict->nphrases[group]; i++, at++) {
			if (dict->head)
				bits_put(bits, dict_body(dict, phrases, at, rule_numbers), width);
			bits_put(bits, dict->shapes[at], bee_table_width(dict->nshapes[group]));
			phrase_spell(phrases, dict->nodes[at], ops, deltas);
			for (j = !dict->head; j <= group; j++)
				bits_put(bits, deltas[j], 4);
		}
		bits_align(bits);
	}
	for (group = 0, at = 0; group < BEE_TABLE_MAX_OPS; group++) {
		for (i = 0; i < dict->nshapes[group]; i++, at++) {
			phrase_spell(phrases, dict->examples[at], ops, deltas);
			/* Head phrases: rules, without the last one. */
			n = dict->head ? group : group + 1;
			for (j = 0; j < n; j++) {
				u32 op = ops[j];

				if (op >= BEE_OP_RULE)
					op = rule_numbers[op - BEE_OP_RULE] +
					     (dict->head ? 0 : BEE_OP_RULE);
				bits_put(bits, op, width);
			}
		}
		bits_align(bits);
	}
}
