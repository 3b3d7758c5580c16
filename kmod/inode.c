// SPDX-License-Identifier: GPL-2.0
/*
 * What an inode says about its file.  Calls nothing of its file system: callbacks may not sleep,
 * and a file system may wait for a network or a FUSE server.  That excludes what stat() and
 * name_to_handle_at() use, i_op->getattr() and s_export_op->encode_fh().
 */
#include <linux/elf.h>
#include <linux/fs.h>
#include <linux/highmem.h>
#include <linux/pagemap.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "compat.h"
#include "inode.h"

/**
 * bee_inode_look() - take down what an inode says of its file, all but the build-id
 * @look: is filled
 * @inode: the inode, or NULL: the vDSO
 *
 * Files of the kernel's own mounts (memfd, secretmem) count as having no build-id: their pages may
 * be missing in the kernel's page table.
 *
 * Context: Any.
 */
void bee_inode_look(struct bee_inode_look *look, const struct inode *inode)
{
	struct timespec64 mtime, ctime;

	*look = (struct bee_inode_look) { .inode = inode };
	look->build_id.looked = !inode || inode->i_sb->s_flags & SB_NOUSER;
	if (!inode)
		return;
	mtime = bee_compat_inode_mtime(inode);
	ctime = bee_compat_inode_ctime(inode);
	look->key = (struct bee_file_key) {
		.dev = inode->i_sb->s_dev,
		.ino = inode->i_ino,
		.generation = inode->i_generation,
		.size = i_size_read(inode),
		.mtime_sec = mtime.tv_sec,
		.mtime_nsec = mtime.tv_nsec,
	};
	look->ctime = timespec64_to_ns(&ctime);
}

/* Copy the first @most bytes of a file, if its first page is in the page cache. */
static size_t inode_copy_begin(const struct inode *inode, void *to, size_t most)
{
	size_t size = min_t(u64, i_size_read(inode), most);
	struct folio *folio;
	void *from;

	folio = filemap_get_folio(inode->i_mapping, 0);
	if (IS_ERR_OR_NULL(folio))
		return 0;
	from = kmap_local_folio(folio, 0);
	if (!folio_test_uptodate(folio) || copy_from_kernel_nofault(to, from, size))
		size = 0;
	kunmap_local(from);
	folio_put(folio);
	return size;
}

/**
 * bee_inode_look_build_id() - add the build-id to what an inode says
 * @look: from bee_inode_look()
 * @gfp: for a buffer
 *
 * Looks at the page cache and reads nothing from the disk.  Whoever executes a file or loads a
 * library has just read its first page, as has beectl.  If the page is not there, or memory is
 * short, the build-id stays unknown.
 *
 * Context: Any but NMI; may sleep if @gfp says so.
 */
void bee_inode_look_build_id(struct bee_inode_look *look, gfp_t gfp)
{
	/* Most have it here, behind the program headers; what is no ELF file has it nowhere. */
	static const size_t few = 1024;
	size_t size = 0;
	void *page;

	if (look->build_id.looked)
		return;
	page = kmalloc(PAGE_SIZE, gfp | __GFP_NOWARN);
	if (page)
		size = inode_copy_begin(look->inode, page, few);
	if (size)
		bee_build_id_find(page, size, &look->build_id);
	if (size == few && !look->build_id.len && !memcmp(page, ELFMAG, SELFMAG)) {
		size = inode_copy_begin(look->inode, page, PAGE_SIZE);
		look->build_id = (struct bee_build_id) {};
		if (size)
			bee_build_id_find(page, size, &look->build_id);
	}
	kfree(page);
}
