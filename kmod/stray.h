/* SPDX-License-Identifier: GPL-2.0 */
/* Strays: processes that were to be managed and are not, for want of memory. */
#ifndef BEE_STRAY_H
#define BEE_STRAY_H

#include <linux/atomic.h>
#include <linux/hash.h>
#include <linux/jiffies.h>
#include <linux/sched.h>
#include <linux/types.h>

#include "ask.h"

struct mm_struct;

#define BEE_STRAY_SETS_BITS	7
#define BEE_STRAY_SET		8

/**
 * struct bee_stray - an address space that waits for memory
 * @mm: its address, which is compared and never followed; NULL: there is none
 * @next: jiffies before which samples do not ask for it again; by READ_ONCE()
 */
struct bee_stray {
	const struct mm_struct	*mm;
	unsigned long		 next;
};

/* By the hash of @mm; written by stray.c, and @next by samples. */
extern struct bee_stray bee_strays[1 << BEE_STRAY_SETS_BITS][BEE_STRAY_SET];
extern atomic_t bee_stray_nr;

void bee_stray_add(const struct mm_struct *mm);
bool bee_stray_del(const struct mm_struct *mm);
void bee_stray_clear(void);

/* bee_stray_set() - where an address space is, if it is a stray.  Context: Any, NMI-safe. */
static inline struct bee_stray *bee_stray_set(const struct mm_struct *mm)
{
	return bee_strays[hash_ptr(mm, BEE_STRAY_SETS_BITS)];
}

/**
 * bee_stray_find() - a stray
 * @mm: the address space, or NULL
 *
 * Context: Any, NMI-safe.
 * Return: the stray, or NULL if it is none.
 */
static inline struct bee_stray *bee_stray_find(const struct mm_struct *mm)
{
	struct bee_stray *first = bee_stray_set(mm), *s;

	if (likely(!atomic_read(&bee_stray_nr)) || !mm)
		return NULL;
	for (s = first; s < first + BEE_STRAY_SET; s++)
		if (READ_ONCE(s->mm) == mm)
			return s;
	return NULL;
}

/* Not inlined, so that samples of other processes do not pay for its stack. */
static noinline __maybe_unused void bee_stray_ask_now(const struct mm_struct *mm)
{
	struct bee_stray *s = bee_stray_find(mm);

	if (s && time_after_eq(jiffies, READ_ONCE(s->next)) &&
	    bee_ask(BEE_ASK_STRAY, current->tgid))
		WRITE_ONCE(s->next, jiffies + HZ / 2);
}

/**
 * bee_stray_ask() - have a worker manage the process that is sampled, if it is a stray
 * @mm: the address space of current, which is not managed; or NULL
 *
 * Context: Any, NMI-safe.
 */
static inline void bee_stray_ask(const struct mm_struct *mm)
{
	if (unlikely(atomic_read(&bee_stray_nr)))
		bee_stray_ask_now(mm);
}

#endif /* BEE_STRAY_H */
