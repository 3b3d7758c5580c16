// SPDX-License-Identifier: GPL-2.0
/*
 * Tag classes: which sixteen pairs of field widths make the tokens of a file smallest.  Greedy: add
 * the class that saves most, sixteen times; then replace each by the one that saves most given the
 * others.
 */
#include <string.h>

#include "tag_classes.h"

#define TAG_NO_COST	64
#define TAG_ROUNDS	2

typedef u8 tag_costs[2][TAG_WIDTHS][TAG_WIDTHS];

static bool class_is_step(const struct bee_table_class *class)
{
	return class->gap & BEE_CLASS_STEP;
}

static u32 class_gap_bits(const struct bee_table_class *class)
{
	return class->gap & 0xf;
}

/* How many widths of places a class has room for: all if its tokens have phrase numbers. */
static u32 class_places(const struct bee_table_class *class)
{
	return class->gap & BEE_CLASS_DIRECT ? TAG_WIDTHS : class->id + 1;
}

/* Lower @costs to those of class @index; with @best, it is the best class where it does. */
static void tag_add_class(struct tag_classes *tags, tag_costs costs, u32 index, bool best)
{
	const struct bee_table_class *class = &tags->classes[index];
	const bool step = class_is_step(class);
	u32 gap, place, cost = class_gap_bits(class) + class->id;

	for (gap = 0; gap <= class_gap_bits(class); gap++)
		for (place = 0; place < class_places(class); place++) {
			if (cost >= costs[step][gap][place])
				continue;
			costs[step][gap][place] = cost;
			if (best)
				tags->best[step][gap][place] = index;
		}
}

/* Bits that all tokens together would save with @class, if they cost @costs without it. */
static u64 tag_saving(const struct tag_classes *tags, tag_costs costs,
		       const struct bee_table_class *class)
{
	const bool step = class_is_step(class);
	u32 gap, place, cost = class_gap_bits(class) + class->id;
	u64 saving = 0;

	for (gap = 0; gap <= class_gap_bits(class); gap++)
		for (place = 0; place < class_places(class); place++)
			if (cost < costs[step][gap][place])
				saving += (u64)tags->counts[step][gap][place] *
					  (costs[step][gap][place] - cost);
	return saving;
}

/* Width of the largest gap; -1 if no token is of this kind. */
static int tag_max_gap(const struct tag_classes *tags, bool step)
{
	int gap, place;

	for (gap = TAG_WIDTHS; gap-- > 0;)
		for (place = 0; place < TAG_WIDTHS; place++)
			if (tags->counts[step][gap][place])
				return gap;
	return -1;
}

static struct bee_table_class tag_class(const struct tag_classes *tags, bool step, u32 gap,
					u32 place)
{
	struct bee_table_class class = { .gap = gap | (step ? BEE_CLASS_STEP : 0), .id = place };

	if (place == TAG_DIRECT) {
		class.gap |= BEE_CLASS_DIRECT;
		class.id = tags->id_bits[step];
	}
	return class;
}

/* The class that saves most given those that @costs is of; @otherwise if none saves anything. */
static struct bee_table_class tag_best_class(const struct tag_classes *tags, tag_costs costs,
					      const struct bee_table_class *otherwise)
{
	struct bee_table_class best = *otherwise;
	u64 saving = 0;
	u32 step, place;
	int gap;

	for (step = 0; step < 2; step++)
		for (gap = 0; gap <= tag_max_gap(tags, step); gap++)
			for (place = 0; place <= TAG_DIRECT; place++) {
				struct bee_table_class class = tag_class(tags, step, gap, place);
				u64 s;

				if (place > tags->menu_bits[step] && place != TAG_DIRECT)
					continue;
				s = tag_saving(tags, costs, &class);
				if (s > saving) {
					saving = s;
					best = class;
				}
			}
	return best;
}

/* Costs with the first @n classes but @without. */
static void tag_costs_of(struct tag_classes *tags, tag_costs costs, u32 n, u32 without)
{
	u32 i;

	memset(costs, TAG_NO_COST, sizeof(tag_costs));
	for (i = 0; i < n; i++)
		if (i != without)
			tag_add_class(tags, costs, i, false);
}

/**
 * tag_classes_fit() - find the classes
 * @tags: counts and widths set; classes and best are filled
 *
 * The first class of each kind in use is wide enough for all its tokens.
 */
void tag_classes_fit(struct tag_classes *tags)
{
	u32 n = 0, fixed, step, i, round;
	tag_costs costs;

	for (step = 0; step < 2; step++)
		if (tag_max_gap(tags, step) >= 0)
			tags->classes[n++] = tag_class(tags, step, tag_max_gap(tags, step),
							TAG_DIRECT);
	fixed = n;
	for (; n < BEE_TABLE_CLASSES; n++) {
		tag_costs_of(tags, costs, n, n);
		tags->classes[n] = tag_best_class(tags, costs, &tags->classes[0]);
	}
	for (round = 0; round < TAG_ROUNDS; round++)
		for (i = fixed; i < n; i++) {
			tag_costs_of(tags, costs, n, i);
			tags->classes[i] = tag_best_class(tags, costs, &tags->classes[0]);
		}
	memset(costs, TAG_NO_COST, sizeof(costs));
	for (i = 0; i < n; i++)
		tag_add_class(tags, costs, i, true);
}
