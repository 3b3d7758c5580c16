/* SPDX-License-Identifier: GPL-2.0 */
/* The copy function that kmod/uread.h calls; the test defines it. */
#ifndef BEE_TEST_LINUX_UACCESS_H
#define BEE_TEST_LINUX_UACCESS_H

#define __user

static unsigned long copy_from_user_nmi(void *to, const void __user *from, unsigned long n);

#endif /* BEE_TEST_LINUX_UACCESS_H */
