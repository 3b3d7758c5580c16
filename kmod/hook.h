/* SPDX-License-Identifier: GPL-2.0 */
/* The hooks: which functions of the kernel call the module, by ftrace. */
#ifndef BEE_HOOK_H
#define BEE_HOOK_H

#include <linux/beeunwind.h>

int bee_hook_init(void);
void bee_hook_exit(void);
int bee_hook_enable(void);
int bee_hook_disable(void);
enum beeunwind_hook_state bee_hook_state(void);
const char *bee_hook_advice(int err);
void bee_hook_list_uncalled(char *names, size_t size);

#endif /* BEE_HOOK_H */
