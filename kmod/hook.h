/* SPDX-License-Identifier: GPL-2.0 */
/* The hooks: which functions of the kernel call the module, by ftrace. */
#ifndef BEE_HOOK_H
#define BEE_HOOK_H

#include <linux/beeunwind.h>

int bee_hook_init(void);
void bee_hook_exit(void);
void bee_hook_set_state(enum beeunwind_hook_state state);
enum beeunwind_hook_state bee_hook_state(void);

#endif /* BEE_HOOK_H */
