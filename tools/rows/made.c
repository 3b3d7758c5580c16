// SPDX-License-Identifier: GPL-2.0
/*
 * All rows that are made from code: of stubs whose code is known (stubs.c), of code that proves them
 * (synth.c), and of what is left of code that keeps the ABI (abi.c).  What one has found the next
 * one takes for text with CFI.
 */
#include <string.h>

#include "abi.h"
#include "alloc.h"
#include "made.h"
#include "order.h"
#include "stubs.h"

/* The gaps, NULL if there are none, without what has been @found, for free().  Return: number of gaps. */
static size_t gaps_without(const struct code_gap *gaps, size_t ngaps, const struct synth *found,
			   struct code_gap **left)
{
	size_t count = 0, room = 0, i, next = 0;

	*left = NULL;
	for (i = 0; gaps && i < ngaps; i++) {
		u64 at = gaps[i].start, end = gaps[i].end;

		while (at < end) {
			const struct synth_range *range =
				next < found->nranges ? &found->ranges[next] : NULL;
			u64 stop = range && range->start < end ? range->start : end;

			if (range && range->end <= at) {
				next++;
				continue;
			}
			if (at < stop) {
				*left = alloc_room(*left, count, &room, sizeof(**left));
				(*left)[count++] = (struct code_gap){ at, stop };
			}
			at = stop < end ? range->end : end;
		}
	}
	return count;
}

/* Add what has been found later, between what was found before.  @found: freed */
static void made_add(struct synth *made, struct synth *found)
{
	struct synth both = {};
	size_t i = 0, k = 0;

	while (i < made->nranges || k < found->nranges) {
		const struct synth_range *one = i < made->nranges ? &made->ranges[i] : NULL;
		const struct synth_range *other = k < found->nranges ? &found->ranges[k] : NULL;
		bool first = one && (!other || one->start < other->start);

		both.ranges = alloc_room(both.ranges, both.nranges, &both.room,
					 sizeof(*both.ranges));
		both.ranges[both.nranges++] = first ? *one : *other;
		i += first;
		k += !first;
	}
	synth_free(made);
	synth_free(found);
	*made = both;
}

/* The functions of the input and those that have been proven, ascending, for free(). */
static u64 *functions_with(const struct synth_input *input, const struct synth *proven)
{
	u64 *functions = alloc_array(NULL, input->nfunctions + proven->nstarts + 1,
				     sizeof(*functions));

	if (input->nfunctions)
		memcpy(functions, input->functions, input->nfunctions * sizeof(*functions));
	if (proven->nstarts)
		memcpy(functions + input->nfunctions, proven->starts,
		       proven->nstarts * sizeof(*functions));
	qsort(functions, input->nfunctions + proven->nstarts, sizeof(*functions), order_u64);
	return functions;
}

/**
 * made_find() - make rows from code
 * @input: what is known of the file
 * @made: filled; synth_free() releases it
 */
void made_find(const struct synth_input *input, struct synth *made)
{
	struct synth_input rest = *input;
	struct code_gap *after_stubs, *after_proofs;
	struct synth found;
	u64 *functions;
	size_t i;

	stubs_find(input, made);
	rest.ngaps = gaps_without(input->gaps, input->ngaps, made, &after_stubs);
	rest.gaps = after_stubs;
	synth_make(&rest, &found);
	functions = functions_with(input, &found);
	rest.functions = functions;
	rest.nfunctions += found.nstarts;
	rest.ngaps = gaps_without(after_stubs, rest.ngaps, &found, &after_proofs);
	rest.gaps = after_proofs;
	made_add(made, &found);
	abi_make(&rest, &found);
	for (i = 0; i < found.nranges; i++)
		found.ranges[i].by_abi = true;
	made_add(made, &found);
	free(after_stubs);
	free(after_proofs);
	free(functions);
}
