/* SPDX-License-Identifier: GPL-2.0 */
/* What walks ask for that they cannot do themselves. */
#ifndef BEE_ASK_H
#define BEE_ASK_H

#include <linux/atomic.h>
#include <linux/irq_work.h>
#include <linux/types.h>

struct workqueue_struct;

/*
 * enum bee_ask_kind - what is asked for
 * @BEE_ASK_LOOK: to look at the mappings of an address space: code runs there that has no range
 * @BEE_ASK_SPREAD_MM: counters of its own for each CPU, for an address space
 * @BEE_ASK_SPREAD_FILE: the same for a file
 * @BEE_ASK_STRAY: to manage a process: see stray.c
 */
enum bee_ask_kind {
	BEE_ASK_LOOK,
	BEE_ASK_SPREAD_MM,
	BEE_ASK_SPREAD_FILE,
	BEE_ASK_STRAY,
};

/*
 * enum bee_ask_state - state of an element of bee_asked
 * @BEE_ASK_FREE: a walk may take it
 * @BEE_ASK_TAKEN: a walk is writing it
 * @BEE_ASK_READY: the worker may read it
 */
enum bee_ask_state {
	BEE_ASK_FREE,
	BEE_ASK_TAKEN,
	BEE_ASK_READY,
};

/*
 * struct bee_asked - one thing that a walk has asked for
 * @state: enum bee_ask_state
 * @kind: enum bee_ask_kind
 * @id: cookie of the address space, id of the file, or of a stray the thread
 *
 * BEE_ASKS of them can wait, and the worker answers them ten times a second.  So it never has more
 * than BEE_ASKS to answer, however many processes are sampled.
 */
struct bee_asked {
	atomic_t	state;
	u32		kind;
	u64		id;
};

#define BEE_ASKS	16

typedef void (*bee_ask_answer_t)(enum bee_ask_kind kind, u64 id);

/* For bee_ask() */
extern struct bee_asked bee_asked[BEE_ASKS];
extern struct irq_work bee_ask_irq;

void bee_ask_init(struct workqueue_struct *wq, bee_ask_answer_t answer);
void bee_ask_exit(void);

/**
 * bee_ask() - have a worker do something
 * @kind: what
 * @id: cookie of the address space, id of the file, or of a stray the thread
 *
 * Not inlined, so that walks which ask for nothing do not pay for its stack.
 *
 * Context: Any, NMI-safe.
 * Return: false if there is no room; a later sample can ask again.
 */
static noinline __maybe_unused bool bee_ask(enum bee_ask_kind kind, u64 id)
{
	struct bee_asked *asked;

	for (asked = bee_asked; asked < bee_asked + BEE_ASKS; asked++) {
		if (atomic_read(&asked->state) != BEE_ASK_FREE ||
		    atomic_cmpxchg(&asked->state, BEE_ASK_FREE, BEE_ASK_TAKEN) != BEE_ASK_FREE)
			continue;
		asked->kind = kind;
		asked->id = id;
		atomic_set_release(&asked->state, BEE_ASK_READY);
		irq_work_queue(&bee_ask_irq);
		return true;
	}
	return false;
}

#endif /* BEE_ASK_H */
