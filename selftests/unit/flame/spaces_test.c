// SPDX-License-Identifier: GPL-2.0
/* What is mapped where, against an array with an entry for each page. */
#include "kselftest.h"
#include "random.h"
#include "spaces.h"

#define PAGES	64
#define ROUNDS	20000

/* The file and offset of each page of a process; file 0: nothing is mapped. */
struct pages {
	u32	file[PAGES];
	u64	offset[PAGES];
};

static bool pages_agree(struct spaces *spaces, u32 pid, const struct pages *pages)
{
	const struct space *space = spaces_task(spaces, pid)->space;
	size_t i;

	for (i = 0; i < PAGES; i++) {
		const struct space_map *map = space_find(space, i);

		if (!map != !pages->file[i])
			return false;
		if (map && (map->file != pages->file[i] ||
			    map->offset + i - map->start != pages->offset[i]))
			return false;
	}
	return true;
}

int main(void)
{
	static struct pages pages[3];
	struct spaces spaces;
	size_t round, i, wrong = 0;

	ksft_print_header();
	ksft_set_plan(1);
	spaces_open(&spaces);
	for (round = 0; round < ROUNDS; round++) {
		u32 pid = 1 + random_u64() % 2, action = random_u64() % 20;
		u64 start = random_u64() % PAGES, size = random_u64() % (PAGES - start + 1);
		const struct space_map map = { start, start + size, random_u64() % 1000,
					       1 + random_u64() % 5 };

		if (!action) {
			spaces_fork(&spaces, 3 - pid, pid);
			pages[pid] = pages[3 - pid];
		} else if (action == 1) {
			spaces_exit(&spaces, pid, pid);
			pages[pid] = (struct pages){ 0 };
		} else if (action < 6) {
			spaces_unmap(&spaces, pid, start, start + size);
			for (i = start; i < start + size; i++)
				pages[pid].file[i] = 0;
		} else {
			spaces_map(&spaces, pid, &map);
			for (i = start; i < start + size; i++) {
				pages[pid].file[i] = map.file;
				pages[pid].offset[i] = map.offset + i - start;
			}
		}
		wrong += !pages_agree(&spaces, 1, &pages[1]) || !pages_agree(&spaces, 2, &pages[2]);
	}
	ksft_test_result(!wrong, "%d maps, unmaps, forks and exits\n", ROUNDS);
	spaces_close(&spaces);
	ksft_finished();
}
