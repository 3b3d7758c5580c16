// SPDX-License-Identifier: GPL-2.0
/* A fuzzer without libFuzzer: it takes each file whole, and cut off in CUTS places. */
#include <err.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define CUTS	31

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The fuzzer gets a copy in a block of its own, so that ASan finds a read behind the end. */
static void take(const uint8_t *data, size_t size)
{
	uint8_t *copy = malloc(size ? size : 1);

	if (!copy)
		err(1, "malloc");
	memcpy(copy, data, size);
	LLVMFuzzerTestOneInput(copy, size);
	free(copy);
}

static void take_file(const char *path)
{
	FILE *file = fopen(path, "re");
	struct stat st;
	uint8_t *data;
	int i;

	if (!file || fstat(fileno(file), &st))
		err(1, "%s", path);
	data = malloc(st.st_size + 1);
	if (!data || fread(data, 1, st.st_size, file) != (size_t)st.st_size)
		err(1, "%s", path);
	fclose(file);
	for (i = 0; i <= CUTS; i++)
		take(data, st.st_size * (i + 1) / (CUTS + 1));
	free(data);
}

int main(int argc, char **argv)
{
	int i;

	if (argc < 2)
		errx(2, "usage: %s FILE...", argv[0]);
	for (i = 1; i < argc; i++)
		take_file(argv[i]);
	printf("%d files, %d inputs\n", argc - 1, (argc - 1) * (CUTS + 1));
	return 0;
}
