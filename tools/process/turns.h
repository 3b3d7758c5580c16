/* SPDX-License-Identifier: GPL-2.0 */
/* Users take turns, so that a user who wants much does not keep the others waiting. */
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

#endif /* TURNS_H */
