// SPDX-License-Identifier: GPL-2.0
/* What a process has mapped, as /proc/PID/maps has it (Documentation/filesystems/proc.rst). */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "maps.h"

#define PAGE_MASK_64	(~0xfffull)

/* A name may be anything but can have no line end: that is "\012" in it. */
static bool line_parse(char *line, struct maps_entry *entry)
{
	unsigned int major, minor;
	int name = 0;
	char rights[5];

	line[strcspn(line, "\n")] = '\0';
	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %x:%x %" SCNu64 "%n",
		   (uint64_t *)&entry->start, (uint64_t *)&entry->end, rights,
		   (uint64_t *)&entry->offset, &major, &minor, (uint64_t *)&entry->inode,
		   &name) != 7 || entry->start >= entry->end)
		return false;
	entry->device = (u64)major << 20 | minor;
	entry->writable = strchr(rights, 'w');
	if (strchr(rights, 'x'))
		entry->path = alloc_text(line + name + strspn(line + name, " "));
	return true;
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
		entry.path = NULL;
		if (maps->count == MAPS_MAX)
			ret = error_set(error, 0, "more than %u mappings", MAPS_MAX);
		else if (!line_parse(line, &entry) || entry.start < floor)
			ret = error_set(error, 0, "its list of mappings is not as expected");
		if (ret) {
			free(entry.path);
			break;
		}
		maps->entry = alloc_room(maps->entry, maps->count, &maps->room, sizeof(entry));
		maps->entry[maps->count++] = entry;
		floor = entry.end;
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
		return error_set(error, errno, errno == ENOENT ? "no such process" :
				 "its mappings cannot be read: %s", strerror(errno));
	ret = maps_read(in, maps, error);
	fclose(in);
	return ret;
}

/** maps_is_memory() - whether an entry is executable memory of the process, with no file and no vDSO behind it */
bool maps_is_memory(const struct maps_entry *entry)
{
	return entry->path && !entry->inode && strcmp(entry->path, MAPS_VDSO) &&
	       strcmp(entry->path, "[vsyscall]");
}

/**
 * maps_find_address() - where something is that a mapped file has
 * @entry: the mapping of the file's text
 * @elf: the file
 * @vaddr: the address that the file's symbols give it
 * @address: filled
 *
 * Return: whether @entry is of text.
 */
bool maps_find_address(const struct maps_entry *entry, const struct elf_file *elf, u64 vaddr, u64 *address)
{
	size_t i;

	for (i = 0; i < elf->ntext; i++) {
		const struct elf_segment *text = &elf->text[i];

		if (entry->offset < (text->offset & PAGE_MASK_64) || entry->offset >= text->offset + text->size)
			continue;
		*address = entry->start - entry->offset + text->offset - text->vaddr + vaddr;
		return true;
	}
	return false;
}

/** maps_free() - release a list, which is empty afterwards */
void maps_free(struct maps *maps)
{
	size_t i;

	for (i = 0; i < maps->count; i++)
		free(maps->entry[i].path);
	free(maps->entry);
	*maps = (struct maps){};
}
