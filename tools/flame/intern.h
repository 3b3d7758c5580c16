/* SPDX-License-Identifier: GPL-2.0 */
/* Numbers for things that are equal: for items of fixed size, and for strings. */
#ifndef INTERN_H
#define INTERN_H

#include <linux/types.h>
#include <stddef.h>

#define INTERN_NONE	(~0u)

/**
 * struct intern - items in the order in which they were added, each once
 * @item: the items
 * @count: items in @item; at most INTERN_NONE - 1
 * @size: bytes of an item
 * @key: bytes at its start that tell items apart
 * @room: items there is memory for
 * @slot: open hash table: indices, or INTERN_NONE
 * @slots: a power of two, or 0
 */
struct intern {
	u8	*item;
	u32	 count;
	u32	 size;
	u32	 key;
	u32	 room;
	u32	*slot;
	u32	 slots;
};

/**
 * struct texts - strings, each once
 * @index: of their hashes and places
 * @chunk: memory for them, which stays where it is
 * @chunks: entries in @chunk
 * @bytes: length of all chunks
 * @used: bytes in use of the last chunk
 * @room: bytes of the last chunk
 */
struct texts {
	struct intern	  index;
	char		**chunk;
	size_t		  chunks;
	size_t		  bytes;
	size_t		  used;
	size_t		  room;
};

/* INTERN_OF(): an empty table of items of a type, whose key are the bytes before @member */
#define INTERN_OF(type, member)	{ .size = sizeof(type), .key = offsetof(type, member) }

u32 intern_add(struct intern *intern, const void *item);
u32 intern_find(const struct intern *intern, const void *item);
void intern_free(struct intern *intern);

static inline void *intern_item(const struct intern *intern, u32 index)
{
	return intern->item + (size_t)index * intern->size;
}

void texts_open(struct texts *texts);
void texts_close(struct texts *texts);
u32 texts_add(struct texts *texts, const char *text, size_t length);
u32 texts_find(const struct texts *texts, const char *text);
const char *texts_get(const struct texts *texts, u32 number);
size_t texts_bytes(const struct texts *texts);

#endif /* INTERN_H */
