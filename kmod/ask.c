// SPDX-License-Identifier: GPL-2.0
/*
 * What walks ask for that they cannot do themselves.
 *
 * A walk in NMI context can only write into an array and raise an irq_work, which can only queue a
 * work item.
 */
#include <linux/sched.h>
#include <linux/workqueue.h>

#include "ask.h"

#define ASK_DELAY	(HZ / 10)

static struct workqueue_struct *ask_wq;
static bee_ask_answer_t ask_answer;
static bool ask_stopped;

struct bee_asked bee_asked[BEE_ASKS];

static void ask_work_fn(struct work_struct *work)
{
	struct bee_asked *asked;
	enum bee_ask_kind kind;
	u64 id;

	for (asked = bee_asked; asked < bee_asked + BEE_ASKS; asked++) {
		if (atomic_read_acquire(&asked->state) != BEE_ASK_READY)
			continue;
		kind = asked->kind;
		id = asked->id;
		atomic_set_release(&asked->state, BEE_ASK_FREE);
		ask_answer(kind, id);
		cond_resched();
	}
}

static DECLARE_DELAYED_WORK(ask_work, ask_work_fn);

static void ask_raised(struct irq_work *work)
{
	if (!READ_ONCE(ask_stopped))
		queue_delayed_work(ask_wq, &ask_work, ASK_DELAY);
}

struct irq_work bee_ask_irq = IRQ_WORK_INIT(ask_raised);

/** bee_ask_init() - @answer does what is asked for; @wq runs it.  Context: Process. */
void bee_ask_init(struct workqueue_struct *wq, bee_ask_answer_t answer)
{
	ask_wq = wq;
	ask_answer = answer;
}

/** bee_ask_exit() - there are no walks any more; nothing is answered.  Context: Process, sleeps. */
void bee_ask_exit(void)
{
	WRITE_ONCE(ask_stopped, true);
	irq_work_sync(&bee_ask_irq);
	cancel_delayed_work_sync(&ask_work);
}
