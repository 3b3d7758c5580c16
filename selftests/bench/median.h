/* SPDX-License-Identifier: GPL-2.0 */
/* The median of measurements. */
#ifndef SELFTESTS_MEDIAN_H
#define SELFTESTS_MEDIAN_H

#include <stdlib.h>

static inline int compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

/* Sorts @values in place.  0 if there are none. */
static inline double median(double *values, size_t n)
{
	qsort(values, n, sizeof(*values), compare_doubles);
	return n ? values[n / 2] : 0;
}

#endif /* SELFTESTS_MEDIAN_H */
