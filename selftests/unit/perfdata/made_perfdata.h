/* SPDX-License-Identifier: GPL-2.0 */
/* Recordings as perf writes them, made by tests. */
#ifndef MADE_PERFDATA_H
#define MADE_PERFDATA_H

#include <linux/perf_event.h>
#include <string.h>

#include "alloc.h"

/* struct made - bytes of a recording */
struct made {
	uint8_t	bytes[64 << 10];
	size_t	size;
};

#define MADE_SAMPLE_TYPE	(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | \
				 PERF_SAMPLE_TIME | PERF_SAMPLE_PERIOD | PERF_SAMPLE_CALLCHAIN)
#define MADE_ID			77
#define MADE_ATTRS		104
#define MADE_RECORDS		(MADE_ATTRS + sizeof(struct perf_event_attr) + 16 + 8)

static inline void made_put(struct made *made, const void *bytes, size_t size)
{
	memcpy(made->bytes + made->size, bytes, size);
	made->size += size;
}

static inline void made_put_u64(struct made *made, uint64_t value)
{
	made_put(made, &value, sizeof(value));
}

static inline void made_header(struct made *made, uint32_t type, uint16_t misc, uint16_t size)
{
	const struct perf_event_header header = { type, misc, size };

	made_put(made, &header, sizeof(header));
}

/* What ends records other than samples: TID, TIME, IDENTIFIER. */
static inline void made_sample_id(struct made *made, uint32_t pid, uint64_t time)
{
	made_put_u64(made, (uint64_t)pid << 32 | pid);
	made_put_u64(made, time);
	made_put_u64(made, MADE_ID);
}

static inline struct perf_event_attr made_attr(void)
{
	return (struct perf_event_attr){
		.size = sizeof(struct perf_event_attr), .sample_type = MADE_SAMPLE_TYPE,
		.sample_id_all = 1, .freq = 1,
	};
}

/* perf.data's header with one event; made_finish() completes it. */
static inline void made_begin_file(struct made *made)
{
	const struct perf_event_attr attr = made_attr();
	const uint64_t ids = MADE_ATTRS + sizeof(attr) + 16;
	const uint64_t header[13] = {
		0x32454c4946524550ull, 104, sizeof(attr) + 16, MADE_ATTRS, sizeof(attr) + 16,
		MADE_RECORDS,
	};

	made->size = 0;
	made_put(made, header, sizeof(header));
	made_put(made, &attr, sizeof(attr));
	made_put_u64(made, ids);
	made_put_u64(made, 8);
	made_put_u64(made, MADE_ID);
}

/* Write the record with which perf describes an event to the reader of its pipe.  The event has one id. */
static inline void made_event(struct made *made, const struct perf_event_attr *attr, uint64_t id)
{
	made_header(made, 64, 0, 8 + sizeof(*attr) + 8);
	made_put(made, attr, sizeof(*attr));
	made_put_u64(made, id);
}

/* Write the header that perf writes first to a pipe.  Then the test calls made_event() for each event. */
static inline void made_begin_pipe(struct made *made)
{
	made->size = 0;
	made_put_u64(made, 0x32454c4946524550ull);
	made_put_u64(made, 16);
}

static inline void made_comm(struct made *made, uint32_t pid, uint64_t time, const char *comm)
{
	char name[16] = "";

	strncpy(name, comm, sizeof(name) - 1);
	made_header(made, PERF_RECORD_COMM, 0, 8 + 8 + sizeof(name) + 24);
	made_put_u64(made, (uint64_t)pid << 32 | pid);
	made_put(made, name, sizeof(name));
	made_sample_id(made, pid, time);
}

static inline void made_map(struct made *made, uint32_t pid, uint64_t time, uint64_t start,
			    uint64_t size, uint64_t offset, const char *path)
{
	char name[64] = "";
	const uint32_t prot[2] = { 5, 2 };

	strncpy(name, path, sizeof(name) - 1);
	made_header(made, PERF_RECORD_MMAP2, PERF_RECORD_MISC_USER,
		    8 + 8 + 24 + 24 + 8 + sizeof(name) + 24);
	made_put_u64(made, (uint64_t)pid << 32 | pid);
	made_put_u64(made, start);
	made_put_u64(made, size);
	made_put_u64(made, offset);
	made_put_u64(made, 0);		/* major, minor */
	made_put_u64(made, 0);		/* inode */
	made_put_u64(made, 0);		/* generation */
	made_put(made, prot, sizeof(prot));
	made_put(made, name, sizeof(name));
	made_sample_id(made, pid, time);
}

static inline void made_sample(struct made *made, uint32_t pid, uint64_t time,
			       const uint64_t *chain, uint64_t depth)
{
	made_header(made, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER, 8 + 6 * 8 + 8 * depth);
	made_put_u64(made, MADE_ID);
	made_put_u64(made, depth ? chain[depth > 1] : 0);
	made_put_u64(made, (uint64_t)pid << 32 | pid);
	made_put_u64(made, time);
	made_put_u64(made, 1000);
	made_put_u64(made, depth);
	made_put(made, chain, 8 * depth);
}

static inline void made_round(struct made *made)
{
	made_header(made, 68, 0, 8);
}

/* Enter how many bytes of records the file has. */
static inline void made_finish(struct made *made)
{
	const uint64_t size = made->size - MADE_RECORDS;

	memcpy(made->bytes + 48, &size, sizeof(size));
}

#endif /* MADE_PERFDATA_H */
