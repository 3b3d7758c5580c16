/* SPDX-License-Identifier: GPL-2.0 */
/* The kernel around kmod/walk.c, in user space: a task without uprobes, and nobody who hears of news. */
#ifndef SELFTESTS_AROUND_WALK_H
#define SELFTESTS_AROUND_WALK_H

#include "code.h"
#include "frame.h"
#include "news.h"
#include "store.h"
#include "uprobe.h"
#include "vma.h"

#ifndef BEE_COMPAT_H	/* of who includes kmod/vma.c, too */
/* What is mapped at an address, or NULL. */
static const struct bee_range *around_find(u64 ip);

/* The address space; NULL: nothing that is found is kept for the next walk. */
static const struct mm_struct *around_mm;

void bee_vma_begin(struct bee_vma_ranges *ranges)
{
	if (around_mm && ranges->mm == around_mm)
		return;
	ranges->mm = around_mm;
	ranges->nr = 0;
	ranges->next = 0;
}

/* As in kmod/vma.c, but for the look into the kernel's tree. */
const struct bee_range *bee_vma_look(struct bee_vma_ranges *ranges, const struct bee_range *keep, u64 ip)
{
	const struct bee_range *found = around_find(ip);
	struct bee_range *r;

	ranges->work += BEE_WORK_LOOK;
	if (!found)
		return NULL;
	do {
		r = &ranges->at[ranges->next];
		ranges->next = (ranges->next + 1) % BEE_VMA_RANGES;
	} while (r == keep);
	if (ranges->nr <= r - ranges->at)
		ranges->nr = r - ranges->at + 1;
	*r = *found;
	return r;
}
#endif

const unsigned long jiffies = 1;
struct bee_file bee_file_unknown;
u32 bee_store_changes;
u32 bee_code_nr;

const struct bee_code *bee_code_current(void)
{
	return NULL;
}

const struct bee_range *bee_code_find(const struct bee_code_ranges *ranges, u64 ip)
{
	(void)ranges;
	(void)ip;
	return NULL;
}

void bee_news_add(enum beeunwind_news kind, const void *what, u64 start, u64 end)
{
	(void)kind;
	(void)what;
	(void)start;
	(void)end;
}

void bee_uprobe_locate(struct bee_frame *f)
{
	(void)f;
}

bool bee_uprobe_return(struct bee_uprobes *probes, s32 *left, u64 slot, u64 *ra)
{
	(void)probes;
	(void)left;
	(void)slot;
	(void)ra;
	return false;
}

bool bee_uprobe_step(struct bee_uprobes *probes, struct bee_uread *mem, struct bee_frame *f)
{
	(void)probes;
	(void)mem;
	(void)f;
	return false;
}

#endif /* SELFTESTS_AROUND_WALK_H */
