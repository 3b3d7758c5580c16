/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Rules that walks have looked up, each by its table and place.  For a place in a gap of a table, the cache
 * can say where the function of that place begins.
 *
 * A rule found here is right for ever: tables do not change, and no two have the same serial
 * number.  So nothing has to be forgotten when tables come and go.  (An address would not do: it
 * can come back.)  The walk has the number from the table itself, which RCU keeps while it walks.
 *
 * One thread of control uses a cache at a time, so that nobody sees half an entry: there is one
 * for each CPU and context level.
 */
#ifndef BEE_RULE_CACHE_H
#define BEE_RULE_CACHE_H

#include <linux/hash.h>
#include <linux/types.h>

#define BEE_RULE_CACHE_BITS	9	/* log2 entries, in pairs */

/**
 * struct bee_cached_rule - a rule; as a whole 0: none
 * @serial: the table's number, or what bee_rule_cache_starts() makes of it
 * @place: bytes from the table's base
 * @word: the rule there, or the place where the function begins
 */
struct bee_cached_rule {
	u64	serial;
	u32	place;
	u32	word;
};

/**
 * struct bee_rule_cache - the cache; zero at first
 * @rules: by a hash of table and place
 */
struct bee_rule_cache {
	struct bee_cached_rule	rules[1 << BEE_RULE_CACHE_BITS];
};

/**
 * bee_rule_cache_at() - where in the cache a rule is, if it is there
 * @cache: the cache
 * @serial: the table's number
 * @place: bytes from the table's base
 *
 * The hash is an index within bounds whatever user space makes of @place.
 *
 * Context: Any, NMI-safe.
 * Return: the entry, which may be another rule's; then it can be at bee_rule_cache_other().
 */
static inline struct bee_cached_rule *bee_rule_cache_at(struct bee_rule_cache *cache, u64 serial,
							u32 place)
{
	/* Not the factor of hash_32(): tables shall not be shifted copies of each other. */
	u32 salt = (u32)serial * 0x9e3779b1u;

	return &cache->rules[hash_32(place ^ salt, BEE_RULE_CACHE_BITS)];
}

/**
 * bee_rule_cache_other() - where else in the cache a rule can be
 * @cache: the cache
 * @first: from bee_rule_cache_at()
 *
 * A neighbour, most often in the same cache line.
 *
 * Context: Any, NMI-safe.
 * Return: the entry, which may be another rule's.
 */
static inline struct bee_cached_rule *bee_rule_cache_other(struct bee_rule_cache *cache,
							   const struct bee_cached_rule *first)
{
	return &cache->rules[(first - cache->rules) ^ 1];
}

/**
 * bee_rule_cache_starts() - the number under which a cache has starts of functions
 * @serial: the table's number
 *
 * An entry with this number says that a function that begins at @word can have the code at @place, which
 * is in a gap (bee_table_is_one()).  That follows from the table alone, as a rule does.
 *
 * Context: Any, NMI-safe.
 * Return: a number that no table has.
 */
static inline u64 bee_rule_cache_starts(u64 serial)
{
	return ~serial;
}

/** bee_cached_rule_is() - whether an entry is this rule's.  Context: Any, NMI-safe. */
static inline bool bee_cached_rule_is(const struct bee_cached_rule *rule, u64 serial, u32 place)
{
	return rule->serial == serial && rule->place == place;
}

#endif /* BEE_RULE_CACHE_H */
