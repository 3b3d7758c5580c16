// SPDX-License-Identifier: GPL-2.0
/* Which files processes have mapped for execution: of one process, or of all. */
#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "io.h"
#include "mapped.h"
#include "maps.h"
#include "order.h"
#include "text.h"

/* PF_KTHREAD of include/linux/sched.h, in the flags of /proc/PID/stat */
#define STAT_PF_KTHREAD	0x00200000

/**
 * process_name() - the name of a process for people
 * @pid: the process
 * @name: filled; "?" if there is no such process
 * @size: bytes of @name
 */
void process_name(pid_t pid, char *name, size_t size)
{
	char path[64], *comm;

	snprintf(path, sizeof(path), "/proc/%d/comm", pid);
	comm = io_read_all(path, NULL);
	if (comm)
		comm[strcspn(comm, "\n")] = '\0';
	snprintf(name, size, "%s", comm ?: "?");
	free(comm);
}

/**
 * struct stat_fields - what /proc/PID/stat says of a process
 * @state: R, S, Z...
 * @flags: PF_*
 * @stack: where the stack of the first thread began; 0 if beectl may not know
 */
struct stat_fields {
	char			state;
	unsigned int		flags;
	unsigned long long	stack;
};

/* The name before the fields may contain anything.  proc_pid_stat(5) has their numbers: 3, 9 and 28. */
static int stat_read(pid_t pid, struct stat_fields *stat)
{
	char path[64], *text, *rest;
	int ret = 0;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	text = io_read_all(path, NULL);
	if (!text)
		return -errno;
	rest = strrchr(text, ')');
	if (!rest || sscanf(rest, ") %c %*s %*s %*s %*s %*s %u"
			    " %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %llu",
			    &stat->state, &stat->flags, &stat->stack) != 3)
		ret = -EINVAL;
	free(text);
	return ret;
}

/* A thread of process @pid that has not ended, other than the first; 0 if there is none. */
static pid_t thread_find_other(pid_t pid)
{
	struct stat_fields stat;
	struct dirent *entry;
	pid_t found = 0;
	char path[64];
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	dir = opendir(path);
	while (dir && !found && (entry = readdir(dir))) {
		pid_t tid = atoi(entry->d_name);

		if (tid > 0 && tid != pid && !stat_read(tid, &stat) && stat.state != 'Z' &&
		    stat.state != 'X')
			found = tid;
	}
	if (dir)
		closedir(dir);
	return found;
}

/**
 * process_check() - whether a process has user stacks that tables help to unwind
 * @pid: a process or thread
 * @error: filled if not
 *
 * Return: @pid; if that thread has ended, another of the same process; or -1.
 */
pid_t process_check(pid_t pid, struct bee_error *error)
{
	struct stat_fields stat = { 0 };
	int ret = stat_read(pid, &stat);

	if (ret == -ESRCH || ret == -ENOENT)
		return error_set(error, ESRCH, "no such process");
	if (ret)
		return error_set(error, -ret, "reading its mappings: %s", strerror(-ret));
	if (stat.flags & STAT_PF_KTHREAD)
		return error_set(error, EINVAL, "a kernel thread has no user stack");
	if (stat.state == 'Z' || stat.state == 'X') {
		pid = thread_find_other(pid);
		if (!pid || stat_read(pid, &stat))
			return error_set(error, ESRCH, "a zombie: the process has ended already");
	}
	/* STACK_TOP of arch/x86/include/asm/processor.h: such a stack is below 4 GiB, and no other one. */
	if (stat.stack && stat.stack < 1ull << 32)
		return error_set(error, EINVAL,
				 "a 32-bit process; only 64-bit ones can have tables");
	return pid;
}

/**
 * mapped_add() - add the executable mappings of a process
 * @list: the list
 * @pid: the process
 * @error: filled on failure
 *
 * Return: 0 or -1.
 */
int mapped_add(struct mapped_list *list, pid_t pid, struct bee_error *error)
{
	struct maps maps = {};
	int ret = maps_read_process(pid, &maps, error);
	size_t i;

	if (ret && error->code == EACCES)
		error_set(error, EACCES, "its mappings may not be read: needs root or CAP_SYS_PTRACE");
	for (i = 0; !ret && i < maps.count; i++) {
		struct maps_entry *entry = &maps.entry[i];

		if (!entry->path || (!entry->inode && !maps_is_memory(entry) && strcmp(entry->path, MAPS_VDSO)))
			continue;
		list->at = alloc_room(list->at, list->count, &list->room, sizeof(*list->at));
		list->at[list->count++] = (struct mapped){
			.mapping = { pid, entry->start, entry->end }, .offset = entry->offset,
			.device = entry->device, .inode = entry->inode, .path = entry->path,
		};
		entry->path = NULL;
	}
	maps_free(&maps);
	return ret;
}

/**
 * mapped_add_all() - add the executable mappings of all processes that run now, as far as they may be read
 * @list: the list
 * @processes: filled: how many have some; or NULL
 * @error: filled on failure
 *
 * Return: 0; or -1, if /proc cannot be read, or the mappings of no process.
 */
int mapped_add_all(struct mapped_list *list, size_t *processes, struct bee_error *error)
{
	DIR *dir = opendir("/proc");
	size_t count = 0, before;
	struct dirent *entry;
	pid_t pid;

	if (!dir)
		return error_set(error, errno, "/proc: %s", strerror(errno));
	while ((entry = readdir(dir))) {
		before = list->count;
		if (!text_parse_pid(entry->d_name, &pid) && !mapped_add(list, pid, error))
			count += list->count > before;
	}
	closedir(dir);
	if (processes)
		*processes = count;
	return count ? 0 : -1;
}

/* Sort mappings by file, then by process and address. */
static int compare_mapped(const void *a, const void *b)
{
	const struct mapped *x = a, *y = b;

	return order(x->device, y->device) ?: order(x->inode, y->inode) ?: strcmp(x->path, y->path) ?:
	       order(x->mapping.pid, y->mapping.pid) ?: order(x->mapping.start, y->mapping.start);
}

/** mapped_sort() - have the mappings of one file follow each other, ascending by process and address */
void mapped_sort(struct mapped_list *list)
{
	if (list->count)
		qsort(list->at, list->count, sizeof(*list->at), compare_mapped);
}

/**
 * mapped_is_same() - whether two mappings are of one file
 * @mapped: a mapping
 * @other: another
 *
 * Files of two subvolumes of btrfs can have equal numbers, so they are told apart by their names as well.
 */
bool mapped_is_same(const struct mapped *mapped, const struct mapped *other)
{
	return mapped->device == other->device && mapped->inode == other->inode &&
	       !strcmp(mapped->path, other->path);
}

/** mapped_free() - release a list, which is empty afterwards */
void mapped_free(struct mapped_list *list)
{
	size_t i;

	for (i = 0; i < list->count; i++)
		free(list->at[i].path);
	free(list->at);
	*list = (struct mapped_list){ 0 };
}
