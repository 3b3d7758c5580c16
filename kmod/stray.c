// SPDX-License-Identifier: GPL-2.0
/*
 * Strays: processes that were to be managed and are not, for want of memory.
 *
 * At fork and exec a callback needs a struct bee_mm for the new address space.  If there is neither
 * memory, nor room in the budget or in the user's share, nor anything left in the reserve of mm.c,
 * the address of the new mm_struct is kept here.  That takes no memory.  A sample of such a process
 * has a worker manage it, and what the process forks and executes until then are strays as well.
 *
 * Addresses are in sets by their hash.  One for which there is no room in its set takes the place
 * of another, whose process is then not managed until somebody asks for it.  __mmput() reports the
 * end of each address space before its address can become another's.
 *
 * No locks: an address comes and goes by one atomic operation.
 */
#include "stray.h"

struct bee_stray bee_strays[1 << BEE_STRAY_SETS_BITS][BEE_STRAY_SET];
atomic_t bee_stray_nr;

/** bee_stray_add() - @mm was to be managed.  Context: Any but NMI; preemption may be off. */
void bee_stray_add(const struct mm_struct *mm)
{
	struct bee_stray *first = bee_stray_set(mm), *s;

	/* A live patch can have a callback called twice; see bee_mm_fork(). */
	if (bee_stray_find(mm))
		return;
	for (s = first; s < first + BEE_STRAY_SET; s++) {
		if (READ_ONCE(s->mm))
			continue;
		/* Before the address, so that a sample which sees that asks at once. */
		WRITE_ONCE(s->next, jiffies);
		if (!cmpxchg(&s->mm, NULL, mm)) {
			atomic_inc(&bee_stray_nr);
			return;
		}
	}
	/* One that has been removed just now is not counted any more. */
	if (!xchg(&first[jiffies % BEE_STRAY_SET].mm, mm))
		atomic_inc(&bee_stray_nr);
}

/**
 * bee_stray_del() - an address space is managed now, or is not to be, or ends
 * @mm: the address space
 *
 * A full barrier, if it was a stray.
 *
 * Context: Any but NMI; preemption may be off.
 * Return: whether it was a stray.
 */
bool bee_stray_del(const struct mm_struct *mm)
{
	struct bee_stray *s = bee_stray_find(mm);

	if (!s || cmpxchg(&s->mm, mm, NULL) != mm)
		return false;
	atomic_dec(&bee_stray_nr);
	return true;
}

/** bee_stray_clear() - forget all strays.  Context: Any but NMI. */
void bee_stray_clear(void)
{
	u32 i, k;

	for (i = 0; i < ARRAY_SIZE(bee_strays); i++)
		for (k = 0; k < BEE_STRAY_SET; k++)
			if (xchg(&bee_strays[i][k].mm, NULL))
				atomic_dec(&bee_stray_nr);
}
