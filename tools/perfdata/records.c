// SPDX-License-Identifier: GPL-2.0
/*
 * The kernel's records, as include/uapi/linux/perf_event.h (enum perf_event_type) has them.
 * A record's size has been checked against the bytes there are; the rest is checked here.
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "deferred.h"
#include "header.h"
#include "records.h"

#define MISC_MMAP_DATA		(1 << 13)
#define MISC_MMAP_BUILD_ID	(1 << 14)
#define MISC_LOST_SAMPLES_BPF	(1 << 15)	/* perf: samples that its filter was to drop */
#define PROT_EXECUTE		4
#define LBR_ENTRY		24	/* bytes of struct perf_branch_entry */
#define RECORD_DEFERRED		22	/* PERF_RECORD_CALLCHAIN_DEFERRED, Linux 6.19 */

struct record_header record_header(const u8 *record)
{
	struct cursor c = cursor_of(record, RECORD_HEADER);
	struct record_header header = { .type = cursor_u32(&c) };

	header.misc = cursor_uint(&c, 2);
	header.size = cursor_uint(&c, 2);
	return header;
}

static struct cursor record_body(const u8 *record)
{
	struct record_header header = record_header(record);

	return cursor_of(record + RECORD_HEADER, header.size - RECORD_HEADER);
}

/*
 * Which event is a sample of?  If there are several, all of them have the id at the same place:
 * perf sees to that.
 */
static int sample_event(const struct perfdata *data, struct cursor body, u32 *event,
			struct bee_error *error)
{
	const u64 before_id = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR;
	u64 type = data->event[0].sample_type, id;

	*event = 0;
	if (data->nevents == 1)
		return 0;
	if (!(type & (PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_ID)))
		return error_set(error, EINVAL, "samples do not say of which event they are");
	if (!(type & PERF_SAMPLE_IDENTIFIER))
		cursor_take(&body, 8 * __builtin_popcountll(type & before_id));
	id = cursor_u64(&body);
	if (body.bad || !header_find_event(data, id, event))
		return error_set(error, EINVAL, "a sample is of an event that is not known (id "
				 "%llu)", (unsigned long long)id);
	return 0;
}

/* PERF_SAMPLE_READ: skip the counters. */
static void sample_skip_read(struct cursor *c, u64 format)
{
	u64 times = !!(format & PERF_FORMAT_TOTAL_TIME_ENABLED) +
		    !!(format & PERF_FORMAT_TOTAL_TIME_RUNNING);
	u64 each = 1 + !!(format & PERF_FORMAT_ID) + !!(format & (1 << 4)); /* PERF_FORMAT_LOST */
	u64 count = 1;

	if (format & PERF_FORMAT_GROUP)
		count = cursor_u64(c);
	if (count > 0xffff / sizeof(u64))
		c->bad = true;
	else
		cursor_take(c, sizeof(u64) * (times + count * each));
}

static u64 sample_field(struct cursor *c, u64 type, u64 field)
{
	return type & field ? cursor_u64(c) : 0;
}

/*
 * The user's part of the callchain from the processor's last branch records: where the innermost call led to, then
 * where each call was made.  Callers are looked up one byte before, so one is added.  As perf does it
 * (tools/perf/util/machine.c, resolve_lbr_callchain_sample()).
 */
static void sample_take_calls(struct perfdata *data, struct perfdata_sample *sample, const u8 *record)
{
	const struct perfdata_event *event = &data->event[sample->event];
	struct cursor c = record_body(record);
	u64 count, from, to, i, kept = 0;

	cursor_take(&c, (const u8 *)(sample->chain + sample->depth) - c.at);
	if (event->sample_type & PERF_SAMPLE_RAW)
		cursor_take(&c, cursor_u32(&c));
	count = cursor_u64(&c);
	if (event->has_index)
		cursor_u64(&c);
	if (c.bad || !count || count > cursor_left(&c) / LBR_ENTRY)
		return;
	while (kept < sample->depth && sample->chain[kept] != PERF_CONTEXT_USER)
		kept++;
	if (data->lbr_room < kept + 2 + count) {
		data->lbr_room = kept + 2 + count;
		data->lbr = alloc_array(data->lbr, data->lbr_room, sizeof(*data->lbr));
	}
	memcpy(data->lbr, sample->chain, kept * sizeof(*data->lbr));
	data->lbr[kept++] = PERF_CONTEXT_USER;
	for (i = 0; i < count; i++) {
		from = cursor_u64(&c);
		to = cursor_u64(&c);
		cursor_u64(&c);		/* flags */
		if (!i)
			data->lbr[kept++] = to;
		data->lbr[kept++] = from + 1;
	}
	sample->chain = data->lbr;
	sample->depth = kept;
}

/*
 * Read the fields of a sample, in the order in which the kernel's perf_output_sample() writes them, up to those
 * of the tracepoint (PERF_SAMPLE_RAW).
 */
static int sample_read(const struct perfdata *data, const u8 *record,
		       struct perfdata_sample *sample, u64 *time, struct bee_error *error)
{
	struct cursor c = record_body(record);
	const struct perfdata_event *event;
	u64 ids, type;

	*sample = (struct perfdata_sample){ .mode = record_header(record).misc & 7 };
	if (sample_event(data, c, &sample->event, error))
		return -1;
	event = &data->event[sample->event];
	type = event->sample_type;
	sample_field(&c, type, PERF_SAMPLE_IDENTIFIER);
	sample->ip = sample_field(&c, type, PERF_SAMPLE_IP);
	ids = sample_field(&c, type, PERF_SAMPLE_TID);
	sample->pid = ids;
	sample->tid = ids >> 32;
	*time = sample->time = sample_field(&c, type, PERF_SAMPLE_TIME);
	sample_field(&c, type, PERF_SAMPLE_ADDR);
	sample_field(&c, type, PERF_SAMPLE_ID);
	sample_field(&c, type, PERF_SAMPLE_STREAM_ID);
	sample->cpu = type & PERF_SAMPLE_CPU ? (u32)cursor_u64(&c) : ~0u;
	sample->period = type & PERF_SAMPLE_PERIOD ? cursor_u64(&c) : event->period;
	if (type & PERF_SAMPLE_READ)
		sample_skip_read(&c, event->read_format);
	if (type & PERF_SAMPLE_CALLCHAIN) {
		sample->depth = cursor_u64(&c);
		if (sample->depth > cursor_left(&c) / sizeof(u64))
			c.bad = true;
		sample->chain = (const u64 *)c.at;
		cursor_take(&c, sample->depth * sizeof(u64));
	}
	if (type & PERF_SAMPLE_RAW) {
		sample->raw_size = cursor_u32(&c);
		sample->raw = cursor_take(&c, sample->raw_size);
	}
	return c.bad ? error_set(error, EINVAL, "a sample is cut off") : 0;
}

/*
 * Find the event for which the kernel wrote a record that is no sample.  perf record may open an event of its own
 * (dummy:u), for which the kernel reports mappings, names and ends of processes.  Its sample_type may differ
 * from that of the first event; then PERF_SAMPLE_IDENTIFIER is set, and each record ends with the id of its event.
 * Return: the event; NULL if the record has no such id.  perf itself writes records without one.
 */
static const struct perfdata_event *record_event(const struct perfdata *data, struct cursor body)
{
	const struct perfdata_event *event = data->event;
	u32 number;

	if (data->nevents == 1 || !(event->sample_type & PERF_SAMPLE_IDENTIFIER))
		return event;
	if (cursor_left(&body) < sizeof(u64))
		return NULL;
	cursor_take(&body, cursor_left(&body) - sizeof(u64));
	return header_find_event(data, cursor_u64(&body), &number) ? &event[number] : NULL;
}

/*
 * Read what the kernel puts at the end of all records but samples: TID, TIME, ID, STREAM_ID, CPU, IDENTIFIER, those
 * of them that the event asks for.  @tid: filled with the thread's number, or with 0 if the record has none.
 * Return: the time in ns, or 0 if the record has none.
 */
static u64 record_id(const struct perfdata *data, const u8 *record, u32 *tid)
{
	struct cursor c = record_body(record);
	const struct perfdata_event *event = record_event(data, c);
	size_t bytes;
	u64 after;

	*tid = 0;
	if (!event || !event->id_all || !(event->sample_type & PERF_SAMPLE_TIME))
		return 0;
	after = event->sample_type & (PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU |
				      PERF_SAMPLE_IDENTIFIER);
	bytes = sizeof(u64) * (1 + __builtin_popcountll(after));
	if (cursor_left(&c) < bytes)
		return 0;
	if (event->sample_type & PERF_SAMPLE_TID && cursor_left(&c) >= bytes + sizeof(u64)) {
		cursor_take(&c, cursor_left(&c) - bytes - sizeof(u64));
		*tid = cursor_u64(&c) >> 32;
	}
	cursor_take(&c, cursor_left(&c) - bytes);
	return cursor_u64(&c);
}

/**
 * record_time() - when a record was made
 * @data: its recording, which has events
 * @record: a record with all its bytes
 *
 * Return: the time in ns; 0 if it has none, and is to be taken at once.
 */
u64 record_time(const struct perfdata *data, const u8 *record)
{
	struct perfdata_sample sample;
	struct bee_error error;
	u64 time = 0;
	u32 tid;

	if (record_header(record).type != PERF_RECORD_SAMPLE)
		time = record_id(data, record, &tid);
	else if (sample_read(data, record, &sample, &time, &error))
		return 0;
	return time == ~0ull ? 0 : time;
}

static void map_deliver(const struct perfdata_handler *handler, const u8 *record)
{
	struct record_header header = record_header(record);
	struct cursor c = record_body(record);
	struct perfdata_map map = { .pid = cursor_u32(&c) };
	const u8 *id;
	u32 major;

	cursor_u32(&c);		/* tid */
	map.start = cursor_u64(&c);
	map.size = cursor_u64(&c);
	map.offset = cursor_u64(&c);
	map.executable = !(header.misc & MISC_MMAP_DATA);
	if (header.type == PERF_RECORD_MMAP2) {
		if (header.misc & MISC_MMAP_BUILD_ID) {
			id = cursor_take(&c, 24);
			map.build_id.size = id && id[0] <= PERFDATA_MAX_BUILD_ID ? id[0] : 0;
			if (id)
				memcpy(map.build_id.bytes, id + 4, map.build_id.size);
		} else {
			major = cursor_u32(&c);
			map.dev = (u64)major << 32 | cursor_u32(&c);
			map.inode = cursor_u64(&c);
			cursor_u64(&c);		/* generation: perf does not know that of files mapped before it */
		}
		map.executable = cursor_u32(&c) & PROT_EXECUTE;
		cursor_u32(&c);		/* flags */
	}
	map.path = cursor_string(&c);
	if (!map.path || map.size > ~0ull - map.start)
		return;
	handler->map(handler->arg, &map);
}

static void symbol_deliver(const struct perfdata_handler *handler, const u8 *record)
{
	struct cursor c = record_body(record);
	struct perfdata_symbol symbol = { .start = cursor_u64(&c) };

	symbol.size = cursor_u32(&c);
	cursor_uint(&c, 2);	/* type */
	symbol.gone = cursor_uint(&c, 2) & PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER;
	symbol.name = cursor_string(&c);
	if (symbol.name && symbol.size <= ~0ull - symbol.start)
		handler->symbol(handler->arg, &symbol);
}

static void comm_deliver(const struct perfdata_handler *handler, const u8 *record)
{
	struct cursor c = record_body(record);
	struct perfdata_task task = { .pid = cursor_u32(&c) };

	task.tid = cursor_u32(&c);
	task.comm = cursor_string(&c);
	if (task.comm)
		handler->comm(handler->arg, &task);
}

/* FORK and EXIT. */
static void task_deliver(const struct perfdata_handler *handler, const u8 *record)
{
	struct record_header header = record_header(record);
	struct cursor c = record_body(record);
	struct perfdata_task task = { .pid = cursor_u32(&c) };

	task.parent_pid = cursor_u32(&c);
	task.tid = cursor_u32(&c);
	task.parent_tid = cursor_u32(&c);
	if (c.bad)
		return;
	/* perf_event__synthesize_fork() of tools/perf/util/synthetic-events.c; the kernel never sets it. */
	task.found = header.type == PERF_RECORD_FORK && header.misc & PERF_RECORD_MISC_FORK_EXEC;
	(header.type == PERF_RECORD_FORK ? handler->fork : handler->exit)(handler->arg, &task);
}

/* A thread runs again; that it stops, a sched_switch event says. */
static void switch_deliver(const struct perfdata *data, const struct perfdata_handler *handler, const u8 *record)
{
	u32 tid;
	u64 time = record_id(data, record, &tid);

	if (handler->resume && time && !(record_header(record).misc & PERF_RECORD_MISC_SWITCH_OUT))
		handler->resume(handler->arg, tid, time);
}

static int sample_deliver(struct perfdata *data, const struct perfdata_handler *handler,
			  const u8 *record, struct bee_error *error)
{
	struct perfdata_sample sample;
	u64 time;

	if (sample_read(data, record, &sample, &time, error))
		return -1;
	if (data->event[sample.event].calls && sample.chain)
		sample_take_calls(data, &sample, record);
	if (!deferred_add(data, &sample))
		handler->sample(handler->arg, &sample);
	return 0;
}

/**
 * record_deliver() - hand out a record of the kernel
 * @data: its recording
 * @handler: takes it
 * @record: all its bytes
 * @error: filled on failure
 *
 * Return: 0, also for kinds that are of no interest; -1 if it is malformed.
 */
int record_deliver(struct perfdata *data, const struct perfdata_handler *handler, const u8 *record,
		   struct bee_error *error)
{
	struct cursor c = record_body(record);

	switch (record_header(record).type) {
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
		map_deliver(handler, record);
		break;
	case PERF_RECORD_KSYMBOL:
		symbol_deliver(handler, record);
		break;
	case PERF_RECORD_COMM:
		comm_deliver(handler, record);
		break;
	case PERF_RECORD_FORK:
		task_deliver(handler, record);
		break;
	case PERF_RECORD_EXIT:
		/* Without times, samples of the thread may follow. */
		if (record_time(data, record))
			task_deliver(handler, record);
		break;
	case PERF_RECORD_LOST:
		cursor_u64(&c);		/* id */
		data->lost += cursor_u64(&c);
		break;
	case PERF_RECORD_LOST_SAMPLES:
		if (!(record_header(record).misc & MISC_LOST_SAMPLES_BPF))
			data->lost_samples += cursor_u64(&c);
		break;
	case PERF_RECORD_SWITCH:
	case PERF_RECORD_SWITCH_CPU_WIDE:
		switch_deliver(data, handler, record);
		break;
	case PERF_RECORD_THROTTLE:
		data->throttled++;
		break;
	case RECORD_DEFERRED:
		deferred_deliver(data, c, handler);
		break;
	case PERF_RECORD_SAMPLE:
		return sample_deliver(data, handler, record, error);
	}
	return 0;
}
