// SPDX-License-Identifier: GPL-2.0
/*
 * A library that calls back.  Built several times, with frames of different sizes: the
 * same address of another one needs another row.
 */
int torture_call(int (*fn)(void *), void *arg);

int torture_call(int (*fn)(void *), void *arg)
{
	volatile char room[FRAME];

	room[0] = 1;
	room[FRAME - 1] = fn(arg);
	return room[0] + room[FRAME - 1];
}
