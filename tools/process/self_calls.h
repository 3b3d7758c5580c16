/* SPDX-License-Identifier: GPL-2.0 */
/* System calls whose functions in the kernel the module hooks, made by ourselves. */
#ifndef SELF_CALLS_H
#define SELF_CALLS_H

void call_hooked(void);

#endif /* SELF_CALLS_H */
