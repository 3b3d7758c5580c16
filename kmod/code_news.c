// SPDX-License-Identifier: GPL-2.0
/*
 * News of code: tell user space that a process has code in memory that is not mapped from a file.
 *
 * A walk in NMI context can only put the address space into an array and raise an irq_work, which
 * can only queue a work item, which sends the message.
 */
#include <linux/workqueue.h>

#include "code_news.h"

static struct workqueue_struct *code_wq;
static bee_code_tell_t code_tell;
static bool code_stopped;
static u32 code_wishes;

struct bee_code_news bee_code_news[BEE_CODE_NEWS];
u32 bee_code_wish;	/* number of the last listener; 0: nobody listens */

static void code_work_fn(struct work_struct *work)
{
	struct bee_code_news *news;

	for (news = bee_code_news; news < bee_code_news + BEE_CODE_NEWS; news++) {
		if (atomic_read_acquire(&news->state) != BEE_CODE_READY)
			continue;
		code_tell(news);
		atomic_set_release(&news->state, BEE_CODE_FREE);
	}
}

static DECLARE_WORK(code_work, code_work_fn);

static void code_raised(struct irq_work *work)
{
	if (!READ_ONCE(code_stopped))
		queue_work(code_wq, &code_work);
}

struct irq_work bee_code_irq = IRQ_WORK_INIT(code_raised);

/**
 * bee_code_want() - begin or end to tell user space of code
 * @wanted: true for each new listener, which is also told of code that earlier listeners know;
 *	false when the last listener has gone
 *
 * Context: Process; the caller serialises calls.
 */
void bee_code_want(bool wanted)
{
	if (wanted && !++code_wishes)
		code_wishes = 1;
	WRITE_ONCE(bee_code_wish, wanted ? code_wishes : 0);
}

/** bee_code_init() - @tell sends the message; @wq runs it.  Context: Process. */
void bee_code_init(struct workqueue_struct *wq, bee_code_tell_t tell)
{
	code_wq = wq;
	code_tell = tell;
}

/**
 * bee_code_stop() - send no more messages; walks may still announce code
 *
 * Context: Process, may sleep.
 */
void bee_code_stop(void)
{
	WRITE_ONCE(code_stopped, true);
	/* As in bee_news_stop(). */
	synchronize_rcu();
	irq_work_sync(&bee_code_irq);
	cancel_work_sync(&code_work);
}

/** bee_code_exit() - walks announce code no longer.  Context: Process, may sleep. */
void bee_code_exit(void)
{
	irq_work_sync(&bee_code_irq);
}
