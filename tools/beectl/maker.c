// SPDX-License-Identifier: GPL-2.0
/* What commands that make tables for the module need. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "maker.h"
#include "progress.h"

/**
 * maker_open() - connect to the module and open the cache
 * @maker: both are filled in
 * @error: filled on failure
 *
 * Return: 0 or -1.
 */
int maker_open(struct table_maker *maker, struct bee_nl_error *error)
{
	maker->nl = bee_nl_open(error);
	if (!maker->nl)
		return -1;
	maker->cache = cache_open();
	if (maker->cache)
		return 0;
	error->code = ENOMEM;
	snprintf(error->text, sizeof(error->text), "%s", strerror(ENOMEM));
	bee_nl_close(maker->nl);
	maker->nl = NULL;
	return -1;
}

void maker_close(struct table_maker *maker)
{
	cache_close(maker->cache);
	bee_nl_close(maker->nl);
	maker->cache = NULL;
	maker->nl = NULL;
}

/* maker_warn(): say what is wrong with the cache, if it is */
void maker_warn(const struct table_maker *maker, const char *command)
{
	if (cache_warning(maker->cache))
		fprintf(stderr, "beectl: %s: warning: %s\n", command, cache_warning(maker->cache));
}

/* maker_progress(): for struct table_maker */
void maker_progress(void *arg, size_t ready, size_t count, const char *name)
{
	(void)arg;
	progress_count(ready, count, name);
}
