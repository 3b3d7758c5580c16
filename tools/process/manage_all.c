// SPDX-License-Identifier: GPL-2.0
/* Every process of the machine. */
#include <dirent.h>
#include <errno.h>
#include <string.h>

#include "manage_all.h"
#include "text.h"

/* Kernel threads, zombies and 32-bit processes, or it has ended meanwhile. */
static bool refusal_is_normal(int code)
{
	return code == ESRCH || code == ENOENT || code == EINVAL || code == EOPNOTSUPP;
}

static void manage_one(struct netlink *nl, pid_t pid, struct all_result *result)
{
	struct netlink_proc proc = { .pid = pid };
	struct bee_error error;

	if (!netlink_proc_add(nl, &proc, &error)) {
		result->managed++;
	} else if (!refusal_is_normal(error.code)) {
		if (!result->refused++) {
			result->pid = pid;
			result->why = error;
		}
	}
}

/**
 * all_manage() - have the module look at and follow all processes that run now
 * @nl: the module
 * @result: filled
 *
 * Return: 0; or -1 and errno, if /proc cannot be read.
 */
int all_manage(struct netlink *nl, struct all_result *result)
{
	struct dirent *entry;
	DIR *proc = opendir("/proc");
	pid_t pid;

	*result = (struct all_result){ 0 };
	if (!proc)
		return -1;
	while ((entry = readdir(proc)))
		if (!text_parse_pid(entry->d_name, &pid))
			manage_one(nl, pid, result);
	closedir(proc);
	return 0;
}

/**
 * all_forget() - have the module forget all processes
 * @nl: the module
 * @count: filled: how many there were
 * @error: filled on failure
 *
 * Return: 0 or -1.
 */
int all_forget(struct netlink *nl, size_t *count, struct bee_error *error)
{
	struct netlink_procs procs;
	size_t i;
	int ret;

	*count = 0;
	ret = netlink_procs_get(nl, 0, &procs, error);
	for (i = 0; !ret && i < procs.count; i++) {
		if (!netlink_proc_forget(nl, procs.proc[i].cookie, error))
			++*count;
		else if (error->code != ESRCH && error->code != ENOENT)
			ret = -1;
	}
	netlink_procs_free(&procs);
	return ret;
}
