/* SPDX-License-Identifier: GPL-2.0 */
/* Follow the mappings of managed processes as they change. */
#ifndef BEE_FOLLOW_H
#define BEE_FOLLOW_H

struct mm_struct;
struct vm_area_struct;

void bee_follow_mmap(struct vm_area_struct *vma);
void bee_follow_munmap(struct vm_area_struct *vma, unsigned long start, unsigned long end);
void bee_follow_fork(struct mm_struct *parent, struct mm_struct *child);
void bee_follow_exit(struct mm_struct *mm);

#endif /* BEE_FOLLOW_H */
