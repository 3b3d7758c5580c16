/* SPDX-License-Identifier: GPL-2.0 */
/* Users take turns, so that one who wants much does not keep the others waiting. */
#ifndef TURNS_H
#define TURNS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Accounts of users: one is root's, and each other one of all whose uids are equal modulo 255. */
#define TURNS_USERS	256

/**
 * struct turns - when users had their last turn; all zero: none has had one
 * @count: turns so far
 * @last: the value of @count then, by account
 */
struct turns {
	uint64_t	count;
	uint64_t	last[TURNS_USERS];
};

static inline size_t turns_account(uid_t user)
{
	return user ? 1 + user % (TURNS_USERS - 1) : 0;
}

/** turns_take() - it is a user's turn */
static inline void turns_take(struct turns *turns, uid_t user)
{
	turns->last[turns_account(user)] = ++turns->count;
}

/** turns_last() - the less, the longer ago is a user's last turn */
static inline uint64_t turns_last(const struct turns *turns, uid_t user)
{
	return turns->last[turns_account(user)];
}

/**
 * turns_most() - the account that is to make room
 * @waiting: how much each account has waiting
 * @user: who wants one more
 *
 * Return: the one, not root's, that has most; or that of @user, if no other one has two more.
 */
static inline size_t turns_most(const size_t waiting[TURNS_USERS], uid_t user)
{
	const size_t own = turns_account(user);
	size_t most = own, i;

	for (i = 1; i < TURNS_USERS; i++)
		if (waiting[i] > waiting[most])
			most = i;
	return waiting[most] > waiting[own] + 1 ? most : own;
}

#endif /* TURNS_H */
