/* SPDX-License-Identifier: GPL-2.0 */
/* The identity of an ELF file, which names its entry in the cache. */
#ifndef BEE_IDENTITY_H
#define BEE_IDENTITY_H

#include <stdbool.h>
#include <stdint.h>

#include "elf.h"
#include "error.h"

/**
 * struct file_identity - which ELF file
 * @type: enum bee_table_id_type
 * @len: bytes of @id in use
 * @id: as in struct bee_table_header
 * @size: bytes of the file
 * @inode: its inode number; 0 for the vDSO
 * @born: when the inode was made, ns since the epoch; 0 for the vDSO
 * @mtime: when its contents were changed last, ns since the epoch; 0 for the vDSO
 *
 * Whoever makes a file chooses its build-id and mtime.  Nobody can choose inode number and time of
 * birth, so no file can pass for another.
 */
struct file_identity {
	uint8_t		type;
	uint8_t		len;
	uint8_t		id[BEE_TABLE_ID_MAX];
	uint64_t	size;
	uint64_t	inode;
	uint64_t	born;
	uint64_t	mtime;
};

bool identity_read(int fd, bool vdso, struct file_identity *identity);
int identity_open(struct elf_file *elf, int fd, bool vdso, struct file_identity *identity,
		  struct bee_error *error);

#endif /* BEE_IDENTITY_H */
