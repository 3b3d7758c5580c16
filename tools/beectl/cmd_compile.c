// SPDX-License-Identifier: GPL-2.0
/* beectl compile: make the unwind table of an ELF file. */
#include <asm/byteorder.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "commands.h"
#include "compile.h"
#include "elf.h"

static const char usage[] =
	"Usage: beectl compile ELF -o TABLE\n"
	"\n"
	"Make the unwind table of an executable or shared object from its .eh_frame and\n"
	".debug_frame.  TABLE appears complete or not at all.\n"
	"\n"
	"Options:\n"
	"  -o, --output TABLE  File to write\n"
	"  -q, --quiet         Print nothing but errors\n"
	"  -h, --help          Show this text\n"
	"\n"
	"Example:\n"
	"  beectl compile /usr/bin/git -o git.beet\n";

struct compile_options {
	const char	*input;
	const char	*output;
	bool		 quiet;
};

static __attribute__((format(printf, 2, 3)))
int complain(const char *file, const char *format, ...)
{
	va_list args;

	fprintf(stderr, "beectl: compile: %s: ", file);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	return EXIT_FAILED;
}

static int write_all(int fd, const char *bytes, size_t size)
{
	while (size) {
		ssize_t n = write(fd, bytes, size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -1;
		bytes += n;
		size -= n;
	}
	return 0;
}

/* A device or pipe cannot be replaced, so it is written to. */
static bool output_is_special(const char *path)
{
	struct stat st;

	return !stat(path, &st) && !S_ISREG(st.st_mode);
}

static int write_special(const char *path, const struct compile_result *result)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	int ret;

	if (fd < 0)
		return -1;
	ret = write_all(fd, result->blob, result->size);
	return close(fd) || ret ? -1 : 0;
}

static int write_temporary(int fd, const struct compile_result *result)
{
	mode_t mask = umask(0);

	umask(mask);
	if (write_all(fd, result->blob, result->size) || fchmod(fd, 0666 & ~mask) || fsync(fd))
		return -1;
	return 0;
}

/* Write beside @path and rename, so that nobody ever reads half a table. */
static int write_atomically(const char *path, const struct compile_result *result)
{
	char *temporary;
	int fd, ret, error;

	if (asprintf(&temporary, "%s.XXXXXX", path) < 0)
		return -1;
	fd = mkostemp(temporary, O_CLOEXEC);
	ret = fd < 0 ? -1 : write_temporary(fd, result);
	error = errno;
	if (fd >= 0 && close(fd) && !ret) {
		ret = -1;
		error = errno;
	}
	if (!ret && rename(temporary, path)) {
		ret = -1;
		error = errno;
	}
	if (ret && fd >= 0)
		unlink(temporary);
	free(temporary);
	errno = error;
	return ret;
}

static void print_summary(int fd, const struct compile_options *o,
			  const struct compile_result *result)
{
	const struct bee_table_header *h = result->blob;
	struct bee_elf elf;
	u64 cfi = 0;

	if (!bee_elf_open(&elf, fd))
		cfi = bee_elf_frames_size(&elf);
	bee_elf_close(&elf);
	printf("%s: %zu rows, %u rules, %zu bytes", o->output, result->rows,
	       le16_to_cpu(h->nrules), result->size);
	if (cfi)
		printf(" (%.1f%% of .eh_frame + .eh_frame_hdr)", 100.0 * result->size / cfi);
	printf(", %zu unsupported\n", result->unsupported);
}

static int compile_opened(int fd, const struct compile_options *o)
{
	struct compile_result result;
	int status = EXIT_OK;

	if (compile_elf(fd, &result)) {
		status = complain(o->input, "%s", result.message);
	} else if (output_is_special(o->output) ? write_special(o->output, &result) :
						  write_atomically(o->output, &result)) {
		status = complain(o->output, "cannot write: %s", strerror(errno));
	} else if (!o->quiet) {
		print_summary(fd, o, &result);
	}
	compile_result_free(&result);
	return status;
}

static int compile_file(const struct compile_options *o)
{
	int fd = open(o->input, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	int status;

	if (fd < 0)
		return complain(o->input, "cannot open: %s", strerror(errno));
	status = compile_opened(fd, o);
	close(fd);
	return status;
}

static int misuse(const char *why)
{
	fprintf(stderr, "beectl: compile: %s; see \"beectl compile --help\"\n", why);
	return EXIT_USAGE;
}

int cmd_compile(int argc, char **argv)
{
	static const struct option options[] = {
		{ "output", required_argument, NULL, 'o' },
		{ "quiet", no_argument, NULL, 'q' },
		{ "help", no_argument, NULL, 'h' },
		{},
	};
	struct compile_options o = {};
	int c;

	optind = 0;
	opterr = 0;
	while ((c = getopt_long(argc, argv, ":o:qh", options, NULL)) != -1) {
		switch (c) {
		case 'o':
			o.output = optarg;
			break;
		case 'q':
			o.quiet = true;
			break;
		case 'h':
			fputs(usage, stdout);
			return EXIT_OK;
		case ':':
			return misuse("an option lacks its argument");
		default:
			return misuse("unknown option");
		}
	}
	if (argc - optind != 1)
		return misuse("one ELF file is needed");
	if (!o.output)
		return misuse("-o TABLE is needed");
	o.input = argv[optind];
	return compile_file(&o);
}
