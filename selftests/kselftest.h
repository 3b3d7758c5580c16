/* SPDX-License-Identifier: GPL-2.0 */
/*
 * KTAP output for test programs, called as the kernel's <kselftest.h> is:
 * ksft_print_header(), ksft_set_plan(n), n results, then ksft_finished(), which
 * exits 0 (all passed), 1 (something failed) or 4 (nothing ran).
 */
#ifndef BEE_KSELFTEST_H
#define BEE_KSELFTEST_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KSFT_PASS	0
#define KSFT_FAIL	1
#define KSFT_SKIP	4

static struct {
	unsigned int plan, pass, fail, skip;
} ksft;

static inline unsigned int ksft_count(void)
{
	return ksft.pass + ksft.fail + ksft.skip;
}

static inline void ksft_print_header(void)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	puts("TAP version 13");
}

static inline void ksft_set_plan(unsigned int plan)
{
	ksft.plan = plan;
	printf("1..%u\n", plan);
}

static inline __attribute__((format(printf, 1, 2)))
void ksft_print_msg(const char *format, ...)
{
	va_list args;

	fputs("# ", stdout);
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
}

static inline void ksft_vresult(unsigned int *count, const char *word, const char *skip,
				const char *format, va_list args)
{
	(*count)++;
	printf("%s %u ", word, ksft_count());
	vprintf(format, args);
	fputs(skip, stdout);
}

/* @format: the name, which ends with a newline, as in the kernel. */
static inline __attribute__((format(printf, 2, 3)))
void ksft_test_result(bool passed, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	ksft_vresult(passed ? &ksft.pass : &ksft.fail, passed ? "ok" : "not ok", "", format, args);
	va_end(args);
}

#define ksft_test_result_pass(...)	ksft_test_result(true, __VA_ARGS__)
#define ksft_test_result_fail(...)	ksft_test_result(false, __VA_ARGS__)

/* @format: "name # SKIP why\n"; without the word selftests/run would count it as passed. */
static inline __attribute__((format(printf, 1, 2)))
void ksft_test_result_skip(const char *format, ...)
{
	va_list args;

	if (!strstr(format, " # SKIP ")) {
		printf("Bail out! a skip that does not say SKIP: %s", format);
		exit(KSFT_FAIL);
	}
	va_start(args, format);
	ksft_vresult(&ksft.skip, "ok", "", format, args);
	va_end(args);
}

static inline __attribute__((noreturn)) void ksft_finished(void)
{
	if (ksft_count() != ksft.plan) {
		printf("# planned %u results, got %u\n", ksft.plan, ksft_count());
		ksft.fail++;
	}
	printf("# Totals: pass:%u fail:%u skip:%u\n", ksft.pass, ksft.fail, ksft.skip);
	exit(ksft.fail ? KSFT_FAIL : ksft.pass ? KSFT_PASS : KSFT_SKIP);
}

#endif /* BEE_KSELFTEST_H */
