// SPDX-License-Identifier: GPL-2.0
/* Functions that do not return, by their names. */
#include <stddef.h>
#include <string.h>

#include "noreturn.h"

/* C and POSIX, compilers' checks, C++ ABI and libstdc++, glibc, GLib. */
static const char *const names[] = {
	"exit", "_exit", "_Exit", "quick_exit", "abort", "longjmp", "_longjmp", "siglongjmp",
	"pthread_exit", "thrd_exit", "setcontext", "err", "errx", "verr", "verrx",
	"__stack_chk_fail", "__chk_fail", "__fortify_fail", "__longjmp_chk",
	"__assert_fail", "__assert_perror_fail", "__assert", "__libc_fatal",
	"__libc_start_main", "__libc_start_call_main",
	"_Unwind_Resume", "__cxa_throw", "__cxa_rethrow", "__cxa_bad_cast", "__cxa_bad_typeid",
	"__cxa_throw_bad_array_new_length", "__cxa_throw_bad_array_length", "__cxa_call_terminate",
	"__cxa_call_unexpected", "__cxa_pure_virtual", "__cxa_deleted_virtual",
	"_ZSt9terminatev", "_ZSt10unexpectedv",
	"g_abort", "g_assertion_message", "g_assertion_message_expr",
};

/* noreturn_name(): is this the name of a function that never returns? */
bool noreturn_name(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(name, names[i]))
			return true;
	/* std::__throw_*() of libstdc++ */
	return !strncmp(name, "_ZSt", 4) && strstr(name, "__throw_");
}
