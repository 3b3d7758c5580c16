/* SPDX-License-Identifier: GPL-2.0 */
/* The nodes of include/linux/maple_tree.h of a 64-bit kernel, as far as maple.h reads them. */
#ifndef TEST_MAPLE_TREE_H
#define TEST_MAPLE_TREE_H

#include "kernel.h"

#define MAPLE_RANGE64_SLOTS	16
#define MAPLE_ARANGE64_SLOTS	10
#define MAPLE_NODE_MASK		255ul
#define MAPLE_NODE_TYPE_MASK	0x0f
#define MAPLE_NODE_TYPE_SHIFT	3

enum maple_type {
	maple_dense,
	maple_leaf_64,
	maple_range_64,
	maple_arange_64,
};

struct maple_range_64 {
	void		*parent;
	unsigned long	 pivot[MAPLE_RANGE64_SLOTS - 1];
	void		*slot[MAPLE_RANGE64_SLOTS];
};

struct maple_arange_64 {
	void		*parent;
	unsigned long	 pivot[MAPLE_ARANGE64_SLOTS - 1];
	void		*slot[MAPLE_ARANGE64_SLOTS];
	unsigned long	 gap[MAPLE_ARANGE64_SLOTS];
};

struct maple_node {
	union {
		void			*parent;
		struct maple_range_64	 mr64;
		struct maple_arange_64	 ma64;
	};
} __attribute__((aligned(256)));

#endif /* TEST_MAPLE_TREE_H */
