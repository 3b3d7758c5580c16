/* SPDX-License-Identifier: GPL-2.0 */
/* The reverse map: from a file to the address spaces that have it mapped. */
#ifndef BEE_RMAP_H
#define BEE_RMAP_H

#include <linux/list.h>
#include <linux/types.h>

struct bee_file;
struct bee_map;

/**
 * struct bee_rmap_node - a range, in the list of its file
 * @in_file: in @rmap of the file (@rmap_lock of the file, RCU for reading)
 * @map: the map that has the range (I)
 *
 * There is one for each range with a file, so it is small.  It is freed a grace period after it was
 * unlinked, and its map not before.
 *
 * I: set before it is linked.
 */
struct bee_rmap_node {
	struct hlist_node	 in_file;
	struct bee_map		*map;
};

int bee_rmap_init(void);
void bee_rmap_exit(void);

struct bee_rmap_node *bee_rmap_link(struct bee_file *f, struct bee_map *map, gfp_t gfp);
void bee_rmap_unlink(struct bee_file *f, struct bee_rmap_node *node);
void bee_rmap_free(struct bee_rmap_node *node);

#endif /* BEE_RMAP_H */
