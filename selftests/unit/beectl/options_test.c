// SPDX-License-Identifier: GPL-2.0
/* Parsing of valid and invalid command lines. */
#include <string.h>
#include <unistd.h>

#include "commands.h"
#include "kselftest.h"
#include "options.h"

/* What options_parse() made of a command line. */
struct taken {
	bool		 quiet;
	bool		 deep;
	const char	*output;
	unsigned int	 jobs;
	unsigned int	 thin;
	int		 status;
	char		*rest;
	char		 said[512];	/* on stdout and stderr */
};

/* Split @line into words and parse them; @stop as in struct options. */
static struct taken take(const char *line, bool stop)
{
	static char words[256];
	struct taken taken = { 0 };
	const struct options options = {
		.command = "test", .help = "the help\n", .stop = stop,
		.option = {
			{ 'q', "quiet", OPTION_FLAG, &taken.quiet },
			{ 0, "deep", OPTION_FLAG, &taken.deep },
			{ 0, "deaf", OPTION_FLAG, &taken.deep },
			{ 'o', "output", OPTION_TEXT, &taken.output },
			{ 'j', "jobs", OPTION_JOBS, &taken.jobs },
			{ 0, "thin", OPTION_THIN, &taken.thin },
		},
	};
	char *argv[16] = { (char *)"test" }, **at = argv;
	int argc = 1, out = dup(STDOUT_FILENO), err = dup(STDERR_FILENO);
	FILE *said = tmpfile();

	strcpy(words, line);
	for (argv[1] = strtok(words, " "); argv[argc]; argv[argc] = strtok(NULL, " "))
		argc++;
	fflush(stdout);
	dup2(fileno(said), STDOUT_FILENO);
	dup2(fileno(said), STDERR_FILENO);
	taken.status = options_parse(&options, argc, &at);
	fflush(stdout);
	dup2(out, STDOUT_FILENO);
	dup2(err, STDERR_FILENO);
	close(out);
	close(err);
	rewind(said);
	taken.said[fread(taken.said, 1, sizeof(taken.said) - 1, said)] = '\0';
	fclose(said);
	taken.rest = taken.status == OPTIONS_OK ? *at : NULL;
	return taken;
}

static bool is_wrong(const char *line, const char *why)
{
	char expected[256];
	struct taken taken = take(line, false);

	snprintf(expected, sizeof(expected), "beectl: test: %s; see \"beectl test --help\"\n", why);
	if (taken.status == EXIT_USAGE && !strcmp(taken.said, expected))
		return true;
	ksft_print_msg("%s: status %d: %s\n", line, taken.status, taken.said);
	return false;
}

static bool check_all_kinds(void)
{
	struct taken taken = take("-q word --deep -o out --jobs 1024 --thin=90", false);

	return taken.status == OPTIONS_OK && !taken.said[0] && taken.quiet && taken.deep &&
	       !strcmp(taken.output, "out") && taken.jobs == 1024 && taken.thin == 90 &&
	       !strcmp(taken.rest, "word");
}

static bool check_defaults(void)
{
	struct taken taken = take("", false);

	return taken.status == OPTIONS_OK && !taken.quiet && !taken.output && !taken.jobs &&
	       !taken.rest;
}

/* The options of a command that beectl is to run are not beectl's own. */
static bool check_stop(void)
{
	struct taken taken = take("-q word --deep", true);
	bool good = taken.quiet && !taken.deep && !strcmp(taken.rest, "word");

	taken = take("-- --deep", true);
	return good && !taken.deep && taken.rest && !strcmp(taken.rest, "--deep");
}

static bool check_help(void)
{
	struct taken first = take("-q --help -x", false), second = take("-h", false);

	return first.status == EXIT_OK && !strcmp(first.said, "the help\n") &&
	       second.status == EXIT_OK && !strcmp(second.said, "the help\n");
}

int main(void)
{
	ksft_print_header();
	ksft_set_plan(12);
	ksft_test_result(check_all_kinds(), "an option of each kind, between words\n");
	ksft_test_result(check_defaults(), "words without options\n");
	ksft_test_result(check_stop(), "the first word ends the options\n");
	ksft_test_result(check_help(), "help\n");
	ksft_test_result(is_wrong("-x", "unknown option -x"), "an unknown short option\n");
	ksft_test_result(is_wrong("--deep=x", "--deep takes no argument") &&
			 is_wrong("--help=", "--help takes no argument") &&
			 is_wrong("--quiet -qx", "unknown option -x"), "a short option with an argument too much\n");
	ksft_test_result(is_wrong("--de", "ambiguous option --de") &&
			 is_wrong("--de=5", "ambiguous option --de=5") &&
			 is_wrong("--du", "unknown option --du"), "ambiguous\n");
	ksft_test_result(is_wrong("--foo\033", "unknown option --foo\\033"), "an unknown long option\n");
	ksft_test_result(is_wrong("-q -o", "-o needs an argument"), "a short option without its argument\n");
	ksft_test_result(is_wrong("-j 0", "-j (--jobs) needs a number from 1 to 1024") &&
			 is_wrong("-j 1025", "-j (--jobs) needs a number from 1 to 1024"), "jobs\n");
	ksft_test_result(is_wrong("--thin 91", "--thin needs a number from 1 to 90") &&
			 is_wrong("--thin x", "--thin needs a number from 1 to 90"),
			 "a number of --thin that is out of bounds\n");
	ksft_test_result(is_wrong("-q --jobs", "--jobs needs an argument"), "a long option without its argument\n");
	ksft_finished();
}
