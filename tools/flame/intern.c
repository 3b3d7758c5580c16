// SPDX-License-Identifier: GPL-2.0
/* Numbers for things that are equal. */
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "hash.h"
#include "intern.h"

#define INTERN_FIRST_SLOTS	1024
#define TEXTS_CHUNK		(64u << 10)

/* What a text is found by: its hash, and how many texts with this hash came before it. */
struct text_key {
	u64	hash;
	u64	nth;
	char	*text;
	size_t	length;
};

static u64 hash_bytes(const u8 *bytes, size_t size)
{
	u64 word, hash = hash_seed();

	for (; size >= sizeof(word); bytes += sizeof(word), size -= sizeof(word)) {
		memcpy(&word, bytes, sizeof(word));
		hash = hash_word(hash, word);
	}
	word = 0;
	memcpy(&word, bytes, size);
	return hash_word(hash_word(hash, word), size + 1);
}

/* The slot of an item whose key is one word: those of samples' frames are looked up most. */
static u32 *intern_word_slot(const struct intern *intern, const void *item)
{
	u64 word, other;
	u32 at;

	memcpy(&word, item, sizeof(word));
	at = hash_word(hash_seed(), word) & (intern->slots - 1);
	for (; intern->slot[at] != INTERN_NONE; at = (at + 1) & (intern->slots - 1)) {
		memcpy(&other, intern_item(intern, intern->slot[at]), sizeof(other));
		if (other == word)
			break;
	}
	return &intern->slot[at];
}

/* The slot of an item, or the free one where it belongs. */
static u32 *intern_slot(const struct intern *intern, const void *item)
{
	u32 at;

	if (intern->key == sizeof(u64))
		return intern_word_slot(intern, item);
	at = hash_bytes(item, intern->key) & (intern->slots - 1);
	while (intern->slot[at] != INTERN_NONE &&
	       memcmp(intern_item(intern, intern->slot[at]), item, intern->key))
		at = (at + 1) & (intern->slots - 1);
	return &intern->slot[at];
}

static void intern_grow(struct intern *intern)
{
	u32 i;

	if (intern->count == 1u << 30)
		alloc_check(NULL, 0);
	intern->slots = intern->slots ? 2 * intern->slots : INTERN_FIRST_SLOTS;
	intern->slot = alloc_array(intern->slot, intern->slots, sizeof(*intern->slot));
	memset(intern->slot, 0xff, (size_t)intern->slots * sizeof(*intern->slot));
	for (i = 0; i < intern->count; i++)
		*intern_slot(intern, intern_item(intern, i)) = i;
}

/**
 * intern_add() - the number of an item
 * @intern: the table, all zero but for its sizes at first
 * @item: the item; copied if none with its key is there, else only its key is looked at
 *
 * Return: its number, the same for all items with this key.
 */
u32 intern_add(struct intern *intern, const void *item)
{
	u32 *slot;

	if (intern->count >= intern->slots / 2)
		intern_grow(intern);
	slot = intern_slot(intern, item);
	if (*slot != INTERN_NONE)
		return *slot;
	if (intern->count == intern->room) {
		intern->room = intern->room ? intern->room + intern->room / 2 : 256;
		intern->item = alloc_array(intern->item, intern->room, intern->size);
	}
	memcpy(intern_item(intern, intern->count), item, intern->size);
	return *slot = intern->count++;
}

/** intern_find() - as intern_add(); but INTERN_NONE if it is not there */
u32 intern_find(const struct intern *intern, const void *item)
{
	return intern->slots ? *intern_slot(intern, item) : INTERN_NONE;
}

void intern_free(struct intern *intern)
{
	free(intern->item);
	free(intern->slot);
	*intern = (struct intern){ .size = intern->size, .key = intern->key };
}

void texts_open(struct texts *texts)
{
	*texts = (struct texts){ .index = INTERN_OF(struct text_key, text) };
}

void texts_close(struct texts *texts)
{
	intern_free(&texts->index);
	while (texts->chunks)
		free(texts->chunk[--texts->chunks]);
	free(texts->chunk);
	texts->chunk = NULL;
}

/* Room for @size bytes more, in one piece. */
static char *texts_room(struct texts *texts, size_t size)
{
	if (texts->room - texts->used < size) {
		texts->room = size > TEXTS_CHUNK ? size : TEXTS_CHUNK;
		texts->used = 0;
		texts->chunk = alloc_array(texts->chunk, texts->chunks + 1, sizeof(*texts->chunk));
		texts->chunk[texts->chunks++] = alloc_array(NULL, texts->room, 1);
		texts->bytes += texts->room;
	}
	texts->used += size;
	return texts->chunk[texts->chunks - 1] + texts->used - size;
}

/** texts_add() - the number of the string of @length bytes at @text */
u32 texts_add(struct texts *texts, const char *text, size_t length)
{
	struct text_key key = { .hash = hash_bytes((const u8 *)text, length) }, *found;
	u32 before = texts->index.count, number;

	for (;; key.nth++) {
		number = intern_add(&texts->index, &key);
		found = intern_item(&texts->index, number);
		if (texts->index.count != before)
			break;
		if (found->length == length && !memcmp(found->text, text, length))
			return number;
	}
	found->text = texts_room(texts, length + 1);
	found->length = length;
	memcpy(found->text, text, length);
	found->text[length] = '\0';
	return number;
}

/** texts_find() - the number of a string; INTERN_NONE if it is not there */
u32 texts_find(const struct texts *texts, const char *text)
{
	struct text_key key = { .hash = hash_bytes((const u8 *)text, strlen(text)) };
	u32 number;

	while ((number = intern_find(&texts->index, &key)) != INTERN_NONE &&
	       strcmp(texts_get(texts, number), text))
		key.nth++;
	return number;
}

/** texts_get() - the string of a number, valid until texts_close() */
const char *texts_get(const struct texts *texts, u32 number)
{
	const struct text_key *key = intern_item(&texts->index, number);

	return key->text;
}

/** texts_bytes() - memory of the strings and of what they are found by, but for the hash table; bytes */
size_t texts_bytes(const struct texts *texts)
{
	return texts->bytes + (size_t)texts->index.count * sizeof(struct text_key);
}
