// SPDX-License-Identifier: GPL-2.0
/*
 * What a process has mapped, as /proc/PID/maps has it (Documentation/filesystems/proc.rst).  Names
 * are not looked at: they may be anything but can have no line end.
 */
#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "maps.h"
#include "order.h"

static bool line_parse(const char *line, struct maps_entry *entry)
{
	unsigned int major, minor;
	char rights[5];

	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %x:%x %" SCNu64,
		   (uint64_t *)&entry->start, (uint64_t *)&entry->end, rights,
		   (uint64_t *)&entry->offset, &major, &minor, (uint64_t *)&entry->inode) != 7)
		return false;
	entry->device = (u64)major << 32 | minor;
	entry->writable = strchr(rights, 'w');
	return entry->start < entry->end;
}

/**
 * maps_read() - read the mappings of a process
 * @in: its /proc/PID/maps
 * @maps: zeroed; filled, maps_free() releases it, after a failure as well
 * @error: filled on failure
 *
 * Return: 0; or -1 if it is not such a file, cannot be read to its end, or has more than MAPS_MAX lines.
 */
int maps_read(FILE *in, struct maps *maps, struct bee_error *error)
{
	struct maps_entry entry;
	char *line = NULL;
	size_t size = 0;
	u64 floor = 0;
	int ret = 0;

	while (!ret && getline(&line, &size, in) > 0) {
		if (maps->count == MAPS_MAX)
			ret = error_set(error, 0, "more than %u mappings", MAPS_MAX);
		else if (!line_parse(line, &entry) || entry.start < floor)
			ret = error_set(error, 0, "its list of mappings is not as expected");
		if (ret)
			break;
		floor = entry.end;
		maps->entry = alloc_room(maps->entry, maps->count, &maps->room, sizeof(entry));
		maps->entry[maps->count++] = entry;
	}
	if (!ret && ferror(in))
		ret = error_set(error, errno, "its mappings cannot be read: %s", strerror(errno));
	free(line);
	return ret;
}

/**
 * maps_read_process() - read the mappings of a process
 * @pid: the process
 * @maps: as maps_read()
 * @error: filled on failure
 *
 * Return: 0 or -1.
 */
int maps_read_process(pid_t pid, struct maps *maps, struct bee_error *error)
{
	char path[64];
	FILE *in;
	int ret;

	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	in = fopen(path, "re");
	if (!in)
		return error_set(error, errno, "its mappings cannot be read: %s", strerror(errno));
	ret = maps_read(in, maps, error);
	fclose(in);
	return ret;
}

/** maps_are_writable() - whether the process may write somewhere in [@start, @end) */
bool maps_are_writable(const struct maps *maps, u64 start, u64 end)
{
	size_t i = order_upto(maps->entry, maps->count, sizeof(*maps->entry),
			      offsetof(struct maps_entry, end), start);

	for (; i < maps->count && maps->entry[i].start < end; i++)
		if (maps->entry[i].writable)
			return true;
	return false;
}

/** maps_free() - release a list, which is empty afterwards */
void maps_free(struct maps *maps)
{
	free(maps->entry);
	*maps = (struct maps){};
}
