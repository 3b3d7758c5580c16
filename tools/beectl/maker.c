// SPDX-License-Identifier: GPL-2.0
/* What commands that make tables for the module need. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "maker.h"
#include "messages.h"
#include "own_module.h"
#include "text.h"

/**
 * maker_connect() - open @maker->nl, if the module takes tables of our format; if none is there, load our own
 * @maker: on failure @nl is NULL
 * @error: filled on failure
 *
 * Return: 0 or -1.
 */
int maker_connect(struct table_maker *maker, struct bee_error *error)
{
	struct netlink_info info;

	maker->nl = netlink_open(error);
	if (!maker->nl && error->code == BEE_ERROR_NO_MODULE && !own_module_load(error))
		maker->nl = netlink_open(error);
	if (!maker->nl)
		return -1;
	if (!netlink_info_get(maker->nl, &info, error) && !netlink_check_format(&info, error))
		return 0;
	netlink_close(maker->nl);
	maker->nl = NULL;
	return -1;
}

/** maker_open() - as maker_connect(), and open the cache; returns 0, or -1 with @error filled */
int maker_open(struct table_maker *maker, struct bee_error *error)
{
	if (maker_connect(maker, error))
		return -1;
	maker->cache = cache_open();
	return 0;
}

/** maker_close() - undo maker_open() */
void maker_close(struct table_maker *maker)
{
	cache_close(maker->cache);
	netlink_close(maker->nl);
	maker->cache = NULL;
	maker->nl = NULL;
}

/** maker_warn() - warn if the cache cannot be used, or not as the user wants */
void maker_warn(const struct table_maker *maker, const char *command)
{
	if (cache_warning(maker->cache))
		message_warning(command, NULL, cache_warning(maker->cache));
	if (cache_limit_warning(maker->cache))
		message_warning(command, NULL, cache_limit_warning(maker->cache));
}

/** maker_warn_hook() - warn if the module is not in perf's callchain path */
void maker_warn_hook(const struct table_maker *maker, const char *command)
{
	struct netlink_info info;
	struct bee_error error;

	if (!netlink_info_get(maker->nl, &info, &error) && info.hook == BEEUNWIND_HOOK_STATE_OFF)
		message_warning(command, NULL, MAKER_HOOK_OFF);
}

/** maker_print_wrong() - print how much text has wrong rules; nothing if all tables are exact */
void maker_print_wrong(FILE *out, uint64_t wrong, uint64_t text)
{
	if (text)
		fprintf(out, "  not exact: %llu of %llu bytes of text (%.3f%%) have a wrong rule\n",
			(unsigned long long)wrong, (unsigned long long)text, percent(wrong, text));
}
