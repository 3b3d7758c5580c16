// SPDX-License-Identifier: GPL-2.0
/* The parsers of the module's answers, which are private to requests.c. */
#include <sys/mman.h>

#include "kselftest.h"
#include "requests.c"

/* An answer under construction. */
static struct nl_msg *msg;

static void put(int type, const void *data, size_t size)
{
	if (nla_put(msg, type, size, data))
		exit(1);
}

static void put_u32(int type, uint32_t value)
{
	put(type, &value, sizeof(value));
}

static void put_u64(int type, uint64_t value)
{
	put(type, &value, sizeof(value));
}

static void put_stop(int type, uint32_t reason, uint64_t walks)
{
	struct nlattr *nest = nla_nest_start(msg, type);

	put_u32(BEEUNWIND_A_STOP_COUNT_REASON, reason);
	put_u64(BEEUNWIND_A_STOP_COUNT_WALKS, walks);
	nla_nest_end(msg, nest);
}

static void put_range(uint64_t start, uint32_t file)
{
	struct nlattr *nest = nla_nest_start(msg, BEEUNWIND_A_PROC_RANGE);

	put_u64(BEEUNWIND_A_RANGE_START, start);
	put_u64(BEEUNWIND_A_RANGE_END, start + 4096);
	put_u32(BEEUNWIND_A_RANGE_FILE, file);
	nla_nest_end(msg, nest);
}

static void answer_begin(void)
{
	msg = nlmsg_alloc_simple(0, 0);
}

static int answer_end(reply_fn parse, void *result)
{
	int ret = parse(nlmsg_attrdata(nlmsg_hdr(msg), 0), nlmsg_attrlen(nlmsg_hdr(msg), 0),
			result);

	nlmsg_free(msg);
	return ret;
}

static bool check_info(void)
{
	struct netlink_info info = { 0 };
	struct reply reply = { info_fields, &info };
	uint16_t half = 0xffff;

	answer_begin();
	put(BEEUNWIND_A_INFO_MODULE_VERSION, "0.1 of a name that is longer than the member", 45);
	put_u64(BEEUNWIND_A_INFO_HOOK_HITS, 1ull << 40);
	put(BEEUNWIND_A_INFO_FILES, &half, sizeof(half));
	put_u32(BEEUNWIND_A_INFO_TABLES, 3);
	put_u32(BEEUNWIND_A_INFO_MAX + 100, 7);
	return !answer_end(reply_take, &reply) && info.hook_hits == 1ull << 40 && !info.files &&
	       info.tables == 3 && !strcmp(info.module_version, "0.1 of a name that is longer th");
}

static bool check_files(void)
{
	const uint8_t identity[40] = { 1, 2, 3 };
	struct netlink_files files = { 0 };
	const struct netlink_file *file;
	bool good;

	answer_begin();
	put_u32(BEEUNWIND_A_FILE_ID, 5);
	good = !answer_end(files_parse, &files);
	answer_begin();
	put_u32(BEEUNWIND_A_FILE_ID, 9);
	put(BEEUNWIND_A_FILE_LOADED, NULL, 0);
	put(BEEUNWIND_A_FILE_NAME, "/bin/x", 7);
	put(BEEUNWIND_A_FILE_IDENTITY, identity, sizeof(identity));
	put_u64(BEEUNWIND_A_FILE_INODE, 77);
	put_stop(BEEUNWIND_A_FILE_STOP, BEEUNWIND_STOP_GAP, 12);
	put_stop(BEEUNWIND_A_FILE_STOP, BEEUNWIND_STOP_MAX + 1, 13);
	good &= !answer_end(files_parse, &files) && files.count == 2;
	file = netlink_files_find(&files, 9);
	good &= file && file->loaded && !strcmp(file->name, "/bin/x") && file->inode == 77 &&
		file->identity_len == sizeof(file->identity) && file->identity[2] == 3 &&
		file->stop[BEEUNWIND_STOP_GAP] == 12;
	file = netlink_files_find(&files, 5);
	good &= file && !file->loaded && !file->name[0] && !netlink_files_find(&files, 6);
	netlink_files_free(&files);
	return good && !files.file && !files.count;
}

/* A file is found whether or not the ids ascend. */
static bool check_find(void)
{
	static const uint32_t ids[] = { 2, 3, 5, 8, 13, 4, 21 };
	struct netlink_files files = { 0 };
	bool good = !netlink_files_find(&files, 2);
	size_t i, k;

	for (i = 0; i < sizeof(ids) / sizeof(ids[0]); i++) {
		answer_begin();
		put_u32(BEEUNWIND_A_FILE_ID, ids[i]);
		good &= !answer_end(files_parse, &files) && files.ascending == (i < 5);
		for (k = 0; k <= i; k++)
			good &= netlink_files_find(&files, ids[k]) == &files.file[k];
		good &= !netlink_files_find(&files, 1) && !netlink_files_find(&files, 22);
	}
	netlink_files_free(&files);
	return good && !files.ascending;
}

/* Two messages for one address space, and one for another. */
static bool check_procs(void)
{
	struct netlink_procs procs = { 0 };
	bool good;
	int i;

	for (i = 0; i < 3; i++) {
		answer_begin();
		put_u32(BEEUNWIND_A_PROC_PID, 100 + i / 2);
		put_u64(BEEUNWIND_A_PROC_COOKIE, 1 + i / 2);
		put_u32(BEEUNWIND_A_PROC_RANGES, 3 - i);
		put_range(0x1000 * (i + 1), i);
		if (!i) {
			put_range(0x10000, 4);
			put_stop(BEEUNWIND_A_PROC_STOP, BEEUNWIND_STOP_GAP, 12);
			put_stop(BEEUNWIND_A_PROC_STOP, BEEUNWIND_STOP_MAX + 1, 13);
		}
		answer_end(procs_parse, &procs);
	}
	good = procs.count == 2 && procs.proc[0].pid == 100 && procs.proc[0].ranges.count == 3 &&
	       procs.proc[0].ranges.range[1].file == 4 &&
	       procs.proc[0].ranges.range[2].start == 0x2000 &&
	       procs.proc[0].ranges.range[2].end == 0x3000 && procs.proc[0].nranges == 2 &&
	       procs.proc[0].stop[BEEUNWIND_STOP_GAP] == 12 && procs.proc[1].pid == 101 &&
	       procs.proc[1].ranges.count == 1 && !procs.proc[1].stop[BEEUNWIND_STOP_GAP];
	netlink_procs_free(&procs);
	return good;
}

static bool check_stats(void)
{
	struct netlink_stats stats = { 0 };

	answer_begin();
	put_stop(BEEUNWIND_A_STATS_STOP, BEEUNWIND_STOP_DEPTH, 5);
	put_stop(BEEUNWIND_A_STATS_STOP, BEEUNWIND_STOP_MAX + 1, 6);
	put_stop(BEEUNWIND_A_STATS_STOP, BEEUNWIND_STOP_MAX + 2, 7);
	put_u64(BEEUNWIND_A_STATS_FRAMES, 99);
	return !answer_end(stats_parse, &stats) && stats.stop[BEEUNWIND_STOP_DEPTH] == 5 &&
	       stats.stop_other == 13 && stats.frames == 99 && !stats.fp_steps;
}

static bool check_users(void)
{
	struct netlink_users users = { 0 };
	bool good;
	int i;

	for (i = 0; i < 2; i++) {
		answer_begin();
		put_u32(BEEUNWIND_A_USER_UID, 1000 + i);
		put_u64(BEEUNWIND_A_USER_BYTES, 1ull << 40);
		put_u32(BEEUNWIND_A_USER_MOST, 7);
		answer_end(users_parse, &users);
	}
	good = users.count == 2 && users.user[1].uid == 1001 && !users.user[1].most &&
	       users.user[0].bytes == 1ull << 40 && !users.user[0].refused;
	netlink_users_free(&users);
	return good && !users.count;
}

int main(void)
{
	ksft_print_header();
	ksft_set_plan(6);
	ksft_test_result(check_info(), "numbers and strings, too short and too long\n");
	ksft_test_result(check_files(), "files\n");
	ksft_test_result(check_find(), "a file by its id\n");
	ksft_test_result(check_procs(), "processes in several messages\n");
	ksft_test_result(check_stats(), "walks by stop reason, known or not\n");
	ksft_test_result(check_users(), "users, with a number that is too short\n");
	ksft_finished();
}
