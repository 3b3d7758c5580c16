/* SPDX-License-Identifier: GPL-2.0 */
/* Menus: the likely phrases, by rank; for step phrases several, of which a body rule uses one. */
#ifndef BEE_MENU_H
#define BEE_MENU_H

#include "dict.h"
#include "tokens.h"

#define MENU_NO_RANK	0xffff

/**
 * struct menu_set - the menus of one kind of phrases
 * @nmenus: number of menus
 * @bits: log2 places in each
 * @of_rule: of steps: menu by body rule; NULL for heads
 * @places: phrase numbers, menu by menu
 * @ranks: by menu and phrase number: its place, or MENU_NO_RANK
 */
struct menu_set {
	u32	 nmenus;
	u32	 bits;
	u8	*of_rule;
	u32	*places;
	u16	*ranks;
};

void menu_fit_head(struct menu_set *menus, const struct tokens *tokens, const struct dict *dict);
void menu_fit_step(struct menu_set *menus, const struct tokens *tokens, const struct dict *dict,
		       const u32 *numbers);
u8 *menu_costs(const struct menu_set *menus, const struct dict *dict);
void menu_free(struct menu_set *menus);

#endif /* BEE_MENU_H */
