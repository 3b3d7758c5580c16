// SPDX-License-Identifier: GPL-2.0
/*
 * News: tell user space, once, that a file has no table.
 *
 * A walk in NMI context can only put the file into a list and raise an irq_work, which can only
 * queue a work item, which sends the message.
 */
#include <linux/workqueue.h>

#include "news.h"

static struct workqueue_struct *news_wq;
static bee_news_tell_t news_tell;
static bool news_stopped;

LLIST_HEAD(bee_news_list);

/* @tell: NULL to drop what is to be told. */
static void news_drain(bee_news_tell_t tell)
{
	struct llist_node *node = llist_reverse_order(llist_del_all(&bee_news_list));
	struct bee_file *f, *next;
	bool told;

	/* As soon as it is NEWS_TOLD a file can be reset and enter the list again. */
	llist_for_each_entry_safe(f, next, node, news.node) {
		/* Before the message: its receiver can add a table, and remove it, at once. */
		atomic_set(&f->news.state, NEWS_TOLD);
		rcu_read_lock();
		/* A file without users has been forgotten, or is idle. */
		told = tell && bee_file_users(f) && !rcu_access_pointer(f->table) && tell(f);
		rcu_read_unlock();
		if (!told)
			bee_news_reset(f);
		bee_file_put_live(f);
		cond_resched();
	}
}

static void news_work_fn(struct work_struct *work)
{
	news_drain(news_tell);
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
 * bee_news_stop() - send no more messages; files may still be announced
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

/** bee_news_exit() - drop what is left; no file is announced any more.  Context: Process. */
void bee_news_exit(void)
{
	irq_work_sync(&bee_news_irq);
	news_drain(NULL);
}
