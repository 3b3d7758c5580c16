// SPDX-License-Identifier: GPL-2.0
/*
 * Mutate valid tables: faster than libFuzzer, which must find the format by coverage first.
 * Each section of a seed is mutated equally often, the checksum is repaired, and the memory is
 * exactly as large as the table.
 *
 *	mutate_table COUNT SEED TABLE...
 */
#include <linux/crc32.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "use_table.h"

void __sanitizer_set_death_callback(void (*callback)(void));

#define MAX_SECTIONS	16
#define MAX_RESIZE	8	/* bytes that a mutation adds or takes away at most */
#define LISTED_ROWS	8
#define PLACES		16

/**
 * struct seed - a good table
 * @bytes: the table
 * @size: bytes of the table
 * @starts: where its sections start, and the end
 * @nsections: number of sections
 * @rooms: memory for mutations of each size from @size - MAX_RESIZE on
 */
struct seed {
	u8	*bytes;
	size_t	 size;
	u32	 starts[MAX_SECTIONS + 1];
	u32	 nsections;
	u8	*rooms[2 * MAX_RESIZE + 1];
};

static u64 random_state, mutations, accepted;
static struct seed *seeds;

static u64 random_u64(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

static u32 random_below(u32 n)
{
	return (random_u64() >> 32) * n >> 32;
}

static void add_section(struct seed *seed, u64 start)
{
	if (!seed->nsections || start > seed->starts[seed->nsections - 1])
		seed->starts[seed->nsections++] = start;
}

static u64 place_of(const struct bee_table *table, const void *p)
{
	return (const u8 *)p - (const u8 *)table->header;
}

static void find_sections(struct seed *seed, const struct bee_table *table)
{
	u32 kind;

	add_section(seed, 0);
	add_section(seed, offsetof(struct bee_table_header, classes));
	add_section(seed, offsetof(struct bee_table_header, nphrases));
	add_section(seed, offsetof(struct bee_table_header, id));
	add_section(seed, place_of(table, table->segments));
	add_section(seed, place_of(table, table->full));
	if (!table->window) {
		add_section(seed, place_of(table, table->rows));
		seed->starts[seed->nsections] = seed->size;
		return;
	}
	add_section(seed, place_of(table, table->rules));
	add_section(seed, place_of(table, table->pages));
	add_section(seed, place_of(table, table->head_menu));
	add_section(seed, place_of(table, table->step_menus));
	for (kind = 0; kind < 2; kind++) {
		add_section(seed, table->kinds[kind].groups[0].phrases / 8);
		add_section(seed, table->kinds[kind].groups[0].shapes / 8);
	}
	add_section(seed, table->records / 8);
	seed->starts[seed->nsections] = seed->size;
}

static u32 random_place(const struct seed *seed)
{
	u32 i = random_below(seed->nsections);

	return seed->starts[i] + random_below(seed->starts[i + 1] - seed->starts[i]);
}

static u64 random_value(void)
{
	static const u64 edges[] = { 0, 1, 7, 8, 0x7f, 0x80, 0xff, 0x7fff, 0xffff, 0x7fffffff, ~0ull };
	const u32 n = sizeof(edges) / sizeof(edges[0]);
	u32 i = random_below(n + 1);

	return i < n ? edges[i] : random_u64();
}

static void mutate_bytes(u8 *bytes, size_t size, u32 at)
{
	u64 value = random_value();
	u32 n = 1u << random_below(4);

	memcpy(bytes + at, &value, n < size - at ? n : size - at);
}

static void mutate_copy(u8 *bytes, size_t size, u32 at, u32 from)
{
	u32 n = 1 + random_below(16);

	if (n > size - at)
		n = size - at;
	if (n > size - from)
		n = size - from;
	memmove(bytes + at, bytes + from, n);
}

static void mutate(const struct seed *seed, u8 *bytes, size_t size)
{
	u32 at = random_place(seed);

	if (at >= size)
		at = size - 1;
	switch (random_below(8)) {
	case 0:
		mutate_bytes(bytes, size, at);
		break;
	case 1:
		mutate_copy(bytes, size, at, random_below(size));
		break;
	case 2:
		bytes[at]++;
		break;
	case 3:
		bytes[at]--;
		break;
	default:
		bytes[at] ^= 1u << random_below(8);
	}
}

/* Copy the seed; one time in eight insert or remove bytes somewhere. */
static u8 *mutation_begin(const struct seed *seed, size_t *size)
{
	u32 resize = MAX_RESIZE, at;
	u8 *bytes;

	if (!random_below(8))
		resize = random_below(2 * MAX_RESIZE + 1);
	bytes = seed->rooms[resize];
	*size = seed->size + resize - MAX_RESIZE;
	at = random_place(seed);
	if (at > *size)
		at = *size;
	memcpy(bytes, seed->bytes, *size < seed->size ? *size : seed->size);
	if (*size < seed->size)
		memcpy(bytes + at, seed->bytes + at + seed->size - *size, *size - at);
	else
		memcpy(bytes + at + *size - seed->size, seed->bytes + at, seed->size - at);
	return bytes;
}

static void repair(u8 *bytes, size_t size)
{
	struct bee_table_header *h = (void *)bytes;

	h->magic = BEE_TABLE_MAGIC;
	h->version = BEE_TABLE_VERSION;
	h->machine = BEE_TABLE_MACHINE;
	h->size = size;
	h->crc = 0;
	h->crc = ~crc32_le(~0u, bytes, size);
}

static void run_one(const struct seed *seed)
{
	struct bee_table_error error = {};
	struct bee_table table;
	size_t size;
	u8 *bytes = mutation_begin(seed, &size);

	do
		mutate(seed, bytes, size);
	while (random_below(2));
	repair(bytes, size);
	mutations++;
	if (!bee_table_validate(bytes, size, &table, &error)) {
		accepted++;
		use_table(&table, LISTED_ROWS, PLACES);
	} else if (!error.why || !*error.why || error.offset > size) {
		abort();
	}
}

static void report(const char *what)
{
	fprintf(stderr, "%s: %llu mutations, %llu accepted, %llu lookups\n", what,
		(unsigned long long)mutations, (unsigned long long)accepted,
		(unsigned long long)use_lookups);
}

static void report_death(void)
{
	report("died");
}

static bool seed_read(struct seed *seed, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct bee_table_error error;
	struct bee_table table;
	struct stat st;
	u32 i;

	if (fd < 0 || fstat(fd, &st) || st.st_size < (off_t)sizeof(struct bee_table_header))
		return false;
	*seed = (struct seed){ .size = st.st_size, .bytes = malloc(st.st_size) };
	if (read(fd, seed->bytes, seed->size) != (ssize_t)seed->size)
		return false;
	close(fd);
	for (i = 0; i <= 2 * MAX_RESIZE; i++)
		seed->rooms[i] = malloc(seed->size + i - MAX_RESIZE);
	if (bee_table_validate(seed->bytes, seed->size, &table, &error))
		return false;
	find_sections(seed, &table);
	return true;
}

int main(int argc, char **argv)
{
	u64 count = argc > 3 ? strtoull(argv[1], NULL, 0) : 0, i;
	u32 nseeds = argc - 3, j;
	time_t last = time(NULL);

	if (!count) {
		fprintf(stderr, "usage: %s COUNT SEED TABLE...\n", argv[0]);
		return 2;
	}
	random_state = strtoull(argv[2], NULL, 0) * 0x9e3779b97f4a7c15ull | 1;
	seeds = calloc(nseeds, sizeof(*seeds));
	for (j = 0; j < nseeds; j++)
		if (!seed_read(&seeds[j], argv[3 + j])) {
			fprintf(stderr, "%s: no good table\n", argv[3 + j]);
			return 2;
		}
	__sanitizer_set_death_callback(report_death);
	for (i = 0; i < count; i++) {
		run_one(&seeds[i % nseeds]);
		if (!(i & 0xffff) && time(NULL) - last >= 60) {
			report("so far");
			last = time(NULL);
		}
	}
	report("done");
	return accepted ? 0 : 1;
}
