/* SPDX-License-Identifier: GPL-2.0 */
/* Notes: what callbacks see where they may neither lock nor allocate, for the worker. */
#ifndef BEE_NOTE_H
#define BEE_NOTE_H

#include <linux/types.h>

struct bee_mm;
struct bee_mm_change;
struct delayed_work;
struct mm_struct;
struct pid;
struct vm_area_struct;
struct workqueue_struct;

/* Defined if BEE_COMPAT_NOTES; otherwise no call of them is compiled. */

int bee_note_init(struct workqueue_struct *wq, struct delayed_work *work);
void bee_note_exit(void);

void bee_note_exec(struct mm_struct *mm, struct pid *pid);
void bee_note_fork(const struct mm_struct *parent, struct mm_struct *child);
void bee_note_mapping(const struct vm_area_struct *vma, u64 start, u64 end, u64 offset,
		      bool announce);
void bee_note_unmap(const struct mm_struct *mm, u64 start, u64 end);
void bee_note_end(const struct mm_struct *mm);
bool bee_note_is_followed(const struct mm_struct *mm);

void bee_note_settle_births(void);
u32 bee_note_count(void);
struct bee_mm *bee_note_next(struct bee_mm_change *change);
void bee_note_again(struct bee_mm *m, const struct bee_mm_change *change);

#endif /* BEE_NOTE_H */
