// SPDX-License-Identifier: GPL-2.0
/*
 * Functions that are bound when they are first called: ifuncs of a library (-DLIBRARY), whose
 * resolvers mark(), and a program that calls each.
 */
#define TEN(f, n) f(n##0) f(n##1) f(n##2) f(n##3) f(n##4) f(n##5) f(n##6) f(n##7) f(n##8) f(n##9)
#define HUNDRED(f) TEN(f, 1) TEN(f, 2) TEN(f, 3) TEN(f, 4) TEN(f, 5) TEN(f, 6) TEN(f, 7) \
	TEN(f, 8) TEN(f, 9) TEN(f, 10)

#ifdef LIBRARY
#include "mark.h"

static void nothing(void)
{
}

static noinline void (*resolve(void))(void)
{
	mark();
	return nothing;
}

#define FUNCTION(n) void lazy_##n(void) __attribute__((ifunc("resolve")));
HUNDRED(FUNCTION)
#else
#define FUNCTION(n) void lazy_##n(void);
HUNDRED(FUNCTION)

int main(void)
{
#define CALL(n) lazy_##n();
	HUNDRED(CALL)
	return 0;
}
#endif
