/* SPDX-License-Identifier: GPL-2.0 */
/* Shared by the programs that run in a guest. */
#ifndef BEE_GUEST_H
#define BEE_GUEST_H

#define PAGE	0x1000ul

void guest_die(const char *what, const char *why) __attribute__((noreturn));

#endif /* BEE_GUEST_H */
