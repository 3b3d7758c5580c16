// SPDX-License-Identifier: GPL-2.0
/*
 * Run a command under one perf event and keep perf's records: samples with callchain, user
 * registers and a copy of the stack, all taken at the same moment, and mmap, comm and fork.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <asm/perf_regs.h>
#include <linux/perf_event.h>

#include "record.h"
#include "redzone.h"

#define MAX_CPUS	64
#define MAX_PID		(4u << 20)	/* PID_MAX_LIMIT, linux/threads.h */
#define RING_BYTES	(8u << 20)
/* The most that perf_event.h allows; perf copies less if a record has less room. */
#define STACK_BYTES	65528
#define REGS_MASK	(((1ull << PERF_REG_X86_64_MAX) - 1) & \
			 ~(1ull << PERF_REG_X86_DS | 1ull << PERF_REG_X86_ES | \
			   1ull << PERF_REG_X86_FS | 1ull << PERF_REG_X86_GS))

/* DWARF number of each perf register (x86-64 psABI 1.0, figure 3.36); -1: has none. */
static const int dwarf_number[PERF_REG_X86_64_MAX] = {
	[PERF_REG_X86_AX] = 0, [PERF_REG_X86_DX] = 1, [PERF_REG_X86_CX] = 2,
	[PERF_REG_X86_BX] = 3, [PERF_REG_X86_SI] = 4, [PERF_REG_X86_DI] = 5,
	[PERF_REG_X86_BP] = 6, [PERF_REG_X86_SP] = 7, [PERF_REG_X86_R8] = 8,
	[PERF_REG_X86_R9] = 9, [PERF_REG_X86_R10] = 10, [PERF_REG_X86_R11] = 11,
	[PERF_REG_X86_R12] = 12, [PERF_REG_X86_R13] = 13, [PERF_REG_X86_R14] = 14,
	[PERF_REG_X86_R15] = 15, [PERF_REG_X86_IP] = 16,
	[PERF_REG_X86_FLAGS] = -1, [PERF_REG_X86_CS] = -1, [PERF_REG_X86_SS] = -1,
};

struct ring {
	int				 fd;
	struct perf_event_mmap_page	*page;
	uint8_t				*data;
	uint64_t			 redzone_id;
	struct redzone			 redzone;	/* belongs to the next sample */
};

/* By pid: processes that the launcher has forked and that have called exec since. */
static bool launched[MAX_PID];

static struct ring rings[MAX_CPUS];
static size_t nrings;

/* Ask for callchains as long as kernel.perf_event_max_stack allows. */
static unsigned int max_stack(void)
{
	FILE *file = fopen("/proc/sys/kernel/perf_event_max_stack", "r");
	unsigned int frames = 0;

	if (file && fscanf(file, "%u", &frames) != 1)
		frames = 0;
	if (file)
		fclose(file);
	return frames;
}

/* One event per CPU, as perf refuses a ring buffer for an inherited event on all CPUs. */
static int ring_open(struct ring *ring, pid_t pid, int cpu, uint64_t period_ns)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = period_ns,
		.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
			       PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_REGS_USER |
			       PERF_SAMPLE_STACK_USER,
		.disabled = 1,
		.inherit = 1,
		.enable_on_exec = 1,
		.exclude_callchain_kernel = 1,
		.exclude_hv = 1,
		.mmap = 1,
		.mmap2 = 1,
		.comm = 1,
		.comm_exec = 1,
		.task = 1,
		.sample_id_all = 1,
		.sample_regs_user = REGS_MASK,
		.sample_stack_user = STACK_BYTES,
		.sample_max_stack = max_stack(),
		.watermark = 1,
		.wakeup_watermark = RING_BYTES / 4,
	};

	ring->fd = syscall(SYS_perf_event_open, &attr, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
	if (ring->fd < 0)
		return -1;
	ring->page = mmap(NULL, sysconf(_SC_PAGESIZE) + RING_BYTES, PROT_READ | PROT_WRITE,
			  MAP_SHARED, ring->fd, 0);
	if (ring->page == MAP_FAILED)
		return -1;
	ring->data = (uint8_t *)ring->page + sysconf(_SC_PAGESIZE);
	if (!redzone_attach(ring->fd, cpu, &ring->redzone_id))
		fprintf(stderr, "# no memory below rsp: %s\n", strerror(errno));
	return 0;
}

static void *copy(const void *from, size_t size)
{
	void *to = malloc(size + !size);

	if (!to)
		abort();
	return memcpy(to, from, size);
}

static struct record *record_new(struct recording *recording)
{
	if (recording->count == recording->room) {
		recording->room = recording->room ? 2 * recording->room : 1024;
		recording->record = reallocarray(recording->record, recording->room,
						 sizeof(*recording->record));
		if (!recording->record)
			abort();
	}
	memset(&recording->record[recording->count], 0, sizeof(struct record));
	return &recording->record[recording->count++];
}

static uint64_t take(const uint8_t **at)
{
	uint64_t value;

	memcpy(&value, *at, sizeof(value));
	*at += sizeof(value);
	return value;
}

/* Read TID and TIME: samples begin with them, other records have them in sample_id at the end. */
static void take_id(struct record *record, const uint8_t **at)
{
	uint64_t both = take(at);

	record->pid = (uint32_t)both;
	record->tid = both >> 32;
	record->time = take(at);
}

/* Keep the part of the callchain after PERF_CONTEXT_USER. */
static void take_chain(struct record *record, const uint8_t **at)
{
	uint64_t n = take(at), i;
	const uint8_t *start = *at;

	for (i = 0; i < n; i++)
		if (take(at) == PERF_CONTEXT_USER)
			break;
	if (i < n) {
		record->nchain = n - i - 1;
		record->chain = copy(*at, record->nchain * sizeof(uint64_t));
	}
	*at = start + n * sizeof(uint64_t);
}

/* The red zone read last belongs to this sample if it has the same rsp. */
static void take_redzone(struct record *record, struct ring *ring)
{
	if (ring->redzone.sp && !ring->redzone.fault &&
	    ring->redzone.sp == record->regs[RECORD_RSP])
		record->redzone = copy(ring->redzone.bytes, REDZONE_BYTES);
	ring->redzone.sp = 0;
}

/* Samples of kernel threads, which have no user registers, are dropped. */
static void take_sample(struct recording *recording, struct ring *ring, const uint8_t *at)
{
	struct record *record;
	uint64_t size;
	size_t i;

	if (take(&at) == ring->redzone_id) {
		/* Raw data begins behind its size, a u32. */
		memcpy(&ring->redzone, at + 4, sizeof(ring->redzone));
		return;
	}
	record = record_new(recording);
	take_id(record, &at);
	take_chain(record, &at);
	if (record->pid < 0 || (recording->launcher && !launched[record->pid]) ||
	    take(&at) != PERF_SAMPLE_REGS_ABI_64) {
		free(record->chain);
		recording->count--;
		return;
	}
	for (i = 0; i < PERF_REG_X86_64_MAX; i++) {
		uint64_t value;

		if (!(REGS_MASK >> i & 1))
			continue;
		value = take(&at);
		if (dwarf_number[i] >= 0)
			record->regs[dwarf_number[i]] = value;
	}
	size = take(&at);
	if (size) {
		const uint8_t *stack = at;

		at += size;
		record->nstack = take(&at);
		record->stack = copy(stack, record->nstack);
	}
	take_redzone(record, ring);
	recording->samples++;
}

static void take_record(struct recording *recording, struct ring *ring,
			const struct perf_event_header *header)
{
	const uint8_t *at = (const uint8_t *)(header + 1);
	const uint8_t *id = (const uint8_t *)header + header->size - 24;
	struct record *record;

	switch (header->type) {
	case PERF_RECORD_SAMPLE:
		take_sample(recording, ring, at);
		break;
	case PERF_RECORD_MMAP2:
		record = record_new(recording);
		take_id(record, &id);
		record->type = RECORD_MMAP;
		take(&at);
		record->start = take(&at);
		record->size = take(&at);
		record->offset = take(&at);
		record->name = strdup((const char *)at + 32);
		break;
	case PERF_RECORD_COMM:
		record = record_new(recording);
		take_id(record, &id);
		record->type = RECORD_COMM;
		record->exec = header->misc & PERF_RECORD_MISC_COMM_EXEC;
		launched[record->pid] |= record->exec && record->pid != recording->launcher;
		record->name = strdup((const char *)at + 8);
		break;
	case PERF_RECORD_FORK:
		record = record_new(recording);
		take_id(record, &id);
		record->type = RECORD_FORK;
		memcpy(&record->pid, at, 4);
		memcpy(&record->parent, at + 4, 4);
		memcpy(&record->tid, at + 8, 4);
		launched[record->pid] |= launched[record->parent];
		break;
	case PERF_RECORD_LOST:
		take(&at);
		recording->lost += take(&at);
	}
}

static void ring_drain(struct recording *recording, struct ring *ring)
{
	static uint8_t whole[1 << 16];
	uint64_t head = __atomic_load_n(&ring->page->data_head, __ATOMIC_ACQUIRE);
	uint64_t tail = ring->page->data_tail;

	while (tail < head) {
		const size_t at = tail % RING_BYTES;
		const struct perf_event_header *header = (void *)(ring->data + at);
		size_t size = header->size, first = RING_BYTES - at;

		if (first < size) {
			memcpy(whole, header, first);
			memcpy(whole + first, ring->data, size - first);
			header = (void *)whole;
		}
		take_record(recording, ring, header);
		tail += size;
		__atomic_store_n(&ring->page->data_tail, tail, __ATOMIC_RELEASE);
	}
}

static int by_time(const void *a, const void *b)
{
	const struct record *x = a, *y = b;

	return x->time < y->time ? -1 : x->time > y->time;
}

/* Fork a child in its own process group; it calls exec when it can read a byte from @go. */
static pid_t start(char **argv, int *go)
{
	int pipes[2];
	pid_t pid;
	char byte;

	if (pipe2(pipes, O_CLOEXEC))
		return -1;
	pid = fork();
	if (!pid) {
		setpgid(0, 0);
		if (!freopen("/dev/null", "w", stdout))
			_exit(127);
		if (read(pipes[0], &byte, 1) == 1)
			execvp(argv[0], argv);
		fprintf(stderr, "%s: %s\n", argv[0], strerror(errno));
		_exit(127);
	}
	close(pipes[0]);
	*go = pipes[1];
	return pid;
}

static void drain_all(struct recording *recording)
{
	size_t i;

	for (i = 0; i < nrings; i++)
		ring_drain(recording, &rings[i]);
}

/* Read records until the command ends, or kill it after @seconds or @samples. */
static void follow(struct recording *recording, pid_t pid, unsigned int seconds, size_t samples)
{
	struct pollfd polls[MAX_CPUS];
	time_t end = time(NULL) + seconds;
	size_t i;

	for (i = 0; i < nrings; i++)
		polls[i] = (struct pollfd){ .fd = rings[i].fd, .events = POLLIN };
	while (!waitpid(pid, NULL, WNOHANG)) {
		poll(polls, nrings, 100);
		drain_all(recording);
		if (time(NULL) >= end || recording->samples >= samples) {
			kill(-pid, SIGKILL);
			waitpid(pid, NULL, 0);
			break;
		}
	}
	drain_all(recording);
}

/**
 * record_read() - memory as it was when a sample was taken
 * @sample: the sample
 * @addr: address
 * @to: filled
 * @n: bytes
 *
 * Return: false where it has not been copied.
 */
bool record_read(const struct record *sample, uint64_t addr, void *to, size_t n)
{
	uint64_t sp = sample->regs[RECORD_RSP], at = addr - sp;

	if (at <= sample->nstack && sample->nstack - at >= n)
		memcpy(to, sample->stack + at, n);
	else if (sample->redzone && sp - addr <= REDZONE_BYTES && n <= sp - addr)
		memcpy(to, sample->redzone + REDZONE_BYTES - (sp - addr), n);
	else
		return false;
	return true;
}

/**
 * record_command() - run a command and keep what perf tells of it and its children
 * @recording: filled
 * @argv: the command
 * @launcher: it starts the program that is to be sampled
 * @period_ns: CPU time between samples
 * @seconds: kill it after so many
 * @samples: and after so many samples
 *
 * Return: 0, or -1 with errno set.
 */
int record_command(struct recording *recording, char **argv, bool launcher, uint64_t period_ns,
		   unsigned int seconds, size_t samples)
{
	int go, cpu, cpus = sysconf(_SC_NPROCESSORS_ONLN);
	pid_t pid = start(argv, &go);

	if (pid < 0)
		return -1;
	recording->launcher = launcher ? pid : 0;
	for (cpu = 0; cpu < cpus && cpu < MAX_CPUS; cpu++) {
		if (ring_open(&rings[nrings], pid, cpu, period_ns)) {
			kill(pid, SIGKILL);
			return -1;
		}
		nrings++;
	}
	if (write(go, "", 1) != 1)
		return -1;
	close(go);
	follow(recording, pid, seconds, samples);
	qsort(recording->record, recording->count, sizeof(*recording->record), by_time);
	return 0;
}
