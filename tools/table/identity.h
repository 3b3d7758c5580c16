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
 * @fs_type: f_type of its file system if that has no block device; else, and for the vDSO, 0
 * @fs: which file system of this type, see identity_set_inode(); 0 for the vDSO
 * @inode: its inode number, on overlayfs that of the layer below; 0 for the vDSO
 * @born: when the inode was made, ns since the epoch; 0 for the vDSO
 * @mtime: when its contents were changed last, ns since the epoch; 0 for the vDSO
 *
 * Whoever makes a file chooses its build-id and mtime, but neither inode number nor time of birth.
 * Whoever makes the whole file system, or is its FUSE server, chooses those too, but not which file
 * system it is, so that no file can pass for one of another file system that is mounted.
 */
struct file_identity {
	uint8_t		type;
	uint8_t		len;
	uint8_t		id[BEE_TABLE_ID_MAX];
	uint64_t	size;
	uint32_t	fs_type;
	uint64_t	fs;
	uint64_t	inode;
	uint64_t	born;
	uint64_t	mtime;
};

/**
 * struct identity_known - what the module knows of a file
 * @vdso: it is a copy of the vDSO, whose inode means nothing
 * @device: of its inode: on overlayfs that of the layer below
 * @inode: number of this inode
 */
struct identity_known {
	bool		vdso;
	uint64_t	device;
	uint64_t	inode;
};

bool identity_read(int fd, const struct identity_known *known, struct file_identity *identity);
int identity_open(struct elf_file *elf, int fd, const struct identity_known *known,
		  struct file_identity *identity, struct bee_error *error);

#endif /* BEE_IDENTITY_H */
