// SPDX-License-Identifier: GPL-2.0
/*
 * Code that this process has in memory, and has registered: its ranges are given to the module once, replaced when
 * the code changes, and removed when it goes.
 */
#include <errno.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../jit/made_jit.h"
#include "jit_jobs.h"
#include "kselftest.h"

/* By which code is found. */
struct made_descriptor __jit_debug_descriptor = { .version = 1 };

/*
 * The module, shared with children.  @stale: so many updates are refused as out of date; @changes: during each of
 * them the process does as if it had changed its list.
 */
static struct module {
	struct netlink_code	code;
	struct range		range[8];
	struct netlink_file	file[16];
	uint32_t		files;
	int			updates;
	int			dels;
	int			stale;
	size_t			del;
	size_t			add;
} *module;

struct netlink {
	int nothing;
};

static struct netlink connection;

struct netlink *netlink_clone(const struct netlink *nl, struct bee_error *error)
{
	(void)nl;
	(void)error;
	return &connection;
}

void netlink_close(struct netlink *nl)
{
	(void)nl;
}

void table_jobs_limit(void)
{
}

int netlink_codes_get(struct netlink *nl, uint32_t pid, struct netlink_codes *codes, struct bee_error *error)
{
	size_t i;

	(void)nl;
	(void)pid;
	(void)error;
	*codes = (struct netlink_codes){ 0 };
	if (!module->code.generation)
		return 0;
	codes->code = calloc(1, sizeof(*codes->code));
	codes->count = 1;
	codes->code[0].generation = module->code.generation;
	for (i = 0; i < module->code.ranges.count; i++)
		ranges_append(&codes->code[0].ranges, &module->range[i]);
	return 0;
}

void netlink_codes_free(struct netlink_codes *codes)
{
	if (codes->count)
		ranges_free(&codes->code[0].ranges);
	free(codes->code);
}

int netlink_table_new(struct netlink *nl, int fd, uint32_t pid, uint32_t uid, const char *name, uint32_t *id,
		      struct bee_error *error)
{
	struct netlink_file *file = &module->file[module->files++];
	struct bee_table_header header;

	(void)nl;
	(void)error;
	if (pread(fd, &header, sizeof(header), 0) != sizeof(header) || pid != (uint32_t)getppid() || uid != getuid() ||
	    !strstr(name, "[jit] jit_jobs_test"))
		return error_set(error, EINVAL, "no");
	*file = (struct netlink_file){ .id = module->files, .loaded = true, .identity_len = header.id_len };
	memcpy(file->identity, header.id, header.id_len);
	*id = file->id;
	return 0;
}

int netlink_table_del(struct netlink *nl, uint32_t id, struct bee_error *error)
{
	(void)nl;
	(void)id;
	(void)error;
	module->dels++;
	return 0;
}

int netlink_file_get_id(struct netlink *nl, uint32_t id, struct netlink_file *file, struct bee_error *error)
{
	(void)nl;
	(void)error;
	*file = module->file[id - 1];
	return 0;
}

/* Applies what fits: the whole of each list. */
int netlink_code_update(struct netlink *nl, struct netlink_code *code, const struct range_diff *diff,
			const struct bee_code_heaps *heaps, struct bee_error *error)
{
	size_t i, k, kept = 0;

	(void)nl;
	if (module->stale || code->generation != module->code.generation) {
		module->stale--;
		return error_set(error, ESTALE, "no");
	}
	for (i = 0; i < module->code.ranges.count; i++) {
		for (k = 0; k < diff->del.count && diff->del.range[k].start != module->range[i].start; k++)
			;
		if (k == diff->del.count)
			module->range[kept++] = module->range[i];
	}
	for (i = 0; i < diff->add.count; i++)
		module->range[kept++] = diff->add.range[i];
	module->code.ranges.count = kept;
	if (heaps)
		module->code.heaps = *heaps;
	code->generation = ++module->code.generation;
	module->updates++;
	module->del = diff->del.count;
	module->add = diff->add.count;
	return 0;
}

static struct jit_result result;

static void done(void *arg, pid_t pid, const struct jit_result *found)
{
	(void)arg;
	(void)pid;
	result = *found;
}

static bool look(void)
{
	static struct table_maker maker;
	const pid_t pid = getpid();
	const struct jit_jobs jobs = { .maker = &maker, .jobs = 1, .pid = &pid, .count = 1, .done = done };

	if (!maker.cache)
		maker.cache = cache_open();
	module->updates = module->dels = 0;
	return !jit_jobs_run(&jobs);
}

/* The descriptor, entry, object, frames and code of one function at their addresses, as made_jit.h has them. */
static bool make_code(unsigned int number)
{
	static const struct { uint64_t start, size; } part[] = {
		{ MADE_ENTRY, 0x1000 }, { MADE_OBJECT, 0x1000 }, { MADE_FRAMES, 0x1000 }, { MADE_CODE, 0x1000 },
	};
	int memory = made_memory(1);
	size_t i;

	made_put_frames(memory, MADE_FRAMES, MADE_CODE, number);
	for (i = 0; i < 4; i++) {
		void *at = mmap((void *)part[i].start, part[i].size, PROT_READ | PROT_WRITE,
				MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);

		if (at == MAP_FAILED || pread(memory, at, part[i].size, part[i].start) < 0)
			return false;
	}
	close(memory);
	__jit_debug_descriptor.first = MADE_ENTRY;
	return !mprotect((void *)MADE_CODE, 0x1000, PROT_READ | PROT_EXEC);
}

static bool has_one_range(void)
{
	return module->code.ranges.count == 1 && module->range[0].start == MADE_CODE &&
	       module->range[0].end == MADE_CODE + 0x1000 && module->range[0].offset == MADE_CODE &&
	       module->range[0].file;
}

static bool check_none(void)
{
	return look() && !module->updates && !result.laid && !result.error.text[0];
}

static bool check_new(void)
{
	return make_code(0) && look() && module->updates == 1 && has_one_range() && result.laid == 1 &&
	       result.tables == 1 && result.objects == 1 && result.bytes && !module->dels;
}

static bool check_same(void)
{
	/* It is said to hold still. */
	return look() && module->updates == 1 && !module->add && !module->del && has_one_range() && result.laid == 1 &&
	       !result.tables && !result.removed && !module->dels;
}

static bool check_other(void)
{
	return make_code(5) && look() && module->updates == 1 && module->del == 1 && module->add == 1 &&
	       has_one_range() && result.tables == 1 && result.removed == 1 && module->dels == 1;
}

/* Somebody else was faster: it begins anew. */
static bool check_stale(void)
{
	bool good;

	module->stale = 2;
	good = make_code(6) && look() && module->updates == 1 && result.tables == 1 && !module->stale &&
	       has_one_range();
	module->stale = 100;
	good &= make_code(7) && look() && !module->updates && result.error.code == EAGAIN && !result.tables;
	module->stale = 0;
	return good;
}

static bool check_writable(void)
{
	bool good = !mprotect((void *)MADE_CODE, 0x1000, PROT_READ | PROT_WRITE | PROT_EXEC) && look() &&
		    module->updates == 1 && !module->code.ranges.count && strstr(result.error.text, "writable") &&
		    !result.laid;

	return good && !mprotect((void *)MADE_CODE, 0x1000, PROT_READ | PROT_EXEC);
}

static bool check_gone(void)
{
	if (!look() || !has_one_range())
		return false;
	__jit_debug_descriptor.first = 0;
	return look() && module->updates == 1 && !module->code.ranges.count && result.removed == 1 && !result.laid;
}

int main(void)
{
	ksft_print_header();
	ksft_set_plan(7);
	setenv("BEEUNWIND_CACHE", "/dev/null/none", 1);
	module = mmap(NULL, sizeof(*module), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (module == MAP_FAILED)
		return 1;
	ksft_test_result(check_none(), "a process without code in memory gets no table\n");
	ksft_test_result(check_new(), "new code in memory gets a table\n");
	ksft_test_result(check_same(), "code in memory that has not changed keeps its table\n");
	ksft_test_result(check_other(), "other code at the place of code with a table gets a new table\n");
	ksft_test_result(check_stale(),
			 "ranges that somebody else has changed meanwhile are changed at a later attempt\n");
	ksft_test_result(check_writable(), "code in memory that stays writable gets no table\n");
	ksft_test_result(check_gone(), "code that is registered no more loses its table\n");
	ksft_finished();
}
