/* SPDX-License-Identifier: GPL-2.0 */
/* What an inode says about its file. */
#ifndef BEE_INODE_H
#define BEE_INODE_H

#include <linux/types.h>

#include "build_id.h"

struct inode;

/**
 * struct bee_file_key - what a file with unchanged contents keeps for ever
 * @dev: s_dev of its file system
 * @ino: inode number
 * @generation: i_generation, which tells apart files that reuse an inode number
 * @size: bytes
 * @mtime_sec: time of the last change of its contents, seconds
 * @mtime_nsec: and nanoseconds
 *
 * All zero: the vDSO.
 *
 * Two files can have equal keys: where one file system has several spaces of inode numbers (each
 * subvolume of btrfs and bcachefs, each snapshot of nilfs2 and ceph, what a FUSE server makes up),
 * and when different file systems are mounted from one device, one after the other.
 */
struct bee_file_key {
	u64	dev;
	u64	ino;
	u64	generation;
	u64	size;
	s64	mtime_sec;
	s64	mtime_nsec;
};

/**
 * struct bee_inode_look - what an inode says at one moment
 * @inode: the inode, in use by the caller; NULL: the vDSO
 * @key: see there
 * @ctime: when it was last changed in any way, ns since the epoch
 * @build_id: see bee_inode_look_build_id()
 */
struct bee_inode_look {
	const struct inode	*inode;
	struct bee_file_key	 key;
	s64			 ctime;
	struct bee_build_id	 build_id;
};

void bee_inode_look(struct bee_inode_look *look, const struct inode *inode);
void bee_inode_look_build_id(struct bee_inode_look *look, gfp_t gfp);

#endif /* BEE_INODE_H */
