/* SPDX-License-Identifier: GPL-2.0 */
/* Assertions of the compiler, by their kernel names. */
#ifndef BEE_SHIM_LINUX_BUILD_BUG_H
#define BEE_SHIM_LINUX_BUILD_BUG_H

#define BUILD_BUG_ON(condition)	_Static_assert(!(condition), "BUILD_BUG_ON: " #condition)

#endif /* BEE_SHIM_LINUX_BUILD_BUG_H */
