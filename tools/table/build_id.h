/* SPDX-License-Identifier: GPL-2.0 */
/* The GNU build-id of an ELF file. */
#ifndef BEE_BUILD_ID_H
#define BEE_BUILD_ID_H

#include <linux/string.h>
#include <linux/types.h>

#define BEE_BUILD_ID_MAX	20	/* SHA-1; ld.bfd and ld.lld make none that are longer */

/**
 * struct bee_build_id - a build-id
 * @len: bytes of @id in use; 0: it has none
 * @id: the build-id; zeros behind it
 */
struct bee_build_id {
	u8	len;
	u8	id[BEE_BUILD_ID_MAX];
};

/**
 * bee_build_id_find() - find the build-id in the first bytes of an ELF file
 * @data: a copy of the bytes that nobody changes, aligned to 4
 * @size: how many
 * @build_id: filled
 *
 * The note is found by its own header (gABI, "Note Section"; its name and type are GNU's).  The
 * file's headers, which could say anything, are not followed.  Linkers put the note behind the
 * program headers, so it is in the first page.
 *
 * Context: Any.
 */
static inline void bee_build_id_find(const void *data, size_t size, struct bee_build_id *build_id)
{
	static const u32 type_gnu = 3;		/* NT_GNU_BUILD_ID */
	struct {
		u32	namesz;
		u32	descsz;
		u32	type;
		char	name[4];
	} note;
	const u8 *byte = data;
	size_t at;

	*build_id = (struct bee_build_id) {};
	if (size < 4 || memcmp(byte, "\177ELF", 4))
		return;
	for (at = 0; at + sizeof(note) <= size; at += 4) {
		memcpy(&note, byte + at, sizeof(note));
		if (note.type != type_gnu || note.namesz != 4 || memcmp(note.name, "GNU", 4))
			continue;
		if (!note.descsz || note.descsz > BEE_BUILD_ID_MAX ||
		    note.descsz > size - at - sizeof(note))
			continue;
		build_id->len = note.descsz;
		memcpy(build_id->id, byte + at + sizeof(note), note.descsz);
		return;
	}
}

#endif /* BEE_BUILD_ID_H */
