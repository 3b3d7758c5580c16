// SPDX-License-Identifier: GPL-2.0
/*
 * A JIT compiler that registers its code as GDB's JIT interface says: code with CFI, which uses rbp
 * for something else, is replaced at the same address by code with another frame.
 *
 *	registered READY GO	at READY and GO, two fifos, it waits for tables to be loaded
 */
#include "own_jit.h"

/* Stacks are whole once there is a table. */
static noinline void first(void)
{
	wait_for('l');
	write_code(32);
	register_code();
	known("reached [jit] end");
	call_code();
	wait_for('l');
	known("reached [jit] call_code first main");
	call_code();
	not_tail();
}

/* Other code at the same address, in other memory: the old table would find a wrong caller. */
static noinline void replaced(void)
{
	check(!munmap(code, PAGE), "munmap");
	map_code();
	write_code(96);
	known("reached [jit] end");
	call_code();
	wait_for('l');
	known("reached [jit] call_code replaced main");
	call_code();
	not_tail();
}

/* Memory with code that is made writable in between. */
static noinline void rewritten(void)
{
	write_code(64);
	known("reached [jit] end");
	call_code();
	wait_for('l');
	known("reached [jit] call_code rewritten main");
	call_code();
	not_tail();
}

/*
 * Memory that becomes writable while it stays executable has no table any more, and gets none: other
 * code can be written there, with another frame, and nobody hears of it.
 */
static noinline void opened(void)
{
	check(!mprotect(code, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC), "mprotect");
	known("reached [jit] end");
	call_code();
	wait_for('l');
	put_code(32);
	known("reached [jit] end");
	call_code();
	check(!mprotect(code, PAGE, PROT_READ | PROT_EXEC), "mprotect");
	wait_for('l');
	known("reached [jit] call_code opened main");
	call_code();
	not_tail();
}

/* Tables can be removed by name while they are used. */
static noinline void unloaded(void)
{
	wait_for('u');
	known("reached [jit] end");
	call_code();
	wait_for('l');
	known("reached [jit] call_code unloaded main");
	call_code();
	not_tail();
}

/* Code that is no longer registered keeps no table when tables are loaded again. */
static noinline void unregistered(void)
{
	__jit_debug_descriptor.first = NULL;
	wait_for('l');
	known("reached [jit] end");
	call_code();
	not_tail();
}

int main(int argc, char **argv)
{
	check(argc == 3, "two fifos");
	ready_path = argv[1];
	go_path = argv[2];
	map_frames();
	map_code();
	first();
	replaced();
	rewritten();
	opened();
	unloaded();
	unregistered();
	return 0;
}
