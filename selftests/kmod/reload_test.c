// SPDX-License-Identifier: GPL-2.0
/*
 * A process is loaded once, with "beectl load".  Then it closes a library and opens another one,
 * which gets the same addresses but has frames of another size.  Are the stacks right?
 */
#include <dlfcn.h>
#include <errno.h>
#include <libgen.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "guest.h"
#include "kselftest.h"

#define RING_PAGES	64

typedef int call_fn(int (*fn)(void *), void *arg);

static struct guest g;
static int sampler;
static struct perf_event_mmap_page *ring;

/* Samples in spin_called(): all; those with the right callers; those with wrong callers. */
static int samples, right, wrong;

static void sampler_open(void)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr), .type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = 500000 /* ns */, .sample_type = PERF_SAMPLE_CALLCHAIN,
		.exclude_callchain_kernel = 1, .disabled = 1,
	};

	sampler = syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	ring = mmap(NULL, (1 + RING_PAGES) * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, sampler, 0);
	if (sampler < 0 || ring == MAP_FAILED)
		guest_die("perf_event_open", strerror(errno));
}

/*
 * Each of the two functions has a section of its own, to which the linker gives a start and an end:
 * they are next to each other, and a sample in one must not count for the other.
 */
extern const char __start_spin[], __stop_spin[], __start_call[], __stop_call[];

static __attribute__((noinline, section("spin"))) int spin_called(void *arg)
{
	volatile unsigned int i;

	for (i = 0; i < 20000000; i++)
		;
	return !arg;
}

/* The volatile result keeps the call from being a tail call, so that this function is in the stack. */
static __attribute__((noinline, section("call"))) int call_library(call_fn *fn)
{
	volatile int result = fn(spin_called, NULL);

	return result;
}

static bool is_in(uint64_t ip, const void *start, const void *end)
{
	return ip >= (uintptr_t)start && ip < (uintptr_t)end;
}

/* The word at a position in the ring buffer; records are aligned to eight bytes. */
static uint64_t ring_word(uint64_t at)
{
	const char *data = (const char *)ring + PAGE;

	return *(const uint64_t *)(data + at % (RING_PAGES * PAGE));
}

/*
 * @at: where a callchain is in the ring: its length, PERF_CONTEXT_USER, addresses.
 * @library: torture_call(), the library's one function that calls.
 */
static void judge(uint64_t at, const char *library)
{
	uint64_t n = ring_word(at);

	if (n < 2 || ring_word(at + 8) != (uint64_t)PERF_CONTEXT_USER ||
	    !is_in(ring_word(at + 16), __start_spin, __stop_spin))
		return;
	samples++;
	if (n >= 4 && is_in(ring_word(at + 24), library, library + 128) &&
	    is_in(ring_word(at + 32), __start_call, __stop_call)) {
		right++;
	} else if (n >= 4) {
		wrong++;
		ksft_print_msg("wrong: %#lx in spin_called() at %p, then %#lx, %#lx\n",
			       ring_word(at + 16), (const void *)__start_spin, ring_word(at + 24),
			       ring_word(at + 32));
	}
}

static void sample_call(call_fn *fn)
{
	uint64_t at = ring->data_head;

	samples = right = wrong = 0;
	ioctl(sampler, PERF_EVENT_IOC_ENABLE, 0);
	call_library(fn);
	ioctl(sampler, PERF_EVENT_IOC_DISABLE, 0);
	while (at < ring->data_head) {
		uint64_t word = ring_word(at);
		struct perf_event_header header;

		memcpy(&header, &word, sizeof(header));
		if (header.type == PERF_RECORD_SAMPLE)
			judge(at + 8, (const void *)fn);
		at += header.size;
	}
	ring->data_tail = at;
}

static void *open_lib(int frame)
{
	char exe[200], path[256];
	ssize_t n = readlink("/proc/self/exe", exe, sizeof(exe) - 1);
	void *lib;

	exe[n < 0 ? 0 : n] = '\0';
	snprintf(path, sizeof(path), "%s/libtorture%d.so", dirname(exe), frame);
	lib = dlopen(path, RTLD_NOW);
	if (!lib)
		guest_die("dlopen", dlerror());
	return lib;
}

/* Open the library, call it while sampling, close it.  Return: the address of torture_call(). */
static const void *sample_lib(int frame)
{
	void *lib = open_lib(frame);
	call_fn *fn = (call_fn *)dlsym(lib, "torture_call");

	sample_call(fn);
	dlclose(lib);
	ksft_print_msg("frame of %d: %d samples, %d right, %d wrong\n", frame, samples, right,
		       wrong);
	return (const void *)fn;
}

static uint64_t no_table(void)
{
	struct netlink_stats stats;

	if (netlink_stats_get(g.nl, &stats, &g.error))
		guest_die("stats", g.error.text);
	return stats.stop[BEEUNWIND_STOP_NO_TABLE] + stats.fp_steps;
}

int main(void)
{
	struct netlink_info loaded, now;
	const void *first, *again;
	void *libs[2];
	char load[300];
	uint64_t counted;

	ksft_print_header();
	ksft_set_plan(5);
	guest_open(&g);
	sampler_open();
	libs[0] = open_lib(1008);
	libs[1] = open_lib(4080);
	snprintf(load, sizeof(load), "%s load -q %d", getenv("BEECTL"), getpid());
	ksft_test_result(!system(load), "beectl load\n");
	guest_info(&g, &loaded);
	dlclose(libs[1]);
	dlclose(libs[0]);

	first = sample_lib(1008);
	ksft_test_result(samples > 5 && right == samples, "stacks through the library\n");
	again = sample_lib(4080);
	ksft_test_result(again == first && samples > 5 && right == samples,
			 "stacks through another in its place that is known\n");
	counted = no_table();
	again = sample_lib(240);
	counted = no_table() - counted;
	ksft_test_result(again == first && samples > 5 && !wrong && counted >= (uint64_t)samples,
			 "without a table it is the frame pointer, and counted: %lu\n", counted);
	guest_info(&g, &now);
	ksft_test_result(now.tables == loaded.tables, "nobody has loaded anything since\n");
	ksft_finished();
}
