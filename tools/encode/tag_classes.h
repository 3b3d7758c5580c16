/* SPDX-License-Identifier: GPL-2.0 */
/* Tag classes: which sixteen pairs of field widths suit the tokens of a file best. */
#ifndef BEE_TAG_CLASSES_H
#define BEE_TAG_CLASSES_H

#include <linux/types.h>
#include <linux/beeunwind_table.h>

#define TAG_WIDTHS	15
#define TAG_DIRECT	14	/* stands for a phrase that has no place in the menu */

/**
 * struct tag_classes - tokens counted by the field widths they need, and the classes for them
 * @counts: by kind, bits of the gap, and bits of the place or TAG_DIRECT
 * @id_bits: by kind: bits of a phrase number
 * @menu_bits: by kind: log2 places of a menu
 * @classes: found
 * @best: by kind, gap and place as in @counts: the class to use
 */
struct tag_classes {
	u32			counts[2][TAG_WIDTHS][TAG_WIDTHS];
	u32			id_bits[2];
	u32			menu_bits[2];
	struct bee_table_class	classes[BEE_TABLE_CLASSES];
	u8			best[2][TAG_WIDTHS][TAG_WIDTHS];
};

void tag_classes_fit(struct tag_classes *tags);

#endif /* BEE_TAG_CLASSES_H */
