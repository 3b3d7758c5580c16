// SPDX-License-Identifier: GPL-2.0
/* Takes user callchains of a process by perf_event_open(), without the perf tool. */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/perf_event.h>

#include "chains.h"
#include "guest.h"

#define RING_BYTES	(1ul << 20)
#define PERIOD_NS	1000000
/* Length of _start, at most; as in selftests/lib/stacks.py. */
#define START_BYTES	0x30

/* <linux/perf_event.h> of Linux 6.19: two bits of the word behind read_format. */
#define FLAGS_WORD	((offsetof(struct perf_event_attr, read_format) + 8) / 8)
#define DEFER_CALLCHAIN	(1ull << 38)
#define DEFER_OUTPUT	(1ull << 39)
/* Its payload: a cookie, the number of entries, the entries. */
#define RECORD_CALLCHAIN_DEFERRED	22

static uint64_t entry_point(pid_t pid)
{
	Elf64_auxv_t aux[64];
	char path[64];
	ssize_t got;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/auxv", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	got = fd < 0 ? -1 : read(fd, aux, sizeof(aux));
	close(fd);
	for (ssize_t i = 0; i < got / (ssize_t)sizeof(aux[0]); i++)
		if (aux[i].a_type == AT_ENTRY)
			return aux[i].a_un.a_val;
	guest_die(path, "no AT_ENTRY");
}

static void judge(const uint64_t *frames, uint64_t n, uint64_t entry, uint64_t mark,
		  struct chains *c)
{
	uint64_t i;

	c->total++;
	c->complete += frames[n - 1] - entry < START_BYTES;
	for (i = 0; i < n && frames[i] != mark; i++)
		;
	c->marked += i < n;
}

/* @at: what PERF_SAMPLE_CALLCHAIN adds to a record: the number of entries, then the entries. */
static void judge_sample(const uint64_t *at, uint64_t entry, uint64_t mark, struct chains *c)
{
	uint64_t n = *at++;

	while (n && *at != PERF_CONTEXT_USER) {
		at++;
		n--;
	}
	if (n > 1)
		judge(at + 1, n - 1, entry, mark, c);
}

/* The same of a deferred callchain, which has user frames only, perhaps behind a context. */
static void judge_deferred(const uint64_t *at, uint64_t entry, uint64_t mark, struct chains *c)
{
	uint64_t n = *at++;

	if (n && *at >= PERF_CONTEXT_MAX) {
		at++;
		n--;
	}
	if (n)
		judge(at, n, entry, mark, c);
}

static void drain(struct perf_event_mmap_page *page, uint64_t entry, uint64_t mark,
		  struct chains *c)
{
	static union {
		struct perf_event_header	header;
		uint64_t			words[8192];
	} whole;
	uint64_t head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE);
	const uint8_t *data = (const uint8_t *)page + PAGE;
	uint64_t tail = page->data_tail;

	while (tail < head) {
		const size_t at = tail % RING_BYTES;
		const struct perf_event_header *header = (const void *)(data + at);
		const size_t size = header->size, first = RING_BYTES - at;

		memcpy(&whole, header, first < size ? first : size);
		if (first < size)
			memcpy((uint8_t *)&whole + first, data, size - first);
		if (whole.header.type == PERF_RECORD_SAMPLE)
			judge_sample(whole.words + 1, entry, mark, c);
		else if (whole.header.type == RECORD_CALLCHAIN_DEFERRED)
			judge_deferred(whole.words + 2, entry, mark, c);
		tail += size;
	}
	__atomic_store_n(&page->data_tail, tail, __ATOMIC_RELEASE);
}

/* @flags: for the word of flags.  Return: NULL if the kernel does not know them. */
static struct perf_event_mmap_page *event_open(pid_t pid, uint64_t flags, int *fd)
{
	union {
		struct perf_event_attr	attr;
		uint64_t		words[sizeof(struct perf_event_attr) / sizeof(uint64_t)];
	} event = { .attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(event.attr),
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = PERIOD_NS,
		.sample_type = PERF_SAMPLE_CALLCHAIN,
		.exclude_callchain_kernel = 1,
		.wakeup_events = 50,
	} };
	void *page;

	event.words[FLAGS_WORD] |= flags;
	*fd = syscall(SYS_perf_event_open, &event.attr, pid, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (*fd < 0 && flags)
		return NULL;
	page = mmap(NULL, PAGE + RING_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, *fd, 0);
	if (*fd < 0 || page == MAP_FAILED)
		guest_die("perf_event_open", strerror(errno));
	return page;
}

static bool take(pid_t pid, uint64_t flags, unsigned int samples, uint64_t mark, struct chains *c)
{
	const uint64_t entry = entry_point(pid);
	const long deadline = guest_deadline();
	struct perf_event_mmap_page *page;
	struct pollfd ready = { .events = POLLIN };

	*c = (struct chains){ 0 };
	page = event_open(pid, flags, &ready.fd);
	if (!page)
		return false;
	do {
		poll(&ready, 1, 1000);
		drain(page, entry, mark, c);
	} while (c->total < samples && guest_waits(deadline));
	munmap(page, PAGE + RING_BYTES);
	close(ready.fd);
	return true;
}

/**
 * chains_take() - take callchains of a process and judge them
 * @pid: the process, which must use the CPU
 * @samples: take at least so many, but end at guest_deadline()
 * @mark: an entry to look for
 * @c: result
 */
void chains_take(pid_t pid, unsigned int samples, uint64_t mark, struct chains *c)
{
	take(pid, 0, samples, mark, c);
}

/**
 * chains_take_deferred() - the same, with user callchains that the kernel takes when the process
 * returns to user space
 *
 * Return: false if this kernel does not have them.
 */
bool chains_take_deferred(pid_t pid, unsigned int samples, uint64_t mark, struct chains *c)
{
	return take(pid, DEFER_CALLCHAIN | DEFER_OUTPUT, samples, mark, c);
}
