/* SPDX-License-Identifier: GPL-2.0 */
/* News of code: tell user space that a process has code in memory, not mapped from a file. */
#ifndef BEE_CODE_NEWS_H
#define BEE_CODE_NEWS_H

#include <linux/irq_work.h>
#include <linux/jiffies.h>
#include <linux/sched.h>

struct workqueue_struct;

/*
 * struct bee_code_told - what user space was told of the code of an address space; zero: nothing
 * @what: upper half: the number of the listener; lower half: the generation of the ranges
 * @next: jiffies before which that listener is not told again
 */
struct bee_code_told {
	atomic64_t	what;
	unsigned long	next;
};

/*
 * enum bee_code_state - state of an element of bee_code_news[]
 * @BEE_CODE_FREE: not in use
 * @BEE_CODE_TAKEN: one CPU is filling it
 * @BEE_CODE_READY: filled, the message is to be sent
 */
enum bee_code_state {
	BEE_CODE_FREE,
	BEE_CODE_TAKEN,
	BEE_CODE_READY,
};

/*
 * struct bee_code_news - an address space with code that user space is to be told of
 * @state: enum bee_code_state
 * @cookie: the address space
 *
 * At most BEE_CODE_NEWS of them wait to be told; a walk that finds none free leaves the
 * announcement to a later sample.
 */
struct bee_code_news {
	atomic_t	state;
	u64		cookie;
};

#define BEE_CODE_NEWS	16

typedef void (*bee_code_tell_t)(const struct bee_code_news *news);

/* For bee_code_announce() */
extern struct bee_code_news bee_code_news[BEE_CODE_NEWS];
extern struct irq_work bee_code_irq;
extern u32 bee_code_wish;

void bee_code_init(struct workqueue_struct *wq, bee_code_tell_t tell);
void bee_code_want(bool wanted);
void bee_code_stop(void);
void bee_code_exit(void);

/* Return: a free element, now in state BEE_CODE_TAKEN, or NULL. */
static inline struct bee_code_news *bee_code_news_take(void)
{
	int i;

	for (i = 0; i < BEE_CODE_NEWS; i++)
		if (atomic_read(&bee_code_news[i].state) == BEE_CODE_FREE &&
		    atomic_cmpxchg(&bee_code_news[i].state, BEE_CODE_FREE,
				   BEE_CODE_TAKEN) == BEE_CODE_FREE)
			return &bee_code_news[i];
	return NULL;
}

/**
 * bee_code_announce() - have user space told of code without a table in current's address space
 * @told: the address space's
 * @cookie: the address space
 * @generation: of its ranges, as far as this CPU knows
 *
 * Does nothing unless somebody listens.  Announces each generation once, and at most one a second:
 * a newer generation waits for the first sample after that second.
 *
 * Context: Any, NMI-safe.
 */
static inline void bee_code_announce(struct bee_code_told *told, u64 cookie, u64 generation)
{
	u32 wish = READ_ONCE(bee_code_wish);
	u64 what = (u64)wish << 32 | (u32)generation, before = atomic64_read(&told->what);
	struct bee_code_news *news;

	if (!wish || what == before)
		return;
	if (before >> 32 == wish && time_before(jiffies, READ_ONCE(told->next)))
		return;
	news = bee_code_news_take();
	if (!news)
		return;
	/* Another CPU, or an NMI on this one, may have announced it meanwhile. */
	if (atomic64_cmpxchg(&told->what, before, what) != before) {
		atomic_set(&news->state, BEE_CODE_FREE);
		return;
	}
	WRITE_ONCE(told->next, jiffies + HZ);
	news->cookie = cookie;
	atomic_set_release(&news->state, BEE_CODE_READY);
	irq_work_queue(&bee_code_irq);
}

#endif /* BEE_CODE_NEWS_H */
