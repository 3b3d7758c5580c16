/* SPDX-License-Identifier: GPL-2.0 */
/* The kernel around kmod/walk.c, in user space: a task without uprobes, and nobody to tell news or to ask. */
#ifndef SELFTESTS_AROUND_WALK_H
#define SELFTESTS_AROUND_WALK_H

#include "ask.h"
#include "frame.h"
#include "uprobe.h"

static const struct test_task test_task = { .tgid = 1 };
const struct test_task *const current = &test_task;
const unsigned long jiffies = 1;
struct irq_work bee_ask_irq;
struct bee_asked bee_asked[BEE_ASKS];
struct irq_work bee_news_irq;
struct llist_head bee_news_list;

void bee_uprobe_locate(struct bee_frame *f)
{
	(void)f;
}

bool bee_uprobe_return(struct bee_uprobes *probes, u64 slot, u64 *ra)
{
	(void)probes;
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
