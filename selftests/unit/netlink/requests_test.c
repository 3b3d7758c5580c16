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
	struct nlattr *nest = nla_nest_start(msg, BEEUNWIND_A_CODE_RANGE);

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

/* Two messages for one process, and one for another that has its pid since. */
static bool check_codes(void)
{
	struct netlink_codes codes = { 0 };
	bool good;
	int i;

	for (i = 0; i < 3; i++) {
		answer_begin();
		put_u32(BEEUNWIND_A_CODE_PID, 100);
		put_u64(BEEUNWIND_A_CODE_GENERATION, 7 + i / 2);
		put_range(0x1000 * (i + 1), i + 1);
		if (!i)
			put_range(0x10000, 4);
		answer_end(codes_parse, &codes);
	}
	good = codes.count == 2 && codes.code[0].pid == 100 && codes.code[0].generation == 7 &&
	       codes.code[0].ranges.count == 3 && codes.code[0].ranges.range[1].file == 4 &&
	       codes.code[0].ranges.range[2].start == 0x2000 && codes.code[0].ranges.range[2].end == 0x3000 &&
	       codes.code[1].generation == 8 && codes.code[1].ranges.count == 1;
	netlink_codes_free(&codes);
	return good && !codes.code;
}

static bool check_procs(void)
{
	struct netlink_procs procs = { 0 };
	bool good;

	answer_begin();
	put_u32(BEEUNWIND_A_PROC_PID, 100);
	put_stop(BEEUNWIND_A_PROC_STOP, BEEUNWIND_STOP_GAP, 12);
	put_stop(BEEUNWIND_A_PROC_STOP, BEEUNWIND_STOP_MAX + 1, 13);
	answer_end(procs_parse, &procs);
	answer_begin();
	put_u32(BEEUNWIND_A_PROC_PID, 101);
	answer_end(procs_parse, &procs);
	good = procs.count == 2 && procs.proc[0].pid == 100 && procs.proc[0].stop[BEEUNWIND_STOP_GAP] == 12 &&
	       procs.proc[1].pid == 101 && !procs.proc[1].stop[BEEUNWIND_STOP_GAP];
	netlink_procs_free(&procs);
	return good;
}

static bool check_news(void)
{
	struct netlink_news_list list = { 0 };
	bool good;

	answer_begin();
	put_u64(BEEUNWIND_A_NEWS_ITEM_SEQ, 1ull << 33);
	put_u32(BEEUNWIND_A_NEWS_ITEM_KIND, BEEUNWIND_NEWS_CODE);
	put_u32(BEEUNWIND_A_NEWS_ITEM_PID, 5);
	answer_end(news_parse, &list);
	answer_begin();
	put_u64(BEEUNWIND_A_NEWS_ITEM_SEQ, (1ull << 33) + 1);
	put_u64(BEEUNWIND_A_NEWS_ITEM_START, 0x1000);
	put_u64(BEEUNWIND_A_NEWS_ITEM_END, 0x2000);
	answer_end(news_parse, &list);
	good = list.count == 2 && list.news[0].seq == 1ull << 33 && list.news[0].kind == BEEUNWIND_NEWS_CODE &&
	       list.news[0].pid == 5 && !list.news[0].start && list.news[1].kind == BEEUNWIND_NEWS_FILE &&
	       list.news[1].start == 0x1000 && list.news[1].end == 0x2000;
	free(list.news);
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

int main(void)
{
	ksft_print_header();
	ksft_set_plan(7);
	ksft_test_result(check_info(), "numbers and strings, too short and too long\n");
	ksft_test_result(check_files(), "files\n");
	ksft_test_result(check_find(), "a file by its id\n");
	ksft_test_result(check_codes(), "ranges of code in several messages\n");
	ksft_test_result(check_procs(), "processes\n");
	ksft_test_result(check_news(), "news\n");
	ksft_test_result(check_stats(), "walks by stop reason, known or not\n");
	ksft_finished();
}
