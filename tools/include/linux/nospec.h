/* SPDX-License-Identifier: GPL-2.0 */
/* In user space whoever chooses the index may read the memory as well. */
#ifndef BEE_SHIM_LINUX_NOSPEC_H
#define BEE_SHIM_LINUX_NOSPEC_H

static inline unsigned long array_index_nospec(unsigned long index, unsigned long size)
{
	(void)size;
	return index;
}

#endif /* BEE_SHIM_LINUX_NOSPEC_H */
