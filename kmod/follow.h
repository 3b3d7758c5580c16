/* SPDX-License-Identifier: GPL-2.0 */
/* Which processes are followed through exec, and when their files are announced. */
#ifndef BEE_FOLLOW_H
#define BEE_FOLLOW_H

#include <linux/types.h>
#include <linux/beeunwind.h>

struct linux_binprm;
struct vm_area_struct;

enum beeunwind_follow bee_follow_mode(void);
void bee_follow_set_mode(enum beeunwind_follow mode);
enum beeunwind_announce bee_follow_announce(void);
void bee_follow_set_announce(enum beeunwind_announce announce);

void bee_follow_exec(struct linux_binprm *bprm);
void bee_follow_mapping(const struct vm_area_struct *vma, u64 start, u64 end, u64 pgoff);

#endif /* BEE_FOLLOW_H */
