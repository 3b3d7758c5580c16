// SPDX-License-Identifier: GPL-2.0
/* The choice of tag classes, compared with a search of all choices. */
#include "kselftest.h"
#include "random.h"
#include "tag_classes.h"

static bool class_says(const struct bee_table_class *class, bool step, u32 gap, u32 place)
{
	if (!(class->gap & BEE_CLASS_STEP) != !step || (class->gap & 15u) < gap)
		return false;
	return class->gap & BEE_CLASS_DIRECT || (place != TAG_DIRECT && class->id >= place);
}

static u32 class_cost(const struct bee_table_class *class)
{
	return (class->gap & 15) + class->id;
}

/* Is best[] of each counted need a class that can hold it, and none cheaper can? */
static bool best_is_best(const struct tag_classes *tags)
{
	u32 step, gap, place, i;

	for (step = 0; step < 2; step++)
		for (gap = 0; gap < TAG_WIDTHS; gap++)
			for (place = 0; place < TAG_WIDTHS; place++) {
				const struct bee_table_class *best =
					&tags->classes[tags->best[step][gap][place]];

				if (!tags->counts[step][gap][place])
					continue;
				if (!class_says(best, step, gap, place))
					return false;
				for (i = 0; i < BEE_TABLE_CLASSES; i++)
					if (class_says(&tags->classes[i], step, gap, place) &&
					    class_cost(&tags->classes[i]) < class_cost(best))
						return false;
			}
	return true;
}

/* Bits of all fields, if each need has a class of its own (@own), or with the chosen classes. */
static u64 total_bits(const struct tag_classes *tags, bool own)
{
	u64 bits = 0;
	u32 step, gap, place;

	for (step = 0; step < 2; step++)
		for (gap = 0; gap < TAG_WIDTHS; gap++)
			for (place = 0; place < TAG_WIDTHS; place++) {
				const struct bee_table_class *best =
					&tags->classes[tags->best[step][gap][place]];
				u32 id = place == TAG_DIRECT ? tags->id_bits[step] : place;

				bits += (u64)tags->counts[step][gap][place] *
					(own ? gap + id : class_cost(best));
			}
	return bits;
}

static struct tag_classes make_tags(u32 needs)
{
	struct tag_classes tags = { .id_bits = { 9, 13 }, .menu_bits = { 5, 8 } };
	u32 i;

	for (i = 0; i < needs; i++) {
		bool step = random_u64() & 1;
		u32 place = random_u64() % (tags.menu_bits[step] + 2);

		if (place > tags.menu_bits[step])
			place = TAG_DIRECT;
		tags.counts[step][random_u64() % 11][place] += 1 + random_u64() % 1000;
	}
	return tags;
}

/* Two classes can hold any need; with at most 14 needs each gets another class to itself. */
static void test_few(void)
{
	u32 round, wrong = 0;

	for (round = 0; round < 80; round++) {
		struct tag_classes tags = make_tags(1 + round % 8);

		tag_classes_fit(&tags);
		wrong += !best_is_best(&tags) ||
			 total_bits(&tags, false) != total_bits(&tags, true);
	}
	ksft_test_result(!wrong, "few needs: no bit more than each takes\n");
}

/* Bits of the cheapest class that can hold a token. */
static u32 least_cost(const struct tag_classes *tags, u32 step, u32 gap, u32 place)
{
	u32 i, best = 64;

	for (i = 0; i < BEE_TABLE_CLASSES; i++)
		if (class_says(&tags->classes[i], step, gap, place) &&
		    class_cost(&tags->classes[i]) < best)
			best = class_cost(&tags->classes[i]);
	return best;
}

/* Is there no other class that would save bits in the place of the last one? */
static bool is_local_optimum(const struct tag_classes *tags)
{
	u64 found = total_bits(tags, false);
	u32 last = BEE_TABLE_CLASSES - 1, step, gap, id, s, g, p;

	for (step = 0; step < 2; step++)
		for (gap = 0; gap < 11; gap++)
			for (id = 0; id <= tags->menu_bits[step]; id++) {
				struct tag_classes other = *tags;
				u64 bits = 0;

				other.classes[last] = (struct bee_table_class){
					.gap = gap | (step ? BEE_CLASS_STEP : 0), .id = id,
				};
				for (s = 0; s < 2; s++)
					for (g = 0; g < TAG_WIDTHS; g++)
						for (p = 0; p < TAG_WIDTHS; p++)
							bits += !tags->counts[s][g][p] ? 0 :
								(u64)tags->counts[s][g][p] *
								least_cost(&other, s, g, p);
				if (bits < found)
					return false;
			}
	return true;
}

static void test_many(void)
{
	u32 round, wrong = 0, worse = 0;

	for (round = 0; round < 4; round++) {
		struct tag_classes tags = make_tags(200);

		tag_classes_fit(&tags);
		wrong += !best_is_best(&tags);
		worse += !is_local_optimum(&tags);
	}
	ksft_test_result(!wrong, "many needs: each has its cheapest class\n");
	ksft_test_result(!worse, "many needs: no other last class is better\n");
}

int main(void)
{
	ksft_print_header();
	ksft_set_plan(3);
	test_few();
	test_many();
	ksft_finished();
}
