/* SPDX-License-Identifier: GPL-2.0 */
/* Follow processes and their mappings as they change. */
#ifndef BEE_FOLLOW_H
#define BEE_FOLLOW_H

#include <linux/beeunwind.h>

struct linux_binprm;
struct mm_struct;
struct vm_area_struct;

enum beeunwind_follow bee_follow_mode(void);
void bee_follow_set_mode(enum beeunwind_follow mode);
enum beeunwind_announce bee_follow_announce(void);
void bee_follow_set_announce(enum beeunwind_announce announce);

void bee_follow_exec(struct linux_binprm *bprm);
void bee_follow_mmap(struct vm_area_struct *vma);
void bee_follow_mremap(struct vm_area_struct *vma, unsigned long start, unsigned long len,
		       unsigned long pgoff);
void bee_follow_munmap(struct vm_area_struct *vma, unsigned long start, unsigned long end);
void bee_follow_fork(struct mm_struct *parent, struct mm_struct *child);
void bee_follow_exit(struct mm_struct *mm);

#endif /* BEE_FOLLOW_H */
