// SPDX-License-Identifier: GPL-2.0
/*
 * A library whose function calls back.  It is built several times with frames of different sizes,
 * so that the same pc needs a different rule in each build.
 */
int torture_call(int (*fn)(void *), void *arg);

int torture_call(int (*fn)(void *), void *arg)
{
	volatile char room[FRAME];

	room[0] = 1;
	room[FRAME - 1] = fn(arg);
	return room[0] + room[FRAME - 1];
}
