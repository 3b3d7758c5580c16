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

/* Is every address of the @count mappings that map_apart() made found? */
static bool has_apart(struct spaces *spaces, u32 pid, u64 count)
{
	const struct space *space = spaces_task(spaces, pid)->space;
	u64 i;

	for (i = 0; i < count; i++)
		if (!space_find(space, 2 * i))
			return false;
	return true;
}

/* Map @count pages, each at a lower address than those before it, and none next to another. */
static void map_apart(struct spaces *spaces, u32 pid, u64 count)
{
	while (count--)
		spaces_map(spaces, pid, &(struct space_map){ 2 * count, 2 * count + 1, 0, 1 });
}

/* Processes with many mappings lose theirs, and no other does. */
static void test_many(void)
{
	struct spaces spaces;
	bool kept = true;
	u32 pid;

	spaces_open(&spaces);
	spaces.max_maps = 1000;
	for (pid = 1; pid <= 10; pid++)
		map_apart(&spaces, pid, 20);
	for (pid = 100; pid < 200; pid++)
		map_apart(&spaces, pid, 70);
	map_apart(&spaces, 200, 500);
	for (pid = 201; pid < 220; pid++) {
		spaces_fork(&spaces, 200, pid);
		spaces_map(&spaces, pid, &(struct space_map){ 5000, 5001, 0, 1 });
	}
	for (pid = 11; pid <= 12; pid++)
		map_apart(&spaces, pid, 20);
	for (pid = 1; pid <= 12; pid++)
		kept &= has_apart(&spaces, pid, 20);
	ksft_test_result(kept && spaces.maps <= 1000, "processes with few mappings keep them\n");
	ksft_test_result(spaces.forgotten > 100 * 70 - 1000, "mappings that are forgotten are counted\n");
	spaces_close(&spaces);
}

static void test_too_many(void)
{
	const u64 most = 1 << 14;
	struct spaces spaces;

	spaces_open(&spaces);
	map_apart(&spaces, 1, most);
	ksft_test_result(has_apart(&spaces, 1, most) && !spaces.forgotten, "%llu mappings of a process\n",
			 (unsigned long long)most);
	spaces_map(&spaces, 1, &(struct space_map){ 2 * most, 2 * most + 1, 0, 1 });
	ksft_test_result(has_apart(&spaces, 1, most) && spaces.forgotten == 1,
			 "one mapping more than a process may have is counted\n");
	spaces_close(&spaces);
}

int main(void)
{
	static struct pages pages[3];
	struct spaces spaces;
	size_t round, i, wrong = 0;

	ksft_print_header();
	ksft_set_plan(5);
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
	test_many();
	test_too_many();
	ksft_finished();
}
