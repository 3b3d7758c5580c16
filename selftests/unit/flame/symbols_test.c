// SPDX-License-Identifier: GPL-2.0
/* Which symbol an address has, and what it is called. */
#include <stdlib.h>
#include <string.h>

#include "kselftest.h"
#include "symbols.h"

static const struct symbol made[] = {
	{ 0x100, 0x120, 0x200, "first", 1 },
	{ 0x120, 0, 0x200, "zero", 1 },			/* no size: until the next one */
	{ 0x140, 0x150, 0x200, "short", 1 },
	{ 0x140, 0x150, 0x200, "better", 2 },
	{ 0x180, 0x1c0, 0x200, "outer", 1 },
	{ 0x190, 0x194, 0x200, "nested", 1 },
	{ 0x1b0, 0, 0x200, "label", 1 },
	{ 0x1f0, 0, 0x200, "last", 1 },			/* no size: until the section's end */
	{ 0x300, 0, 0x400, "other", 1 },
	{ 0x1000, 0x1100, 0x2000, "many", 1 },		/* has MANY others, all before 0x1080 */
	{ 0x10f0, 0x10f8, 0x2000, "behind", 1 },
};

#define MANY	64

static const struct {
	u64		 address;
	const char	*name;
	const char	*what;
} asked[] = {
	{ 0xff, NULL, "before all" },
	{ 0x11f, "first", "the last byte of a function" },
	{ 0x13f, "zero", "a symbol without size ends at the next one" },
	{ 0x140, "better", "the best of two at one address" },
	{ 0x150, NULL, "behind a function, in no other" },
	{ 0x192, "nested", "a symbol within another" },
	{ 0x1a0, "outer", "behind the nested one, in the outer one" },
	{ 0x1b8, "outer", "behind a label in a function" },
	{ 0x1c8, "label", "behind a function that has a label, in no other" },
	{ 0x1ff, "last", "a symbol without size ends with its section" },
	{ 0x200, NULL, "nothing belongs to it behind that" },
	{ 0x350, "other", "in the next section" },
	{ 0x1011, "part", "one of many within another" },
	{ 0x1080, "many", "behind many within another" },
	{ 0x1100, NULL, "behind a function that has many others" },
};

static const struct { const char *symbol, *name; } names[] = {
	{ "main", "main" },
	{ "_ZN3foo3barEiPKc", "foo::bar" },
	{ "_RNvCs1234_7mycrate3foo", "mycrate::foo" },
	{ "_ZN4core3fmt5write17h0123456789abcdefE", "core::fmt::write" },
	{ "pthread_rwlock_rdlock@@GLIBC_2.34", "pthread_rwlock_rdlock" },
	{ "_ZN3foo3barEiPKc@@FOO_1.2", "foo::bar" },
	{ "memcpy@plt", "memcpy@plt" },
	{ "_ZN3foo3barEiPKc@plt", "foo::bar@plt" },
	{ "@plt", "@plt" },
	{ "runtime.goexit.abi0", "runtime.goexit" },
	{ ".abi0", ".abi0" },
	{ "_Znonsense", "_Znonsense" },
};

int main(void)
{
	struct symbols symbols = { 0 };
	const struct symbol *found;
	size_t i;

	ksft_print_header();
	ksft_set_plan(sizeof(asked) / sizeof(asked[0]) + sizeof(names) / sizeof(names[0]));
	for (i = sizeof(made) / sizeof(made[0]); i--;)
		symbols_add(&symbols, &made[i]);
	for (i = 0; i < MANY; i++)
		symbols_add(&symbols, &(struct symbol){
			.start = 0x1001 + 2 * i, .end = 0x1002 + 2 * i, .limit = 0x2000, .name = "part",
		});
	symbols_sort(&symbols);
	for (i = 0; i < sizeof(asked) / sizeof(asked[0]); i++) {
		found = symbols_find(&symbols, asked[i].address);
		ksft_test_result(asked[i].name ? found && !strcmp(found->name, asked[i].name) :
						 !found, "%s\n", asked[i].what);
	}
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		char *name = symbol_demangle(names[i].symbol);

		if (strcmp(name, names[i].name))
			ksft_print_msg("%s\n", name);
		ksft_test_result(!strcmp(name, names[i].name), "%s\n", names[i].symbol);
		free(name);
	}
	symbols_free(&symbols);
	ksft_finished();
}
