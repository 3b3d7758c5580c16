/* SPDX-License-Identifier: GPL-2.0 */
/* What commands say on stderr, and numbers that several commands print. */
#ifndef MESSAGES_H
#define MESSAGES_H

#include <stdint.h>

int message_error(const char *command, const char *subject, const char *why);
void message_warning(const char *command, const char *subject, const char *why);
int message_usage(const char *command, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static inline double percent(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * part / whole : 0;
}

/* plural(): "s" or "", to follow a noun */
static inline const char *plural(uint64_t count)
{
	return count == 1 ? "" : "s";
}

#endif /* MESSAGES_H */
