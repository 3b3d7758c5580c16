// SPDX-License-Identifier: GPL-2.0
/*
 * News: what walks have met that user space can do something about.
 *
 * The last news are in a ring.  Walks write to it in any context; a reader remembers the number of the news that it
 * has read last.  An irq_work queues a work item, which sends a message that there is something
 * to read.  What a walk meets again and again is news once in a second: nobody may have listened
 * before, or been able to do something about it.
 *
 * The work item also notes the name of a file, if its process still has it mapped, and somebody listens: by
 * this name the file can be found when the process has ended.
 */
#include <linux/atomic.h>
#include <linux/dcache.h>
#include <linux/fs.h>
#include <linux/hash.h>
#include <linux/irq_work.h>
#include <linux/jiffies.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/pid.h>
#include <linux/sched.h>
#include <linux/sched/mm.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <linux/workqueue.h>

#include "compat.h"
#include "news.h"

#define NEWS_RING	1024
#define NEWS_MET_BITS	10

static struct bee_news news_ring[NEWS_RING];
static atomic64_t news_last;			/* number of the last one that was begun */
static const struct bee_news_listeners *news_listeners;	/* NULL: no message is sent */

/* For each place of the ring, the name of the file that its news are about; kfree(). */
static struct news_name {
	u64	 seq;
	char	*name;
} news_names[NEWS_RING];			/* news_names_mutex */
static DEFINE_MUTEX(news_names_mutex);
static u64 news_named;				/* number of the last one whose name was looked for (news_work) */

/*
 * What was news lately, by a hash of its address, and when.  Two walks may write here at once: then
 * something is news once more or, for a second, not.
 */
static struct {
	const void	*what;
	u32		 when;
} news_met[1 << NEWS_MET_BITS];

/* The name of a mapped file, for kfree(); or NULL if it is not mapped there any more. */
static char *news_find_name(const struct bee_news *news)
{
	struct pid *pid = find_get_pid(news->pid);
	struct task_struct *task = get_pid_task(pid, PIDTYPE_PID);
	struct mm_struct *mm = task ? get_task_mm(task) : NULL;
	char *buf = kmalloc(PATH_MAX, GFP_KERNEL), *name = NULL;
	struct vm_area_struct *vma;

	/* The process can hold its mmap_lock for as long as it likes. */
	if (buf && mm && mmap_read_trylock(mm)) {
		vma = vma_lookup(mm, news->start);
		if (vma && vma->vm_file && file_inode(vma->vm_file) == news->what)
			name = d_path(bee_compat_file_user_path(vma->vm_file), buf, PATH_MAX);
		mmap_read_unlock(mm);
	}
	if (mm)
		mmput_async(mm);
	if (task)
		put_task_struct(task);
	put_pid(pid);
	name = IS_ERR_OR_NULL(name) ? NULL : kstrdup(name, GFP_KERNEL);
	kfree(buf);
	return name;
}

static void news_set_name(u64 seq, char *name)
{
	struct news_name *at = &news_names[seq % NEWS_RING];

	mutex_lock(&news_names_mutex);
	kfree(at->name);
	*at = (struct news_name) { .seq = seq, .name = name };
	mutex_unlock(&news_names_mutex);
}

static void news_work_fn(struct work_struct *work)
{
	const struct bee_news_listeners *listeners = READ_ONCE(news_listeners);
	u64 last = bee_news_last();
	struct bee_news news;

	if (!listeners || !listeners->any()) {
		news_named = last;
		return;
	}
	while (bee_news_next(news_named, last, &news)) {
		news_named = news.seq;
		if (news.kind == BEEUNWIND_NEWS_FILE)
			news_set_name(news.seq, news_find_name(&news));
		cond_resched();
	}
	listeners->tell(last);
}

static DECLARE_WORK(news_work, news_work_fn);

static void news_raised(struct irq_work *work)
{
	if (READ_ONCE(news_listeners))
		schedule_work(&news_work);
}

static struct irq_work news_irq = IRQ_WORK_INIT(news_raised);

/* Whether @what is no news: it was within the last second, or something else in this jiffy. */
static bool news_is_old(const void *what)
{
	u32 i = hash_ptr(what, NEWS_MET_BITS), now = READ_ONCE(jiffies), when;

	when = READ_ONCE(news_met[i].when);
	if (READ_ONCE(news_met[i].what) == what ? now - when < HZ : now == when)
		return true;
	WRITE_ONCE(news_met[i].what, what);
	WRITE_ONCE(news_met[i].when, now);
	return false;
}

/**
 * bee_news_add() - a walk of current has met something
 * @kind: what it is
 * @what: an address that tells it from others of its kind
 * @start: first address of the mapping
 * @end: address after the last
 *
 * Context: Any, NMI-safe.
 */
void bee_news_add(enum beeunwind_news kind, const void *what, u64 start, u64 end)
{
	struct bee_news *news;
	u64 seq;

	if (news_is_old(what))
		return;
	seq = atomic64_inc_return(&news_last);
	news = &news_ring[seq % NEWS_RING];
	WRITE_ONCE(news->seq, 0);
	smp_wmb();
	WRITE_ONCE(news->kind, kind);
	WRITE_ONCE(news->pid, current->tgid);
	WRITE_ONCE(news->start, start);
	WRITE_ONCE(news->end, end);
	WRITE_ONCE(news->what, what);
	smp_store_release(&news->seq, seq);
	irq_work_queue(&news_irq);
}

/** bee_news_last() - number of the last news, which may be just being written.  Context: Any. */
u64 bee_news_last(void)
{
	return atomic64_read(&news_last);
}

/**
 * bee_news_next() - the next news that is still in the ring
 * @after: number of the one before
 * @last: number of the last one that is wanted
 * @news: filled
 *
 * Context: Any.
 * Return: false if there is none, or it is just being written; then a message comes.
 */
bool bee_news_next(u64 after, u64 last, struct bee_news *news)
{
	u64 seq = after + 1;

	if (after >= last)
		return false;
	if (last > NEWS_RING && seq <= last - NEWS_RING)
		seq = last - NEWS_RING + 1;
	for (; seq <= last; seq++) {
		const struct bee_news *at = &news_ring[seq % NEWS_RING];

		news->seq = smp_load_acquire(&at->seq);
		news->kind = READ_ONCE(at->kind);
		news->pid = READ_ONCE(at->pid);
		news->start = READ_ONCE(at->start);
		news->end = READ_ONCE(at->end);
		news->what = READ_ONCE(at->what);
		smp_rmb();
		if (news->seq == seq && READ_ONCE(at->seq) == seq)
			return true;
		/* The place is being written, unless its writer has lost it long since. */
		if (news->seq < seq && last - seq < NEWS_RING / 2)
			return false;
	}
	return false;
}

/**
 * bee_news_get_name() - the name of the file that was mapped
 * @seq: number of the news about it
 *
 * Context: Process, may sleep.
 * Return: the name, for kfree(); NULL if it is not known.
 */
char *bee_news_get_name(u64 seq)
{
	const struct news_name *at = &news_names[seq % NEWS_RING];
	char *name = NULL;

	mutex_lock(&news_names_mutex);
	if (at->seq == seq && at->name)
		name = kstrdup(at->name, GFP_KERNEL);
	mutex_unlock(&news_names_mutex);
	return name;
}

/** bee_news_start() - from now on @listeners are told.  Context: Process. */
void bee_news_start(const struct bee_news_listeners *listeners)
{
	WRITE_ONCE(news_listeners, listeners);
}

/** bee_news_stop() - tell nobody any more; walks may still add news.  Context: Process, may sleep. */
void bee_news_stop(void)
{
	/* Whoever runs news_raised() after irq_work_sync() sees it. */
	xchg(&news_listeners, NULL);
	irq_work_sync(&news_irq);
	cancel_work_sync(&news_work);
}

/** bee_news_exit() - walks have ended.  Context: Process, may sleep. */
void bee_news_exit(void)
{
	u64 seq;

	irq_work_sync(&news_irq);
	cancel_work_sync(&news_work);
	for (seq = 0; seq < NEWS_RING; seq++)
		news_set_name(seq, NULL);
}
