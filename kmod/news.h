/* SPDX-License-Identifier: GPL-2.0 */
/* News: what walks have met that user space can do something about. */
#ifndef BEE_NEWS_H
#define BEE_NEWS_H

#include <linux/types.h>
#include <linux/beeunwind.h>

/**
 * struct bee_news - something that a walk has met
 * @seq: its number, from 1 on
 * @kind: what it is
 * @pid: the process, in the initial pid namespace
 * @start: first address of the mapping
 * @end: address after the last
 * @what: an address that tells it from others of its kind: of a file its inode; it must not be followed
 */
struct bee_news {
	u64			seq;
	enum beeunwind_news	kind;
	u32			pid;
	u64			start;
	u64			end;
	const void		*what;
};

/**
 * struct bee_news_listeners - tells listeners of news; both functions run in process context and may sleep
 * @any: whether there are listeners
 * @tell: tells listeners that there is news up to a number
 */
struct bee_news_listeners {
	bool	(*any)(void);
	void	(*tell)(u64 seq);
};

void bee_news_start(const struct bee_news_listeners *listeners);
void bee_news_stop(void);
void bee_news_exit(void);

void bee_news_add(enum beeunwind_news kind, const void *what, u64 start, u64 end);
bool bee_news_next(u64 after, u64 last, struct bee_news *news);
char *bee_news_get_name(u64 seq);
u64 bee_news_last(void);

#endif /* BEE_NEWS_H */
