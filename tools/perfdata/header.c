// SPDX-License-Identifier: GPL-2.0
/*
 * What a recording says of itself.  The layout is that of tools/perf/util/header.h and
 * tools/perf/Documentation/perf.data-file-format.txt in the kernel's sources, struct
 * perf_event_attr that of include/uapi/linux/perf_event.h.
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "alloc.h"
#include "header.h"
#include "io.h"
#include "order.h"

#define HEADER_SIZE		104	/* bytes of struct perf_file_header in all versions of perf */
#define HEADER_MAX_SECTION	(256u << 20)
#define HEADER_MAX_IDS		(1u << 20)
#define HEADER_MAX_WORDS	4096	/* of perf's command line */

enum { FEATURE_BUILD_ID = 2, FEATURE_CMDLINE = 11, FEATURE_EVENT_DESC = 12, FEATURES = 256 };

/* A part of the file. */
struct section {
	u64	offset;
	u64	size;
};

static struct section section_read(struct cursor *c)
{
	struct section section = { .offset = cursor_u64(c) };

	section.size = cursor_u64(c);
	return section;
}

/* The bytes of a section, for free(), or NULL; @room: bytes of the file. */
static u8 *section_load(int fd, struct section section, u64 room, struct cursor *c,
			struct bee_error *error)
{
	u8 *bytes;

	if (section.offset > room || section.size > room - section.offset ||
	    section.size > HEADER_MAX_SECTION) {
		error_set(error, EINVAL, "perf.data is cut off: its header has a part at %llu of "
			  "%llu bytes, the file has %llu", (unsigned long long)section.offset,
			  (unsigned long long)section.size, (unsigned long long)room);
		return NULL;
	}
	bytes = alloc_array(NULL, section.size + 1, 1);
	if (io_read_at(fd, bytes, section.size, section.offset) == (ssize_t)section.size) {
		*c = cursor_of(bytes, section.size);
		return bytes;
	}
	error_set(error, EIO, "cannot read perf.data's header");
	free(bytes);
	return NULL;
}

static void header_add_ids(struct perfdata *data, struct cursor ids, u32 event)
{
	size_t n = cursor_left(&ids) / sizeof(u64);

	if (!n || n > HEADER_MAX_IDS - data->nids)
		return;
	data->ids = alloc_array(data->ids, data->nids + n, sizeof(*data->ids));
	while (n--)
		data->ids[data->nids++] = (struct perfdata_id){ cursor_u64(&ids), event };
}

static int id_compare(const void *a, const void *b)
{
	const struct perfdata_id *x = a, *y = b;

	return order(x->id, y->id) ?: order(x->event, y->event);
}

/** header_sort_ids() - once events have been added */
void header_sort_ids(struct perfdata *data)
{
	if (data->nids)
		qsort(data->ids, data->nids, sizeof(*data->ids), id_compare);
}

/**
 * header_add_event() - add an event
 * @data: the recording
 * @attr: its struct perf_event_attr
 * @ids: the ids of its samples, as u64
 * @error: filled on failure
 *
 * Return: 0 or -1.
 */
int header_add_event(struct perfdata *data, struct cursor attr, struct cursor ids,
		     struct bee_error *error)
{
	struct perfdata_event event = { 0 };
	u64 period, flags, branches;
	char name[32];

	if (data->nevents == PERFDATA_MAX_EVENTS)
		return error_set(error, E2BIG, "more than %d events", PERFDATA_MAX_EVENTS);
	cursor_take(&attr, 16);		/* type, size, config */
	period = cursor_u64(&attr);
	event.sample_type = cursor_u64(&attr);
	event.read_format = cursor_u64(&attr);
	flags = cursor_u64(&attr);
	if (attr.bad)
		return error_set(error, EINVAL, "the description of an event is cut off");
	if (event.sample_type & PERF_SAMPLE_READ && event.read_format >> 5)
		return error_set(error, EOPNOTSUPP, "samples have counters in a form that is not "
				 "known (read_format %#llx)",
				 (unsigned long long)event.read_format);
	event.period = flags >> 10 & 1 ? 0 : period;	/* freq */
	event.id_all = flags >> 18 & 1;
	event.deferred = flags >> 38 & 1;		/* defer_callchain, Linux 6.19 */
	cursor_take(&attr, 24);		/* up to branch_sample_type, which old files do not have */
	branches = cursor_u64(&attr);
	if (!attr.bad && event.sample_type & PERF_SAMPLE_BRANCH_STACK) {
		event.calls = branches & PERF_SAMPLE_BRANCH_CALL_STACK;
		event.has_index = branches & PERF_SAMPLE_BRANCH_HW_INDEX;
	}
	event.copies = flags >> 22 & 1 &&		/* exclude_callchain_user */
		       event.sample_type & PERF_SAMPLE_STACK_USER;
	snprintf(name, sizeof(name), "event %zu", data->nevents);
	event.name = alloc_text(name);
	header_add_ids(data, ids, data->nevents);
	data->event = alloc_array(data->event, data->nevents + 1, sizeof(*data->event));
	data->event[data->nevents++] = event;
	return 0;
}

/* A string with the length of its field before it, which need not end with NUL. */
static char *header_string(struct cursor *c)
{
	u32 size = cursor_u32(c);
	const u8 *text = cursor_take(c, size);

	return text ? alloc_check(strndup((const char *)text, size), 0) : NULL;
}

/** header_add_build_id() - take a struct perf_record_header_build_id */
void header_add_build_id(struct perfdata *data, struct cursor record)
{
	struct perfdata_file_id file = { 0 };
	const u8 *id, *header = cursor_take(&record, 8);
	size_t room;

	cursor_u32(&record);	/* pid */
	id = cursor_take(&record, 24);
	room = cursor_left(&record);
	if (record.bad || data->nfiles == HEADER_MAX_IDS || data->path_bytes > HEADER_MAX_SECTION)
		return;
	file.build_id.size = header[5] & 0x80 && id[20] <= PERFDATA_MAX_BUILD_ID ?
			     id[20] : PERFDATA_MAX_BUILD_ID;
	memcpy(file.build_id.bytes, id, file.build_id.size);
	file.path = alloc_check(strndup((const char *)record.at, room), 0);
	if (!(data->nfiles & (data->nfiles - 1)))
		data->file = alloc_array(data->file, 2 * data->nfiles + 1, sizeof(*data->file));
	data->file[data->nfiles++] = file;
	data->path_bytes += strlen(file.path);
}

static void header_take_build_ids(struct perfdata *data, struct cursor content)
{
	while (cursor_left(&content) >= 8) {
		u16 size = content.at[6] | content.at[7] << 8;
		const u8 *record = size < 8 ? NULL : cursor_take(&content, size);

		if (!record)
			break;
		header_add_build_id(data, cursor_of(record, size));
	}
}

static void header_take_cmdline(struct perfdata *data, struct cursor content)
{
	u32 count = cursor_u32(&content);
	size_t size;
	FILE *out;

	if (data->cmdline || count > HEADER_MAX_WORDS)
		return;
	out = open_memstream(&data->cmdline, &size);
	alloc_check(out, 0);
	while (count-- && !content.bad) {
		char *word = header_string(&content);

		fprintf(out, "%s%s", word ?: "", count ? " " : "");
		free(word);
	}
	fclose(out);
}

static void header_set_name(struct perfdata *data, size_t event, char *name)
{
	if (event >= data->nevents || !name || !*name) {
		free(name);
		return;
	}
	free(data->event[event].name);
	data->event[event].name = name;
}

/* EVENT_DESC repeats the events in their order, with names. */
static void header_take_names(struct perfdata *data, struct cursor content)
{
	u32 count = cursor_u32(&content), attr_size = cursor_u32(&content), i;

	for (i = 0; i < count && i < data->nevents && !content.bad; i++) {
		u32 nids;

		cursor_take(&content, attr_size);
		nids = cursor_u32(&content);
		header_set_name(data, i, header_string(&content));
		cursor_take(&content, (u64)nids * sizeof(u64));
	}
}

/** header_take_feature() - read one of the optional parts (HEADER_*); others are left out */
void header_take_feature(struct perfdata *data, unsigned int feature, struct cursor content)
{
	if (feature == FEATURE_BUILD_ID)
		header_take_build_ids(data, content);
	else if (feature == FEATURE_CMDLINE)
		header_take_cmdline(data, content);
	else if (feature == FEATURE_EVENT_DESC)
		header_take_names(data, content);
}

/** header_find_event() - the event that an id stands for.  Return: whether it is known. */
bool header_find_event(const struct perfdata *data, u64 id, u32 *event)
{
	size_t found = order_upto(data->ids, data->nids, sizeof(*data->ids),
				  offsetof(struct perfdata_id, id), id);

	if (!found || data->ids[found - 1].id != id)
		return false;
	*event = data->ids[found - 1].event;
	return true;
}

/** header_name_event() - take the body of a PERF_RECORD_EVENT_UPDATE */
void header_name_event(struct perfdata *data, struct cursor update)
{
	u64 kind = cursor_u64(&update), id = cursor_u64(&update);
	u32 event;

	if (kind != 2)	/* PERF_EVENT_UPDATE__NAME */
		return;
	if (!update.bad && header_find_event(data, id, &event))
		header_set_name(data, event,
				strndup((const char *)update.at, cursor_left(&update)));
}

static int header_read_events(struct perfdata *data, int fd, struct section attrs, u64 attr_size,
			      u64 room, struct bee_error *error)
{
	struct cursor c, ids = { 0 };
	u8 *bytes = section_load(fd, attrs, room, &c, error), *id_bytes;
	int ret = bytes ? 0 : -1;

	if (!ret && (attr_size < 64 + 16 || attr_size > 4096 || attrs.size % attr_size))
		ret = error_set(error, EINVAL, "perf.data's header says that an event has %llu bytes",
				(unsigned long long)attr_size);
	while (!ret && cursor_left(&c)) {
		struct cursor attr = cursor_of(cursor_take(&c, attr_size - 16), attr_size - 16);
		struct section section = section_read(&c);

		/* Events may all name the same ids: those that are not taken are not read, either. */
		if (section.size / sizeof(u64) > HEADER_MAX_IDS - data->nids)
			section.size = 0;
		id_bytes = section_load(fd, section, room, &ids, error);
		ret = id_bytes ? header_add_event(data, attr, ids, error) : -1;
		free(id_bytes);
	}
	free(bytes);
	if (!ret && !data->nevents)
		ret = error_set(error, EINVAL, "perf.data has no events");
	return ret;
}

/* The optional parts stand after the records, one for each bit of @features that is set. */
static int header_read_features(struct perfdata *data, int fd, const u8 *features, u64 at,
				u64 room, struct bee_error *error)
{
	struct section list = { .offset = at };
	unsigned int feature;
	struct cursor c, content;
	u8 *bytes, *part;
	int ret = 0;

	for (feature = 0; feature < FEATURES; feature++)
		list.size += features[feature / 8] >> feature % 8 & 1 ? sizeof(struct section) : 0;
	bytes = section_load(fd, list, room, &c, error);
	if (!bytes)
		return -1;
	for (feature = 0; !ret && feature < FEATURES; feature++) {
		struct section section;

		if (!(features[feature / 8] >> feature % 8 & 1))
			continue;
		section = section_read(&c);
		if (feature != FEATURE_BUILD_ID && feature != FEATURE_CMDLINE &&
		    feature != FEATURE_EVENT_DESC)
			continue;
		part = section_load(fd, section, room, &content, error);
		if (part)
			header_take_feature(data, feature, content);
		ret = part ? 0 : -1;
		free(part);
	}
	free(bytes);
	return ret;
}

/**
 * header_read_file() - read the header of perf.data
 * @data: filled
 * @fd: the file, which must be a regular one
 * @start: filled: where its records begin
 * @end: filled: where they end
 * @error: filled on failure
 *
 * Return: 0 or -1.
 */
int header_read_file(struct perfdata *data, int fd, u64 *start, u64 *end,
		     struct bee_error *error)
{
	struct section attrs, records;
	u8 bytes[HEADER_SIZE] = { 0 };
	const u8 *features;
	struct cursor c = cursor_of(bytes, sizeof(bytes));
	struct stat st;
	u64 attr_size;

	if (fstat(fd, &st) || !S_ISREG(st.st_mode))
		return error_set(error, ESPIPE, "a perf.data file in a pipe: name the file instead, "
				 "or have perf write a pipe's form (perf record -o -)");
	if (io_read_at(fd, bytes, sizeof(bytes), 0) != sizeof(bytes))
		return error_set(error, EINVAL, "perf.data's header is cut off");
	cursor_take(&c, 16);	/* magic, size */
	attr_size = cursor_u64(&c);
	attrs = section_read(&c);
	records = section_read(&c);
	section_read(&c);
	features = cursor_take(&c, FEATURES / 8);
	if (header_read_events(data, fd, attrs, attr_size, st.st_size, error))
		return -1;
	header_sort_ids(data);
	*start = records.offset;
	if (records.offset > st.st_size)
		return error_set(error, EINVAL, "perf.data is cut off: its records begin at %llu, "
				 "the file ends at %llu", (unsigned long long)records.offset,
				 (unsigned long long)st.st_size);
	/* Without a size perf was killed; with a larger one the file has lost its end. */
	if (!records.size || records.size > st.st_size - records.offset) {
		data->unfinished = true;
		*end = st.st_size;
		return 0;
	}
	*end = records.offset + records.size;
	if (!header_read_features(data, fd, features, *end, st.st_size, error))
		return 0;
	data->unfinished = error->code == EINVAL;
	return data->unfinished ? 0 : -1;
}
