// SPDX-License-Identifier: GPL-2.0
/* The cache: which entries it accepts, keeps and removes; many users at once. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <linux/magic.h>

#include "cache.h"
#include "compile.h"
#include "elf.h"
#include "io.h"
#include "table_file.h"
#include "text.h"

#include "kselftest.h"

#define BLOCK	4096

static char top[] = "/tmp/cache_test.XXXXXX";
static char where[64];
static void *blob;
static size_t blob_size;
static uint64_t blob_disk;
static struct file_identity large;

/* Open a library of this process that has some pages of table, and is compiled fast. */
static int open_library(void)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	char line[4096], path[4096];
	int fd = -1;

	while (maps && fd < 0 && fgets(line, sizeof(line), maps))
		if (sscanf(line, "%*s r-x%*s %*s %*s %*s %4095s", path) == 1 &&
		    strstr(path, "/libdw"))
			fd = open(path, O_RDONLY | O_CLOEXEC);
	if (maps)
		fclose(maps);
	return fd;
}

/* All tests use the table of one ELF file; with another inode it counts as another file. */
static bool large_compile(void)
{
	struct compile_result result = { 0 };
	struct elf_file elf = { 0 };
	struct bee_error why;
	int fd = open_library();
	bool good;

	good = fd >= 0 && !compile_elf(fd, NULL, &result, &why) && !elf_open(&elf, fd, &why);
	if (good) {
		large = (struct file_identity){ .type = elf.id_type, .len = elf.id_len,
						.size = elf.file_size, .inode = 1, .born = 5,
						.mtime = 7 };
		memcpy(large.id, elf.id, sizeof(large.id));
		blob = result.blob;
		blob_size = result.size;
		blob_disk = (blob_size + BLOCK - 1) / BLOCK * BLOCK;
		elf_close(&elf);
	}
	if (fd >= 0)
		close(fd);
	return good;
}

static struct file_identity nth(uint64_t inode)
{
	struct file_identity id = large;

	id.inode = inode;
	return id;
}

/* Open a cache in an empty directory, with room for @entries entries. */
static struct cache *fresh(unsigned int entries)
{
	static int number;
	char text[32];

	snprintf(where, sizeof(where), "%s/%d", top, number++);
	snprintf(text, sizeof(text), "%llu", (unsigned long long)(entries * blob_disk));
	setenv(CACHE_DIR_ENV, where, 1);
	setenv(CACHE_LIMIT_ENV, text, 1);
	return cache_open();
}

static struct table_file table_copy(void)
{
	struct table_file file = { .fd = -1, .blob = malloc(blob_size) };
	struct bee_table_error refusal;

	memcpy(file.blob, blob, blob_size);
	if (bee_table_validate(file.blob, blob_size, &file.table, &refusal))
		abort();
	return file;
}

static bool store(struct cache *cache, uint64_t inode)
{
	struct file_identity id = nth(inode);
	struct table_file file = table_copy();
	struct bee_error why = {};
	bool kept;

	if (cache_store(cache, &id, "/usr/bin/some program", &file, &why)) {
		ksft_print_msg("%s\n", why.text);
		return false;
	}
	kept = file.kept;
	table_file_close(&file);
	return kept;
}

/* Whether there is an entry of a file that may be used, whatever is in its table. */
static bool find_id(struct cache *cache, const struct file_identity *id)
{
	uint64_t size = 0;
	int fd = cache_find(cache, id, &size);

	if (fd < 0)
		return false;
	close(fd);
	return size;
}

static bool lookup_id(struct cache *cache, const struct file_identity *id)
{
	struct table_file file;
	char *again;
	bool good;

	if (!cache_lookup(cache, id, &file))
		return false;
	again = malloc(blob_size);
	good = pread(file.fd, again, blob_size, 0) == (ssize_t)blob_size &&
	       !memcmp(again, blob, blob_size) && !memcmp(file.blob, blob, blob_size) &&
	       find_id(cache, id);
	free(again);
	table_file_close(&file);
	return good;
}

static bool lookup(struct cache *cache, uint64_t inode)
{
	struct file_identity id = nth(inode);

	return lookup_id(cache, &id);
}

struct sum {
	unsigned int count[CACHE_UNTRUSTED + 1];
	unsigned int all;
	uint64_t bytes;
	char name[192];
	char path[64];
};

static void sum_entry(void *arg, const struct cache_entry *entry)
{
	struct sum *sum = arg;

	sum->count[entry->state]++;
	sum->all++;
	sum->bytes += entry->bytes;
	snprintf(sum->name, sizeof(sum->name), "%s/%s", where, entry->name);
	snprintf(sum->path, sizeof(sum->path), "%s", entry->path);
}

static struct sum look(struct cache *cache)
{
	struct sum sum = { 0 };

	if (cache_list(cache, sum_entry, &sum))
		sum.all = -1;
	return sum;
}

static unsigned int files_in(const char *dir)
{
	unsigned int n = 0;
	DIR *open = opendir(dir);
	struct dirent *entry;

	if (!open)
		return -1;
	while ((entry = readdir(open)))
		n += strcmp(entry->d_name, ".") && strcmp(entry->d_name, "..");
	closedir(open);
	return n;
}

static bool check_stored(void)
{
	struct cache *cache = fresh(10);
	bool good = !lookup(cache, 1) && store(cache, 1) && lookup(cache, 1) &&
		    files_in(where) == 1;

	cache_close(cache);
	return good;
}

static bool check_of_another_file(void)
{
	struct cache *cache = fresh(10);
	struct file_identity id[8] = { large, large, large, large, large, large, large, large };
	bool good = store(cache, 1) && lookup_id(cache, &id[0]);
	size_t i;

	id[0].inode++;
	id[1].mtime++;
	id[2].size++;
	id[3].id[3]++;
	id[4].type = BEE_ID_SHA256;
	id[5].born++;
	id[6].fs++;
	id[7].fs_type++;
	for (i = 0; i < 8; i++)
		good = good && !lookup_id(cache, &id[i]) && !find_id(cache, &id[i]);
	cache_close(cache);
	return good;
}

/* The first page says the same of a file as all its headers do; of some files it says nothing. */
static bool check_identity(void)
{
	static const struct identity_known vdso = { .vdso = true };
	struct file_identity quick = { 0 }, slow = { 0 };
	struct elf_file elf = { 0 };
	struct bee_error why;
	int fd = open_library(), other = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
	bool good;

	good = fd >= 0 && other >= 0 && identity_read(fd, NULL, &quick) &&
	       !identity_open(&elf, fd, NULL, &slow, &why) && !memcmp(&quick, &slow, sizeof(quick)) &&
	       quick.fs;
	elf_close(&elf);
	good = good && identity_read(fd, &vdso, &quick) && !quick.inode && !quick.born &&
	       !quick.mtime && !quick.fs && quick.size == slow.size &&
	       !identity_read(other, NULL, &quick) && !identity_read(-1, NULL, &quick);
	close(fd);
	close(other);
	return good;
}

/* A file system without a device is known by its f_fsid; it has one that stays. */
static bool check_no_device(void)
{
	struct file_identity one = { 0 }, two = { 0 };
	int fd = open_library(), copy = -1;
	struct stat st = { 0 };
	bool good;

	if (fd >= 0 && !fstat(fd, &st))
		copy = io_memfd_copy("library", fd, st.st_size);
	good = copy >= 0 && identity_read(copy, NULL, &one) && identity_read(copy, NULL, &two) &&
	       !memcmp(&one, &two, sizeof(one)) && one.fs_type == TMPFS_MAGIC && one.fs &&
	       one.fs != st.st_dev;
	close(fd);
	close(copy);
	return good;
}

/* Mount the directory that @fd is in on @over, by overlayfs.  Return: the file in there; or -1. */
static int open_overlaid(int fd, const char *over)
{
	char link[32], path[4096] = "", options[8192], *name;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	if (readlink(link, path, sizeof(path) - 1) < 0)
		return -1;
	name = strrchr(path, '/');
	*name++ = '\0';
	snprintf(options, sizeof(options), "lowerdir=%s:%s", path, top);
	if (unshare(CLONE_NEWNS) || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mkdir(over, 0700) || mount("overlay", over, "overlay", MS_RDONLY, options))
		return -1;
	snprintf(options, sizeof(options), "%s/%s", over, name);
	return open(options, O_RDONLY | O_CLOEXEC);
}

static bool overlaid_is_known(int fd)
{
	static const struct identity_known disk = { .device = 8 << 20 | 1, .inode = 77 },
					   fuse = { .device = 50, .inode = 77 },
					   other = { .device = 51, .inode = 77 };
	struct file_identity id[5];
	struct stat st;

	if (fstat(fd, &st) || !identity_read(fd, &disk, &id[0]) ||
	    !identity_read(fd, &fuse, &id[1]) || !identity_read(fd, &fuse, &id[2]) ||
	    !identity_read(fd, &other, &id[3]) || !identity_read(fd, NULL, &id[4]))
		return false;
	return !id[0].fs_type && id[0].fs == disk.device && id[0].inode == 77 &&
	       id[1].fs_type == OVERLAYFS_SUPER_MAGIC && id[1].fs != fuse.device &&
	       id[1].inode == 77 && !memcmp(&id[1], &id[2], sizeof(id[1])) &&
	       id[3].fs != id[1].fs && id[4].fs_type == OVERLAYFS_SUPER_MAGIC &&
	       id[4].fs != id[1].fs && id[4].inode == st.st_ino;
}

/*
 * On overlayfs the inode below counts, of which the module knows number and device.  A child mounts the
 * overlayfs, in a mount namespace of its own.  If this process had one, inside a chroot /proc/self/maps
 * would name the libraries as they are called outside of the chroot, and open_library() would find none.
 */
static void test_overlay(void)
{
	int status = 0, overlaid;
	char over[64];

	snprintf(over, sizeof(over), "%s/over", top);
	fflush(stdout);
	if (!fork()) {
		overlaid = open_overlaid(open_library(), over);
		_exit(overlaid < 0 ? 128 + errno : !overlaid_is_known(overlaid));
	}
	wait(&status);
	rmdir(over);
	if (WIFEXITED(status) && WEXITSTATUS(status) > 128)
		ksft_test_result_skip("overlayfs # SKIP cannot be mounted: %s\n",
				      strerror(WEXITSTATUS(status) - 128));
	else
		ksft_test_result(!status, "a file's inode below overlayfs is known\n");
}

/*
 * Let @spoil damage or replace a cache entry.  Return: the state that a listing gives it, -1 if
 * a lookup accepts it, other negative numbers if anything else is wrong.
 */
static int spoiled(struct cache *cache, int (*spoil)(const char *name))
{
	struct file_identity id = nth(1);
	struct sum sum;
	int state;

	if (!store(cache, 1) || !lookup(cache, 1))
		return -2;
	sum = look(cache);
	if (sum.all != 1 || sum.count[CACHE_CURRENT] != 1 || spoil(sum.name))
		return -3;
	if (lookup(cache, 1))
		return -1;
	sum = look(cache);
	for (state = 0; state <= CACHE_UNTRUSTED && !sum.count[state]; state++)
		;
	if (state == CACHE_UNTRUSTED && find_id(cache, &id))
		return -5;
	/* A new store must replace the bad entry. */
	return store(cache, 1) && lookup(cache, 1) && files_in(where) == 1 ? state : -4;
}

static size_t flip_at;

static int spoil_bit(const char *name)
{
	int fd = open(name, O_RDWR);
	char byte;
	int ret = pread(fd, &byte, 1, flip_at) != 1;

	byte ^= 1 << flip_at % 8;
	ret = ret || pwrite(fd, &byte, 1, flip_at) != 1;
	close(fd);
	return ret;
}

static bool check_every_bit(void)
{
	struct cache *cache = fresh(10);
	bool good = true;

	for (flip_at = 0; good && flip_at < blob_size; flip_at += 1 + blob_size / 200)
		good = spoiled(cache, spoil_bit) == CACHE_DAMAGED;
	cache_close(cache);
	return good;
}

static int spoil_short(const char *name)
{
	return truncate(name, blob_size - 1);
}

static int spoil_empty(const char *name)
{
	return truncate(name, 0);
}

static int spoil_mode(const char *name)
{
	return chmod(name, 0666);
}

static int spoil_owner(const char *name)
{
	return chown(name, 65534, 65534);
}

static int spoil_symlink(const char *name)
{
	char moved[256];

	snprintf(moved, sizeof(moved), "%s.elsewhere", top);
	return rename(name, moved) || symlink(moved, name);
}

static int spoil_fifo(const char *name)
{
	return unlink(name) || mkfifo(name, 0644);
}

static bool check_spoiled(int (*spoil)(const char *name), int state)
{
	struct cache *cache = fresh(10);
	int got = spoiled(cache, spoil);

	if (got != state)
		ksft_print_msg("state %d, not %d\n", got, state);
	cache_close(cache);
	return got == state;
}

/* A table that is not exact is not stored, and not accepted if it is in the cache. */
static bool check_inexact(void)
{
	const struct lossy_options thin = { .thin = 10 };
	struct file_identity id = nth(1);
	struct compile_result result = { 0 };
	struct cache *cache = fresh(10);
	struct table_file file;
	struct bee_error why = {};
	char command[512];
	int fd = open_library();
	FILE *pipe;
	bool good;

	good = fd >= 0 && !compile_elf(fd, &thin, &result, &why) && store(cache, 1) &&
	       lookup(cache, 1);
	snprintf(command, sizeof(command), "cat >$(ls %s/*)", where);
	pipe = good ? popen(command, "w") : NULL;
	good = pipe && fwrite(result.blob, 1, result.size, pipe) == result.size;
	good = pipe && !pclose(pipe) && good && !cache_lookup(cache, &id, &file) &&
	       !find_id(cache, &id);
	id = nth(2);
	file = (struct table_file){ .fd = -1, .blob = result.blob, .table = result.table };
	good = good && !cache_store(cache, &id, "/usr/bin/some program", &file, &why) &&
	       !file.kept && !why.text[0];
	if (good)
		table_file_close(&file);
	good = good && !cache_lookup(cache, &id, &file);
	cache_close(cache);
	close(fd);
	return good;
}

/* With --fp-bypass a library without frame pointers gets an exact table and no error text. */
static bool check_refused_bypass(void)
{
	const struct lossy_options bypass = { .fp_bypass = true };
	struct cache *cache = fresh(10);
	struct lossy_report report;
	struct table_file file;
	struct bee_error why;
	int fd = open_library();
	bool good;

	good = table_file_get(cache, fd, "/usr/bin/some program", NULL, &bypass, &report, &file,
			      &why) == TABLE_COMPILED &&
	       !why.text[0] && file.kept && !file.table.header->flags;
	if (!good)
		ksft_print_msg("\"%s\"\n", why.text);
	table_file_close(&file);
	cache_close(cache);
	close(fd);
	return good;
}

/* The directory must be refused with a text that has @word in it; tables are compiled anyway. */
static bool dir_is_refused(const char *word)
{
	struct cache *cache;
	bool good;

	setenv(CACHE_DIR_ENV, where, 1);
	cache = cache_open();
	good = cache_absent(cache) && strstr(cache_absent(cache), word) && cache_warning(cache) &&
	       !store(cache, 1) && !lookup(cache, 1);
	if (!good)
		ksft_print_msg("%s\n", cache_absent(cache) ?: "not refused");
	cache_close(cache);
	return good;
}

static bool check_dir_refused(mode_t mode)
{
	cache_close(fresh(10));
	return !chmod(where, mode) && dir_is_refused("may be read or written by others") && !files_in(where);
}

static bool check_private(void)
{
	mode_t mask = umask(0);
	struct cache *cache = fresh(10);
	struct stat dir, entry;
	bool good = store(cache, 1);

	good = good && !stat(where, &dir) && !stat(look(cache).name, &entry) &&
	       (dir.st_mode & 07777) == 0700 && (entry.st_mode & 07777) == 0600;
	cache_close(cache);
	umask(mask);
	return good;
}

static bool check_dir_symlink(void)
{
	char target[64];

	cache_close(fresh(10));
	strcpy(target, where);
	snprintf(where, sizeof(where), "%s/link", top);
	return !symlink(target, where) && dir_is_refused("symbolic link") && !files_in(target);
}

static bool check_dir_file(void)
{
	snprintf(where, sizeof(where), "/proc/self/status");
	return dir_is_refused("; " CACHE_DIR_ENV " can name another");
}

/* Set the time of the one entry that still has a recent one to @seconds after 1970. */
static bool set_age(time_t seconds)
{
	const struct timespec times[2] = { { .tv_sec = seconds }, { .tv_sec = seconds } };
	DIR *dir = opendir(where);
	struct dirent *entry;
	unsigned int n = 0;
	struct stat st;

	while (dir && (entry = readdir(dir)))
		if (entry->d_name[0] != '.' && !fstatat(dirfd(dir), entry->d_name, &st, 0) &&
		    st.st_mtime > 1000000)
			n += !utimensat(dirfd(dir), entry->d_name, times, 0);
	if (dir)
		closedir(dir);
	return n == 1;
}

/* Entries 1 and 3 are removed, entry 2 is not: a lookup has used it. */
static bool check_least_recent(void)
{
	struct cache *cache = fresh(8);
	bool good = true;
	uint64_t i;

	for (i = 1; i <= 8; i++) {
		good = good && store(cache, i) && set_age(1000 + i);
	}
	good = good && look(cache).all == 8 && lookup(cache, 2);
	good = good && store(cache, 9) && !lookup(cache, 1) && look(cache).bytes <= 8 * blob_disk;
	for (i = 10; i <= 14; i++)
		good = good && store(cache, i);
	good = good && lookup(cache, 2) && lookup(cache, 14) && !lookup(cache, 3) &&
	       look(cache).bytes <= 8 * blob_disk;
	cache_close(cache);
	return good;
}

static bool check_too_large(void)
{
	struct file_identity id = nth(1);
	struct table_file file = table_copy();
	struct cache *cache;
	struct bee_error why = {};
	bool good;

	cache = fresh(0);
	good = !cache_store(cache, &id, "/x", &file, &why) &&
	       !file.kept && file.fd >= 0 && strstr(why.text, "larger than") && !files_in(where);
	table_file_close(&file);
	cache_close(cache);
	return good;
}

static int touch(const char *name, time_t age)
{
	const struct timespec when = { .tv_sec = time(NULL) - age };
	const struct timespec times[2] = { when, when };
	char path[256];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", where, name);
	fd = open(path, O_CREAT | O_WRONLY, 0644);
	if (fd < 0 || futimens(fd, times))
		return -1;
	return close(fd);
}

/* Names of files that are not the cache's, in a directory set as the cache by mistake. */
static const char *const strangers[] = {
	"README", "2026-11-21", "deadbeef-1-2-3", "deadbeef-1-2-3-4", "sha256-abcdef", ".new-1",
	".new-0123456789abcdeX", "deadbeef-1-2-3-0123456789ABCDEF",
	"deadbeef-1-2-3-0123456789abcdef0", "deadbeef-1-2-0123456789abcdef",
	"deadbeef-1-2-3-4-0123456789abcdef", "deadbeef-1-2-3-4-5-6-0123456789abcdef",
	"-1-2-3-0123456789abcdef", "deadbeef-1-2-3-0123456789abcdef.txt", "libc-2.36.so",
};

#define NSTRANGERS	(sizeof(strangers) / sizeof(strangers[0]))

static bool check_strangers(void)
{
	struct cache *cache = fresh(1);
	size_t i, count;
	uint64_t bytes;
	bool good = true;

	for (i = 0; i < NSTRANGERS; i++)
		good = good && !touch(strangers[i], 1000000);
	for (i = 0; i < 5; i++)
		good = good && store(cache, i);
	good = good && look(cache).all == 1 && !cache_clear(cache, &count, &bytes) && count == 1 &&
	       bytes == blob_disk && files_in(where) == NSTRANGERS;
	cache_close(cache);
	return good;
}

static bool check_left_behind(void)
{
	struct cache *cache = fresh(10);
	bool good;

	good = !touch(".new-00112233445566aa", 7200) && !touch(".new-00112233445566bb", 10) &&
	       store(cache, 1);
	cache_close(cache);
	return good && files_in(where) == 2;
}

static bool check_path(void)
{
	struct cache *cache = fresh(10);
	bool good = store(cache, 1) && !strcmp(look(cache).path, "/usr/bin/some program");

	cache_close(cache);
	return good;
}

/* Whether the file system of the tests can keep a path with a file. */
static bool have_xattr(void)
{
	char command[256];

	snprintf(command, sizeof(command),
		 "/usr/bin/python3 -c 'import os; "
		 "os.setxattr(\"%s\", \"user.x\", b\"1\")' 2>/dev/null",
		 top);
	return !system(command);
}

/* One of several processes that look up every entry in turn and store those they do not find. */
static void crowd_member(unsigned int me, unsigned int entries)
{
	struct cache *cache = cache_open();
	unsigned int i, step;

	for (step = 0; step < 3 * entries; step++) {
		i = (step * 7 + me * 5) % entries;
		if (!lookup(cache, i) && !store(cache, i))
			_exit(1);
	}
	cache_close(cache);
	_exit(0);
}

static bool crowd(unsigned int entries)
{
	bool good = true;
	unsigned int i;
	int status;

	for (i = 0; i < 8; i++)
		if (!fork())
			crowd_member(i, entries);
	for (i = 0; i < 8; i++)
		good = wait(&status) > 0 && !status && good;
	return good;
}

static bool check_crowd(unsigned int entries, unsigned int room)
{
	struct cache *cache = fresh(room);
	bool good = crowd(entries);
	struct sum sum = look(cache);

	ksft_print_msg("%u entries, %llu of %llu bytes\n", sum.all, (unsigned long long)sum.bytes,
		       (unsigned long long)cache_limit(cache));
	good = good && sum.count[CACHE_CURRENT] == sum.all && files_in(where) == sum.all &&
	       sum.bytes <= cache_limit(cache) && sum.all >= (entries < room ? entries : room / 2);
	cache_close(cache);
	return good;
}

static bool check_limit_word(void)
{
	struct cache *cache;
	bool good;

	setenv(CACHE_LIMIT_ENV, "many", 1);
	cache = cache_open();
	good = cache_limit_warning(cache) && !cache_warning(cache) &&
	       strstr(cache_limit_warning(cache), CACHE_LIMIT_ENV "=many") &&
	       cache_limit(cache) == CACHE_LIMIT_DEFAULT;
	cache_close(cache);
	return good;
}

static bool check_sizes(void)
{
	static const struct { const char *word; uint64_t bytes; } good[] = {
		{ "0", 0 }, { "4096", 4096 }, { "1k", 1024 }, { "64K", 65536 }, { "3MiB", 3 << 20 },
		{ "2G", 2ull << 30 }, { "5B", 5 }, { "1TB", 1ull << 40 },
		{ "18446744073709551615", UINT64_MAX },
	};
	static const char *const bad[] = {
		"", "M", "-1", "1x", "1 M", "1MM", "18446744073709551616", "16777216T", "1iB",
		"0x10",
	};
	uint64_t bytes;
	size_t i;

	for (i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		if (text_parse_size(good[i].word, &bytes) || bytes != good[i].bytes)
			return false;
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		if (!text_parse_size(bad[i], &bytes))
			return false;
	return true;
}

static void remove_all(void)
{
	char command[64];

	snprintf(command, sizeof(command), "rm -rf %s %s.elsewhere", top, top);
	if (system(command))
		ksft_print_msg("%s: not removed\n", top);
}

int main(void)
{
	ksft_print_header();
	ksft_set_plan(31);
	if (!mkdtemp(top) || !large_compile())
		return 1;
	ksft_test_result(check_sizes(), "sizes as 64K and 3MiB are parsed, and other words refused\n");
	ksft_test_result(check_stored(), "a table that was stored is found\n");
	ksft_test_result(check_identity(), "a file has the same identity by its first page as by all of its headers\n");
	ksft_test_result(check_no_device(), "a file's identity names a file system without a device\n");
	test_overlay();
	ksft_test_result(check_of_another_file(), "a table of another file is not found\n");
	ksft_test_result(check_every_bit(), "a table with a changed bit is not used\n");
	ksft_test_result(check_spoiled(spoil_short, CACHE_DAMAGED), "a table that is cut off is not used\n");
	ksft_test_result(check_spoiled(spoil_empty, CACHE_DAMAGED), "a table that is empty is not used\n");
	ksft_test_result(check_spoiled(spoil_mode, CACHE_UNTRUSTED), "a table that others may write is not used\n");
	ksft_test_result(check_spoiled(spoil_symlink, CACHE_UNTRUSTED),
			 "a table that is a symbolic link is not used\n");
	ksft_test_result(check_spoiled(spoil_fifo, CACHE_UNTRUSTED), "a table that is a pipe is not used\n");
	if (geteuid())
		ksft_test_result_skip("a table of another owner is not used # SKIP needs root\n");
	else
		ksft_test_result(check_spoiled(spoil_owner, CACHE_UNTRUSTED), "a table of another owner is not used\n");
	ksft_test_result(check_inexact(), "a table in the cache that is not exact is not used\n");
	ksft_test_result(check_refused_bypass(), "a file that cannot have --fp-bypass has an exact table stored\n");
	ksft_test_result(check_dir_refused(0777), "a cache directory that all may write is refused\n");
	ksft_test_result(check_dir_refused(0775), "a cache directory that the group may write is refused\n");
	ksft_test_result(check_dir_refused(01777), "a cache directory with the mode of /tmp is refused\n");
	ksft_test_result(check_dir_refused(0755), "a cache directory that all may read is refused\n");
	ksft_test_result(check_dir_refused(0710), "a cache directory that the group may enter is refused\n");
	ksft_test_result(check_private(), "nobody else can read tables in the cache\n");
	ksft_test_result(check_dir_symlink(), "a cache directory that is a symbolic link is refused\n");
	ksft_test_result(check_dir_file(), "a cache directory that is a file is refused\n");
	ksft_test_result(check_least_recent(), "the table that was used longest ago is removed first\n");
	ksft_test_result(check_too_large(), "a table larger than the cache's limit is not stored\n");
	ksft_test_result(check_limit_word(), "a limit of the cache that is no size is replaced by the default\n");
	ksft_test_result(check_strangers(), "clearing the cache leaves files of others\n");
	ksft_test_result(check_left_behind(), "files that killed writers left are removed\n");
	if (have_xattr())
		ksft_test_result(check_path(), "entries of the cache know the path of their file\n");
	else
		ksft_test_result_skip("entries of the cache know the path of their file"
				      " # SKIP no extended attributes here\n");
	ksft_test_result(check_crowd(60, 100), "eight processes that store at once lose no table\n");
	ksft_test_result(check_crowd(60, 16), "eight processes that store at once keep within the limit\n");
	free(blob);
	remove_all();
	ksft_finished();
}
