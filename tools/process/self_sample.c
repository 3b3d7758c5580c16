// SPDX-License-Identifier: GPL-2.0
/* One perf sample of ourselves with a callchain. */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/perf_event.h>

#include "clock.h"
#include "error.h"
#include "self_sample.h"

#define SAMPLE_PERIOD_NS	500000
#define SAMPLE_PATIENCE_MS	2000
#define SAMPLE_PAGES		8

/* The clock needs no PMU, so this works in virtual machines too. */
static int sample_open(void)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = SAMPLE_PERIOD_NS,
		.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_CALLCHAIN,
		.disabled = 1,
		.exclude_kernel = 1,
		.exclude_hv = 1,
		.exclude_callchain_kernel = 1,
		.wakeup_events = 1,
	};

	return syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

/**
 * sample_self() - have perf take at least one sample of us with its callchain
 * @error: filled on failure
 *
 * Return: 0, or -1.
 */
int sample_self(struct bee_error *error)
{
	size_t bytes = (1 + SAMPLE_PAGES) * sysconf(_SC_PAGESIZE);
	struct perf_event_mmap_page *page;
	volatile unsigned int work = 0;
	unsigned int i;
	int64_t end;
	int fd, ret;

	fd = sample_open();
	if (fd < 0)
		return error_set(error, errno, "opening a perf event: %s%s", strerror(errno),
				 errno == EACCES || errno == EPERM ?
				 " (by seccomp, or by kernel.perf_event_paranoid)" : "");
	page = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (page == MAP_FAILED) {
		error_set(error, errno, "mapping a perf buffer: %s", strerror(errno));
		close(fd);
		return -1;
	}
	end = clock_ms() + SAMPLE_PATIENCE_MS;
	ret = ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
	if (ret)
		error_set(error, errno, "enabling a perf event: %s", strerror(errno));
	/* Stay in user mode, where the sample is wanted, until the buffer's head moves. */
	while (!ret && !__atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE) && clock_ms() < end)
		for (i = 0; i < 100000; i++)
			work += i;
	ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
	if (!ret && !__atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE))
		ret = error_set(error, 0, "perf took no sample in %d seconds of work",
				SAMPLE_PATIENCE_MS / 1000);
	munmap(page, bytes);
	close(fd);
	return ret;
}
