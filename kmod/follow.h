/* SPDX-License-Identifier: GPL-2.0 */
/* Which processes are followed through exec, and when their files are announced. */
#ifndef BEE_FOLLOW_H
#define BEE_FOLLOW_H

#include <linux/types.h>
#include <linux/beeunwind.h>

struct linux_binprm;
struct mm_struct;
struct vm_area_struct;

/**
 * struct bee_follow_settings - what is followed, and announced
 * @follow: enum beeunwind_follow; the higher value includes the lower one
 * @announce: enum beeunwind_announce; likewise
 * @code: code without a file is announced, too
 */
struct bee_follow_settings {
	u32	follow;
	u32	announce;
	bool	code;
};

/*
 * Settings, for later execs and mappings: which processes become managed at exec, and when a file
 * without a table is announced.  Any context, by READ_ONCE(); written by follow.c only.
 */
extern enum beeunwind_follow bee_follow_mode;
extern enum beeunwind_announce bee_follow_announce;

void bee_follow_set(const u32 *follow, const u32 *announce);
int bee_follow_hold(u32 portid, const u32 *follow, const u32 *announce, bool code);
void bee_follow_release(u32 portid);
void bee_follow_exit(void);

void bee_follow_exec(struct linux_binprm *bprm);
void bee_follow_end(const struct mm_struct *mm);
void bee_follow_mapping(const struct vm_area_struct *vma, u64 start, u64 end, u64 pgoff);

#endif /* BEE_FOLLOW_H */
