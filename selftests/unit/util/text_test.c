// SPDX-License-Identifier: GPL-2.0
/* Numbers that must fit a column, and names with bytes that could harm a terminal. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>

#include "json.h"
#include "text.h"

#include "kselftest.h"

static const struct {
	uint64_t	value;
	const char	*bytes;
	const char	*count;
} numbers[] = {
	{ 0, "0", "0" },
	{ 999, "999", "999" },
	{ 1000, "1000", "1,000" },
	{ 9999, "9999", "9,999" },
	{ 10000, "9.8K", "10,000" },
	{ 102348, "99.9K", "102,348" },
	{ 102349, "100K", "102,349" },
	{ 1023487, "999K", "1,023,487" },
	{ 1023488, "1.0M", "1,023,488" },
	{ UINT64_MAX, "16.0E", "18,446,744,073,709,551,615" },
};

static void test_numbers(void)
{
	char bytes[32], count[32];
	size_t i;

	for (i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		text_bytes(numbers[i].value, bytes, sizeof(bytes));
		text_count(numbers[i].value, count, sizeof(count));
		ksft_test_result(!strcmp(bytes, numbers[i].bytes) &&
				 !strcmp(count, numbers[i].count), "%s: %s, %s\n",
				 numbers[i].count, count, bytes);
	}
}

/* A name, and how it is printed on a terminal and in JSON. */
static const struct {
	const char	*what;
	const char	*name;
	const char	*text;
	const char	*json;
} names[] = {
	{ "ASCII", "/usr/bin/a b~", "/usr/bin/a b~", "/usr/bin/a b~" },
	{ "quote", "a\"b", "a\"b", "a\\\"b" },
	{ "backslash", "a\\012b", "a\\134012b", "a\\\\012b" },
	{ "newline and escape", "a\n\033[2J", "a\\012\\033[2J", "a\\n\\u001b[2J" },
	{ "DEL", "a\177b", "a\\177b", "a\\u007fb" },
	{ "CSI, U+009B", "a\302\2332J", "a\\302\\2332J", "a\\u009b2J" },
	{ "last of C1", "\302\237", "\\302\\237", "\\u009f" },
	{ "first behind C1", "\302\240", "\302\240", "\302\240" },
	{ "right-to-left override, U+202E", "a\342\200\256b", "a\\342\\200\\256b", "a\\u202eb" },
	{ "pop isolate, U+2069", "\342\201\251", "\\342\\201\\251", "\\u2069" },
	{ "beside them", "\342\200\251\342\201\252", "\342\200\251\342\201\252", "\342\200\251\342\201\252" },
	{ "two bytes", "\303\244\337\277", "\303\244\337\277", "\303\244\337\277" },
	{ "three bytes", "\340\240\200\357\277\277", "\340\240\200\357\277\277",
	  "\340\240\200\357\277\277" },
	{ "four bytes", "\360\220\200\200\364\217\277\277", "\360\220\200\200\364\217\277\277",
	  "\360\220\200\200\364\217\277\277" },
	{ "Latin-1", "caf\351", "caf\\351", "caf\\ufffd" },
	{ "continuation alone", "\200x\277", "\\200x\\277", "\\ufffdx\\ufffd" },
	{ "cut off", "a\342\202", "a\\342\\202", "a\\ufffd\\ufffd" },
	{ "cut off by another", "\342\202\303\244", "\\342\\202\303\244",
	  "\\ufffd\\ufffd\303\244" },
	{ "overlong slash", "\300\257\301\277", "\\300\\257\\301\\277",
	  "\\ufffd\\ufffd\\ufffd\\ufffd" },
	{ "overlong in three", "\340\237\277", "\\340\\237\\277", "\\ufffd\\ufffd\\ufffd" },
	{ "overlong in four", "\360\217\277\277", "\\360\\217\\277\\277",
	  "\\ufffd\\ufffd\\ufffd\\ufffd" },
	{ "surrogate", "\355\240\200", "\\355\\240\\200", "\\ufffd\\ufffd\\ufffd" },
	{ "last before surrogates", "\355\237\277", "\355\237\277", "\355\237\277" },
	{ "past U+10FFFF", "\364\220\200\200", "\\364\\220\\200\\200",
	  "\\ufffd\\ufffd\\ufffd\\ufffd" },
	{ "never in UTF-8", "\365\376\377", "\\365\\376\\377", "\\ufffd\\ufffd\\ufffd" },
};

static char *put_name(const char *name)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	text_put_name(out, name);
	fclose(out);
	return text;
}

static char *put_json(const char *name)
{
	struct json_object *object = json_object_new_string(name);
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	json_put(out, object);
	fclose(out);
	json_object_put(object);
	return text;
}

static void test_names(void)
{
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		char *text = put_name(names[i].name), *json = put_json(names[i].name);
		char expected[128];
		bool good;

		snprintf(expected, sizeof(expected), "\"%s\"\n", names[i].json);
		good = !strcmp(text, names[i].text) && !strcmp(json, expected);
		/* Print lengths only: the text may hold bytes that harm a terminal. */
		if (!good)
			ksft_print_msg("%zu: %zu and %zu bytes\n", i, strlen(text), strlen(json));
		ksft_test_result(good, "%s\n", names[i].what);
		free(text);
		free(json);
	}
}

/* Different names must look different on a terminal. */
static void test_distinct(void)
{
	char *a = put_name("a\n"), *b = put_name("a\\012"), *c = put_name("\302\233");
	char *d = put_name("\\302\\233");

	ksft_test_result(strcmp(a, b) && strcmp(c, d), "names can be told from each other\n");
	free(a);
	free(b);
	free(c);
	free(d);
}

int main(void)
{
	ksft_print_header();
	ksft_set_plan(10 + 25 + 1);
	test_numbers();
	test_names();
	test_distinct();
	ksft_finished();
}
