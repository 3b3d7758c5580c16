// SPDX-License-Identifier: GPL-2.0
/* Which function has an address that no symbol names, and where a symbol without size ends. */
#include <string.h>

#include "bounds.h"
#include "kselftest.h"

static const struct {
	u64		 start;
	u64		 end;
	const char	*name;
} made[] = {
	{ 0x100, 0x140, "" },
	{ 0x140, 0x150, "" },
	{ 0x180, 0x200, "" },
	{ 0x190, 0x1a0, "" },		/* within the one before */
	{ 0x300, 0x340, "" },
	{ 0x300, 0x340, "main.leaf" },	/* CFI and Go's table have it */
};

static const struct {
	u64		 pc;
	u64		 start;		/* 0: none */
	const char	*name;
	const char	*what;
} asked[] = {
	{ 0xff, 0, NULL, "before all functions there is none" },
	{ 0x100, 0x100, "", "the first byte of a function belongs to it" },
	{ 0x13f, 0x100, "", "the last byte of a function belongs to it" },
	{ 0x140, 0x140, "", "the next function begins where the one before ends" },
	{ 0x150, 0, NULL, "between two functions there is none" },
	{ 0x198, 0x190, "", "of two functions the inner one counts" },
	{ 0x1a0, 0x180, "", "behind the inner function the outer one goes on" },
	{ 0x310, 0x300, "main.leaf", "a function that has a name counts before the same one without" },
};

static const struct {
	u64		 label;
	u64		 pc;
	bool		 cut;
	const char	*what;
} labels[] = {
	{ 0x50, 0x60, false, "a label names what is behind it" },
	{ 0x50, 0xff, false, "a label names what is in front of the next function" },
	{ 0x50, 0x100, true, "a label does not name the next function" },
	{ 0x50, 0x160, true, "a label does not name what is behind the next function" },
	{ 0x100, 0x120, false, "a label at the start of a function names it" },
	{ 0x110, 0x120, false, "a label within a function names what is behind it" },
	{ 0x110, 0x140, true, "a label within a function does not name the next one" },
	{ 0x160, 0x170, false, "a label between functions names what is behind it" },
};

int main(void)
{
	struct bounds bounds = { 0 };
	size_t i;

	ksft_set_plan(sizeof(asked) / sizeof(asked[0]) + sizeof(labels) / sizeof(labels[0]));
	for (i = 0; i < sizeof(made) / sizeof(made[0]); i++)
		bounds_add(&bounds, made[i].start, made[i].end, made[i].name);
	symbols_sort(&bounds.functions);
	for (i = 0; i < sizeof(asked) / sizeof(asked[0]); i++) {
		const struct symbol *found = bounds_find(&bounds, asked[i].pc);

		ksft_test_result(asked[i].name ? found && found->start == asked[i].start &&
				 !strcmp(found->name, asked[i].name) : !found, "%s\n", asked[i].what);
	}
	for (i = 0; i < sizeof(labels) / sizeof(labels[0]); i++)
		ksft_test_result(bounds_cut(&bounds, labels[i].label, labels[i].pc) == labels[i].cut,
				 "%s\n", labels[i].what);
	bounds_close(&bounds);
	ksft_finished();
}
