// SPDX-License-Identifier: GPL-2.0
/*
 * News: tell user space, once, that a file has no table.
 *
 * A walk in NMI context can only raise an irq_work, which can only queue a work item, which
 * sends the message.
 */
#include <linux/workqueue.h>

#include "news.h"

static struct workqueue_struct *news_wq;
static bee_news_tell_t news_tell;
static bool news_stopped;

static void news_work_fn(struct work_struct *work)
{
	struct bee_file *f;

	rcu_read_lock();
	list_for_each_entry_rcu(f, &bee_file_list, node) {
		if (atomic_read_acquire(&f->news.state) != NEWS_READY ||
		    rcu_access_pointer(f->table))
			continue;
		atomic_set(&f->news.state, news_tell(f) ? NEWS_TOLD : NEWS_NONE);
	}
	rcu_read_unlock();
}

static DECLARE_WORK(news_work, news_work_fn);

static void news_raised(struct irq_work *work)
{
	if (!READ_ONCE(news_stopped))
		queue_work(news_wq, &news_work);
}

struct irq_work bee_news_irq = IRQ_WORK_INIT(news_raised);

/** bee_news_init() - @tell sends the message about a file; @wq runs it.  Context: Process. */
void bee_news_init(struct workqueue_struct *wq, bee_news_tell_t tell)
{
	news_wq = wq;
	news_tell = tell;
}

/**
 * bee_news_stop() - tell no more; files may still be announced
 *
 * Context: Process, may sleep.
 */
void bee_news_stop(void)
{
	WRITE_ONCE(news_stopped, true);
	/*
	 * Callbacks that do not see that are over after a grace period, and a news_raised() that
	 * does not after irq_work_sync(); later ones queue nothing.
	 */
	synchronize_rcu();
	irq_work_sync(&bee_news_irq);
	cancel_work_sync(&news_work);
}

/** bee_news_exit() - wait for bee_news_irq; nothing is announced any more.  Context: Process. */
void bee_news_exit(void)
{
	irq_work_sync(&bee_news_irq);
}
