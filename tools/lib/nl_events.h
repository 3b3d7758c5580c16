/* SPDX-License-Identifier: GPL-2.0 */
/* What the module announces: multicast group "events". */
#ifndef BEE_NL_EVENTS_H
#define BEE_NL_EVENTS_H

#include "nl.h"

struct bee_nl_events;

/**
 * enum bee_nl_event_kind - what bee_nl_events_next() found
 * @BEE_NL_EVENT_NONE: nothing to read now
 * @BEE_NL_EVENT_TABLE: a file has no table; sent once for each
 * @BEE_NL_EVENT_LOST: messages were dropped: bee_nl_tables_get() has what they said
 */
enum bee_nl_event_kind {
	BEE_NL_EVENT_NONE,
	BEE_NL_EVENT_TABLE,
	BEE_NL_EVENT_LOST,
};

struct bee_nl_events *bee_nl_events_open(struct bee_nl_error *error);
void bee_nl_events_close(struct bee_nl_events *events);
int bee_nl_events_fd(const struct bee_nl_events *events);
enum bee_nl_event_kind bee_nl_events_next(struct bee_nl_events *events,
					  struct bee_nl_table *table);

struct bee_nl_family;

/**
 * enum bee_nl_family_news - what bee_nl_family_next() found
 * @BEE_NL_FAMILY_SAME: nothing about the module
 * @BEE_NL_FAMILY_GONE: it has been unloaded, and not loaded since
 * @BEE_NL_FAMILY_COME: it has been loaded
 * @BEE_NL_FAMILY_LOST: messages were dropped: it may be either
 */
enum bee_nl_family_news {
	BEE_NL_FAMILY_SAME,
	BEE_NL_FAMILY_GONE,
	BEE_NL_FAMILY_COME,
	BEE_NL_FAMILY_LOST,
};

struct bee_nl_family *bee_nl_family_open(struct bee_nl_error *error);
void bee_nl_family_close(struct bee_nl_family *family);
int bee_nl_family_fd(const struct bee_nl_family *family);
enum bee_nl_family_news bee_nl_family_next(struct bee_nl_family *family);

#endif /* BEE_NL_EVENTS_H */
