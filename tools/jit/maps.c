// SPDX-License-Identifier: GPL-2.0
/*
 * What a process has mapped, as /proc/PID/maps has it (Documentation/filesystems/proc.rst).  Names
 * are not looked at: they may be anything but can have no line end.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "alloc.h"
#include "maps.h"

static bool line_parse(const char *line, struct maps_entry *entry)
{
	unsigned int major, minor;

	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*4s %" SCNx64 " %x:%x %" SCNu64,
		   (uint64_t *)&entry->start, (uint64_t *)&entry->end, (uint64_t *)&entry->offset,
		   &major, &minor, (uint64_t *)&entry->inode) != 6)
		return false;
	entry->device = (u64)major << 32 | minor;
	return entry->start < entry->end;
}

/**
 * maps_read() - read the mappings of a process
 * @in: its /proc/PID/maps
 * @maps: zeroed; filled, maps_free() releases it, after a failure as well
 * @error: filled on failure
 *
 * Return: 0; or -1 if it is not such a file, or has more than MAPS_MAX lines.
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
	free(line);
	return ret;
}

/** maps_free() - release a list, which is empty afterwards */
void maps_free(struct maps *maps)
{
	free(maps->entry);
	*maps = (struct maps){};
}
