/* SPDX-License-Identifier: GPL-2.0 */
/* What requests may do to managed address spaces; request.c has the locking. */
#ifndef BEE_MM_IMPL_H
#define BEE_MM_IMPL_H

#include "mm.h"

struct bee_mm *bee_mm_new(struct mm_struct *mm, struct pid *pid, gfp_t gfp);
struct bee_map *bee_managed_hold(const struct bee_mm *m, u64 *generation);
bool bee_managed_commit(struct bee_mm *m, u64 generation, struct bee_map *map);
void bee_managed_state(const struct bee_mm *m, struct bee_mm_state *state);
bool bee_mm_forget_cookie(u64 cookie);
void bee_mm_look_again(void);

#endif /* BEE_MM_IMPL_H */
