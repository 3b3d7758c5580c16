// SPDX-License-Identifier: GPL-2.0
/*
 * Takes callchains of a running program by tables that are well-formed and wrong: the program's
 * own table with bits changed and the checksum made right.
 *
 *	table_mutate COUNT PID [SEED]
 *
 * PID runs deep_work.  Each table that the validator accepts replaces the right one until some
 * stacks have been taken with it.  Stacks may be short, or have wrong addresses in the program's
 * text; they may not be too long, nor have addresses outside executable mappings, and the program
 * must run on.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <linux/crc32.h>
#include <linux/perf_event.h>

#include "guest.h"
#include "kselftest.h"
#include "kmod/table.h"
#include "random.h"

#define RING_PAGES	64
#define MAX_STACK	"/proc/sys/kernel/perf_event_max_stack"
#define FEW_FRAMES	8	/* deep_work has more */

static struct guest g;
static pid_t pid;
static struct netlink_proc proc;
static uint32_t file;			/* id of deep_work; its table is original */
static uint8_t *original;
static size_t size;
static struct perf_event_mmap_page *ring;
static unsigned int max_frames;	/* that perf asks for */

static struct {
	unsigned long	tried, valid, samples, frames, full, astray, too_long;
	unsigned int	deepest;
} count;

/*
 * Stacks
 */

static int ring_open(unsigned int frames)
{
	int fd = guest_sampler_open(pid, 100000, frames);

	max_frames = frames;
	ring = mmap(NULL, (RING_PAGES + 1) * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (ring == MAP_FAILED)
		guest_die("mmap", strerror(errno));
	return fd;
}

static void ring_close(int fd)
{
	munmap(ring, (RING_PAGES + 1) * PAGE);
	close(fd);
}

static void ring_copy(uint64_t at, void *to, size_t n)
{
	const uint8_t *data = (const uint8_t *)ring + PAGE;
	size_t mask = RING_PAGES * PAGE - 1, i;

	for (i = 0; i < n; i++)
		((uint8_t *)to)[i] = data[(at + i) & mask];
}

static bool is_executable(uint64_t ip)
{
	size_t i;

	for (i = 0; i < proc.ranges.count; i++)
		if (ip - proc.ranges.range[i].start <
		    proc.ranges.range[i].end - proc.ranges.range[i].start)
			return true;
	return false;
}

/* A return address follows a call, so the byte before it must be executable. */
static void judge(const uint64_t *ips, uint64_t n)
{
	unsigned int depth = 0;
	uint64_t i;

	for (i = 0; i < n; i++) {
		if (ips[i] >= PERF_CONTEXT_MAX)
			continue;
		if (depth++ && !is_executable(ips[i] - 1))
			count.astray++;
	}
	count.samples++;
	count.frames += depth;
	count.full += depth == max_frames;
	count.too_long += depth > max_frames;
	if (depth > count.deepest)
		count.deepest = depth;
}

/* Judge all samples in the ring buffer.  Return: their number. */
static unsigned int ring_drain(void)
{
	static uint64_t words[UINT16_MAX / 8];	/* no record is longer */
	uint64_t head = __atomic_load_n(&ring->data_head, __ATOMIC_ACQUIRE);
	uint64_t at = ring->data_tail;
	unsigned int samples = 0;

	while (at < head) {
		struct perf_event_header h;
		uint64_t n;

		ring_copy(at, &h, sizeof(h));
		if (h.type == PERF_RECORD_SAMPLE) {
			if (h.size < 16)
				guest_die("sample", "without a callchain");
			ring_copy(at + 8, &n, sizeof(n));
			if (n > (h.size - 16u) / 8)
				guest_die("sample", "longer than its record");
			ring_copy(at + 16, words, n * 8);
			judge(words, n);
			samples++;
		}
		at += h.size;
	}
	__atomic_store_n(&ring->data_tail, head, __ATOMIC_RELEASE);
	return samples;
}

/*
 * Tables
 */

static void set_crc(uint8_t *blob)
{
	struct bee_table_header *h = (void *)blob;

	h->crc = 0;
	h->crc = ~crc32_le(~0u, blob, size);
}

/* Flip a few bits, or copy words from elsewhere in the table.  Return: is it new and valid? */
static bool mutate(uint8_t *blob)
{
	struct bee_table_error error;
	struct bee_table table;
	uint32_t n = 1 + random_below(random_below(8) ? 4 : 64), i;

	memcpy(blob, original, size);
	for (i = 0; i < n; i++) {
		size_t at = sizeof(struct bee_table_header) +
			    random_below(size - sizeof(struct bee_table_header) - 8);

		if (random_below(4))
			blob[at] ^= 1 << random_below(8);
		else
			memcpy(&blob[at & ~3u],
			       &original[random_below(size - 8) & ~3u], 4);
	}
	set_crc(blob);
	count.tried++;
	return memcmp(blob, original, size) && !bee_table_validate(blob, size, &table, &error);
}

static void use_table(const uint8_t *blob)
{
	int fd = memfd_create("mutant", MFD_CLOEXEC);

	if (fd < 0 || write(fd, blob, size) != (ssize_t)size)
		guest_die("memfd", strerror(errno));
	if (netlink_table_set(g.nl, fd, file, &g.error))
		guest_die("what is valid here is refused there", g.error.text);
	close(fd);
}

/* Wait until walks have used the table: for two samples, or for one if that takes long. */
static void let_it_walk(void)
{
	const struct timespec tick = { .tv_nsec = 300000 };
	const long deadline = guest_deadline();
	unsigned int samples = 0, tries = 0;

	ring_drain();
	while (samples < 2 && (tries++ < 3000 || (!samples && guest_waits(deadline)))) {
		nanosleep(&tick, NULL);
		samples += ring_drain();
	}
	if (!samples)
		guest_die("deep_work", kill(pid, 0) ? "is gone" : "no samples");
}

/* Find deep_work's file in the module, by its name. */
static void find_file(void)
{
	struct netlink_files tables = {};
	size_t i;

	guest_get_proc(&g, pid, &proc);
	if (netlink_files_get(g.nl, &tables, &g.error))
		guest_die("table-get", g.error.text);
	for (i = 0; i < tables.count; i++)
		if (tables.file[i].loaded && strstr(tables.file[i].name, "deep_work"))
			file = tables.file[i].id;
	netlink_files_free(&tables);
	if (!file)
		guest_die("deep_work", "is not loaded, or has no table");
}

static void read_original(void)
{
	char path[64];
	struct stat st;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/exe", pid);
	fd = guest_table_fd(path);
	fstat(fd, &st);
	size = st.st_size;
	original = malloc(size);
	if (!original || pread(fd, original, size, 0) != (ssize_t)size)
		guest_die("table", "cannot be read back");
	close(fd);
}

static unsigned int read_max_stack(void)
{
	FILE *f = fopen(MAX_STACK, "r");
	unsigned int frames;

	if (!f || fscanf(f, "%u", &frames) != 1)
		guest_die(MAX_STACK, "cannot be read");
	fclose(f);
	return frames;
}

int main(int argc, char **argv)
{
	uint64_t seed = argc > 3 ? strtoull(argv[3], NULL, 0)
				 : (uint64_t)getpid() << 32 | time(NULL);
	unsigned long n = argc > 2 ? strtoul(argv[1], NULL, 10) : 0;
	uint8_t *blob;
	int fd;

	if (!n)
		return 2;
	pid = strtol(argv[2], NULL, 10);
	random_state = seed | 1;
	ksft_print_header();
	ksft_set_plan(3);
	ksft_print_msg("seed %#lx\n", seed);
	fflush(stdout);
	guest_open(&g);
	find_file();
	read_original();
	blob = malloc(size);
	fd = ring_open(read_max_stack());
	if (!blob)
		guest_die("table", "no memory");
	while (count.valid < n) {
		if (!mutate(blob))
			continue;
		/* The other half is of stacks that are longer than perf wants them. */
		if (count.valid == n / 2) {
			ring_close(fd);
			fd = ring_open(FEW_FRAMES);
		}
		use_table(blob);
		let_it_walk();
		count.valid++;
	}
	ring_close(fd);
	use_table(original);
	ksft_print_msg("%lu mutants, %lu valid; %lu stacks of %lu frames, deepest %u, "
		       "%lu of them full\n",
		       count.tried, count.valid, count.samples, count.frames, count.deepest, count.full);
	ksft_test_result(!count.astray, "no frame is outside of executable mappings\n");
	ksft_test_result(count.full && !count.too_long, "no stack is longer than perf asked for\n");
	ksft_test_result(!kill(pid, 0), "the program goes on\n");
	ksft_finished();
}
