// SPDX-License-Identifier: GPL-2.0
/* Threads, that sort. */
#include <pthread.h>
#include <stdlib.h>

static int compare(const void *a, const void *b)
{
	return *(const int *)a < *(const int *)b ? -1 : 1;
}

static void *body(void *arg)
{
	int numbers[2000], n = *(int *)arg, i;
	unsigned int seed = 1;

	while (n--) {
		for (i = 0; i < 2000; i++)
			numbers[i] = rand_r(&seed);
		qsort(numbers, 2000, sizeof(numbers[0]), compare);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	int i, n = argc > 1 ? atoi(argv[1]) : 1;
	pthread_t thread[3];

	for (i = 0; i < 3; i++)
		pthread_create(&thread[i], NULL, body, &n);
	for (i = 0; i < 3; i++)
		pthread_join(thread[i], NULL);
}
