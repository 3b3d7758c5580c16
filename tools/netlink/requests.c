// SPDX-License-Identifier: GPL-2.0
/* Requests to the module: what goes into each, and what its answer says. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <linux/beeunwind_table.h>

#include "alloc.h"
#include "exchange.h"

/* Attempts at a dump; the last one is used even if changes interrupted it. */
#define DUMP_TRIES	8

/**
 * struct field - where an attribute goes in a struct
 * @type: of the attribute; 0 ends a list
 * @kind: what it is; a number has 4 or 8 bytes
 * @offset: of the member
 * @size: of the member
 */
struct field {
	uint16_t	type;
	enum field_kind {
		FIELD_NUMBER,
		FIELD_STRING,
		FIELD_FLAG,
	}		kind;
	uint16_t	offset;
	uint16_t	size;
};

#define FIELD(kind, type, where, member) \
	{ type, kind, offsetof(struct where, member), sizeof(((struct where *)0)->member) }
#define NUMBER(type, where, member)	FIELD(FIELD_NUMBER, type, where, member)

static void field_take(const struct field *field, const struct nlattr *attr, void *to)
{
	to = (char *)to + field->offset;
	switch (field->kind) {
	case FIELD_NUMBER:
		if (nla_len(attr) < field->size)
			break;
		if (field->size == sizeof(uint32_t))
			*(uint32_t *)to = nla_get_u32(attr);
		else
			*(uint64_t *)to = nla_get_u64(attr);
		break;
	case FIELD_STRING:
		nla_strlcpy(to, attr, field->size);
		break;
	case FIELD_FLAG:
		*(bool *)to = true;
		break;
	}
}

/* Unknown attributes are ignored; members without an attribute keep their values. */
static void fields_take(const struct field *fields, struct nlattr *attrs, int length, void *to)
{
	const struct field *field;
	struct nlattr *attr;
	int left;

	nla_for_each_attr(attr, attrs, length, left)
		for (field = fields; field->type; field++)
			if (field->type == nla_type(attr))
				field_take(field, attr, to);
}

static void fields_take_nested(const struct field *fields, struct nlattr *nest, void *to)
{
	fields_take(fields, nla_data(nest), nla_len(nest), to);
}

/* struct reply - for reply_take(): what an answer fills */
struct reply {
	const struct field	*fields;
	void			*to;
};

/* A reply_fn */
static int reply_take(struct nlattr *attrs, int length, void *result)
{
	const struct reply *reply = result;

	fields_take(reply->fields, attrs, length, reply->to);
	return 0;
}

static const struct field info_fields[] = {
	FIELD(FIELD_STRING, BEEUNWIND_A_INFO_MODULE_VERSION, netlink_info, module_version),
	NUMBER(BEEUNWIND_A_INFO_TABLE_VERSION, netlink_info, table_version),
	NUMBER(BEEUNWIND_A_INFO_HOOK, netlink_info, hook),
	NUMBER(BEEUNWIND_A_INFO_HOOK_HITS, netlink_info, hook_hits),
	NUMBER(BEEUNWIND_A_INFO_WALKS, netlink_info, walks),
	NUMBER(BEEUNWIND_A_INFO_FILES, netlink_info, files),
	NUMBER(BEEUNWIND_A_INFO_TABLES, netlink_info, tables),
	NUMBER(BEEUNWIND_A_INFO_TABLE_BYTES, netlink_info, table_bytes),
	NUMBER(BEEUNWIND_A_INFO_CODE_PROCS, netlink_info, code_procs),
	NUMBER(BEEUNWIND_A_INFO_CODE_BYTES, netlink_info, code_bytes),
	NUMBER(BEEUNWIND_A_INFO_CACHE_BYTES, netlink_info, cache_bytes),
	NUMBER(BEEUNWIND_A_INFO_BUDGET, netlink_info, budget),
	NUMBER(BEEUNWIND_A_INFO_SHARE, netlink_info, share),
	NUMBER(BEEUNWIND_A_INFO_INSTANCE, netlink_info, instance),
	NUMBER(BEEUNWIND_A_INFO_LISTENERS, netlink_info, listeners),
	NUMBER(BEEUNWIND_A_INFO_NEWS, netlink_info, news),
	{},
};

/** netlink_info_get() - state of the module; returns 0, or -1 with @error filled */
int netlink_info_get(struct netlink *nl, struct netlink_info *info, struct bee_error *error)
{
	struct reply reply = { info_fields, memset(info, 0, sizeof(*info)) };

	return exchange_request(nl, exchange_begin(nl, BEEUNWIND_CMD_INFO_GET, 0), reply_take,
				&reply, error);
}

/**
 * netlink_check_format() - whether the module takes the tables that we make
 * @info: from netlink_info_get()
 * @error: filled if not; code BEE_ERROR_NO_MODULE, as another one has to be loaded
 *
 * Return: 0 or -1.
 */
int netlink_check_format(const struct netlink_info *info, struct bee_error *error)
{
	if (info->table_version == BEE_TABLE_VERSION)
		return 0;
	return error_set(error, BEE_ERROR_NO_MODULE,
			 "the loaded module takes table format %u, this beectl makes %d: %s",
			 info->table_version, BEE_TABLE_VERSION,
			 exchange_other_version(info->table_version > BEE_TABLE_VERSION));
}

/* Walks that ended for one reason. */
struct stop_count {
	uint32_t reason;
	uint64_t walks;
};

static struct stop_count stop_parse(struct nlattr *nest)
{
	static const struct field fields[] = {
		NUMBER(BEEUNWIND_A_STOP_COUNT_REASON, stop_count, reason),
		NUMBER(BEEUNWIND_A_STOP_COUNT_WALKS, stop_count, walks),
		{},
	};
	struct stop_count stop = { 0 };

	fields_take_nested(fields, nest, &stop);
	return stop;
}

/* If @attr is a nest of the set stop-count and has type @type, put its walks into @stop. */
static void stops_take(struct nlattr *attr, int type, uint32_t stop[])
{
	struct stop_count count;

	if (nla_type(attr) != type)
		return;
	count = stop_parse(attr);
	if (count.reason <= BEEUNWIND_STOP_MAX)
		stop[count.reason] = count.walks;
}

/* A reply_fn; @result: a struct netlink_file, zeroed before */
static int file_parse(struct nlattr *attrs, int length, void *result)
{
	static const struct field fields[] = {
		NUMBER(BEEUNWIND_A_FILE_ID, netlink_file, id),
		FIELD(FIELD_FLAG, BEEUNWIND_A_FILE_LOADED, netlink_file, loaded),
		FIELD(FIELD_FLAG, BEEUNWIND_A_FILE_WRITTEN, netlink_file, written),
		FIELD(FIELD_FLAG, BEEUNWIND_A_FILE_MAPPED, netlink_file, mapped),
		FIELD(FIELD_STRING, BEEUNWIND_A_FILE_NAME, netlink_file, name),
		NUMBER(BEEUNWIND_A_FILE_BYTES, netlink_file, bytes),
		NUMBER(BEEUNWIND_A_FILE_ROWS, netlink_file, rows),
		NUMBER(BEEUNWIND_A_FILE_FLAGS, netlink_file, flags),
		NUMBER(BEEUNWIND_A_FILE_DEVICE, netlink_file, device),
		NUMBER(BEEUNWIND_A_FILE_INODE, netlink_file, inode),
		NUMBER(BEEUNWIND_A_FILE_SIZE, netlink_file, size),
		NUMBER(BEEUNWIND_A_FILE_IDLE_MS, netlink_file, idle_ms),
		NUMBER(BEEUNWIND_A_FILE_HITS, netlink_file, hits),
		NUMBER(BEEUNWIND_A_FILE_PID, netlink_file, pid),
		NUMBER(BEEUNWIND_A_FILE_UID, netlink_file, uid),
		{},
	};
	struct netlink_file *file = result;
	struct nlattr *attr;
	int left;

	fields_take(fields, attrs, length, file);
	nla_for_each_attr(attr, attrs, length, left) {
		if (nla_type(attr) == BEEUNWIND_A_FILE_IDENTITY)
			file->identity_len = nla_memcpy(file->identity, attr,
							sizeof(file->identity));
		stops_take(attr, BEEUNWIND_A_FILE_STOP, file->stop);
	}
	return 0;
}

/* Return: 0, or -1 with the error filled. */
static int table_add_run(struct netlink *nl, struct nl_msg *msg, uint32_t *id,
			 struct bee_error *error)
{
	struct netlink_file file = { 0 };
	int ret = exchange_request(nl, msg, file_parse, &file, error);

	if (ret)
		return ret;
	if (!file.id)
		return error_set(error, EPROTO, "the module's answer has no file id");
	*id = file.id;
	return 0;
}

static void file_name_put(struct nl_msg *msg, int exe_fd)
{
	if (exe_fd == NETLINK_VDSO)
		exchange_put(msg, BEEUNWIND_A_FILE_VDSO, NULL, 0);
	else
		exchange_put_u32(msg, BEEUNWIND_A_FILE_EXE_FD, exe_fd);
}

/**
 * netlink_table_add() - give the module the table of an ELF file
 * @nl: the connection
 * @fd: the table, a memfd or file of tmpfs; NETLINK_NO_TABLE: the file can have none, and is to be news
 *	no more
 * @exe_fd: the ELF file that it was made from, or NETLINK_VDSO
 * @uid: the user for whose process it was made, whose share it takes
 * @id: filled: the file's id
 * @error: filled on failure
 *
 * Return: 0, or -1.
 */
int netlink_table_add(struct netlink *nl, int fd, int exe_fd, uint32_t uid, uint32_t *id,
		      struct bee_error *error)
{
	struct nl_msg *msg = exchange_begin(nl, BEEUNWIND_CMD_TABLE_ADD, 0);

	if (fd != NETLINK_NO_TABLE)
		exchange_put_u32(msg, BEEUNWIND_A_FILE_TABLE_FD, fd);
	file_name_put(msg, exe_fd);
	exchange_put_u32(msg, BEEUNWIND_A_FILE_UID, uid);
	return table_add_run(nl, msg, id, error);
}

/**
 * netlink_table_new() - give the module the table of code that a process has in memory
 * @nl: the connection
 * @fd: the table, a memfd or file of tmpfs
 * @pid: the process
 * @uid: its user
 * @name: of the code, to show to people; at most 255 bytes
 * @id: filled: the table's id, for ranges of this process
 * @error: filled on failure
 *
 * Return: 0, or -1.
 */
int netlink_table_new(struct netlink *nl, int fd, uint32_t pid, uint32_t uid, const char *name,
		      uint32_t *id, struct bee_error *error)
{
	struct nl_msg *msg = exchange_begin(nl, BEEUNWIND_CMD_TABLE_ADD, strlen(name));

	exchange_put_u32(msg, BEEUNWIND_A_FILE_TABLE_FD, fd);
	exchange_put_u32(msg, BEEUNWIND_A_FILE_PID, pid);
	exchange_put_u32(msg, BEEUNWIND_A_FILE_UID, uid);
	exchange_put(msg, BEEUNWIND_A_FILE_NAME, name, strlen(name) + 1);
	return table_add_run(nl, msg, id, error);
}

/**
 * netlink_table_del() - have the module forget a file and its table, or code in memory
 * @nl: the connection
 * @id: its id
 * @error: filled on failure; code ENOENT if the module does not know it
 *
 * Return: 0, or -1.
 */
int netlink_table_del(struct netlink *nl, uint32_t id, struct bee_error *error)
{
	struct nl_msg *msg = exchange_begin(nl, BEEUNWIND_CMD_TABLE_DEL, 0);

	exchange_put_u32(msg, BEEUNWIND_A_FILE_ID, id);
	return exchange_request(nl, msg, NULL, NULL, error);
}

static int files_parse(struct nlattr *attrs, int length, void *result)
{
	struct netlink_files *files = result;
	struct netlink_file *file;
	int ret;

	files->file = alloc_room(files->file, files->count, &files->room, sizeof(*file));
	file = memset(&files->file[files->count++], 0, sizeof(*file));
	ret = file_parse(attrs, length, file);
	files->ascending = files->count == 1 || (files->ascending && file[-1].id < file->id);
	return ret;
}

/**
 * netlink_files_get() - all files that the module knows, and its code in memory
 * @nl: the connection
 * @counts: only those in which walks have ended.  Files that come and go meanwhile do not matter then:
 *	each that is there all the time is in it once.
 * @files: filled; netlink_files_free() releases it, after an error as well
 * @error: filled on failure
 *
 * Return: 0, or -1.
 */
int netlink_files_get(struct netlink *nl, bool counts, struct netlink_files *files,
		      struct bee_error *error)
{
	int try, ret = 1;

	memset(files, 0, sizeof(*files));
	for (try = 0; ret > 0 && try < DUMP_TRIES; try++) {
		struct nl_msg *msg = exchange_begin(nl, BEEUNWIND_CMD_FILE_GET, 0);

		files->count = 0;
		if (counts)
			exchange_put(msg, BEEUNWIND_A_FILE_COUNTS, NULL, 0);
		ret = exchange_dump(nl, msg, files_parse, files, error);
		if (counts)
			break;
	}
	return ret < 0 ? -1 : 0;
}

/**
 * netlink_file_get() - what the module knows of an open file
 * @nl: the connection
 * @exe_fd: the file, or NETLINK_VDSO
 * @file: filled; all zero after an error
 * @error: filled on failure; code ENOENT if the module does not know the file
 *
 * Return: 0, or -1.
 */
int netlink_file_get(struct netlink *nl, int exe_fd, struct netlink_file *file,
		     struct bee_error *error)
{
	struct nl_msg *msg = exchange_begin(nl, BEEUNWIND_CMD_FILE_GET, 0);

	memset(file, 0, sizeof(*file));
	file_name_put(msg, exe_fd);
	return exchange_request(nl, msg, file_parse, file, error);
}

/**
 * netlink_file_get_id() - what the module knows of a file
 * @nl: the connection
 * @id: the file's id
 * @file: filled; all zero after an error
 * @error: filled on failure; code ENOENT if the module has forgotten the file
 *
 * Return: 0, or -1.
 */
int netlink_file_get_id(struct netlink *nl, uint32_t id, struct netlink_file *file,
			struct bee_error *error)
{
	struct nl_msg *msg = exchange_begin(nl, BEEUNWIND_CMD_FILE_GET, 0);

	memset(file, 0, sizeof(*file));
	exchange_put_u32(msg, BEEUNWIND_A_FILE_ID, id);
	return exchange_request(nl, msg, file_parse, file, error);
}

static int file_compare(const void *a, const void *b)
{
	const struct netlink_file *x = a, *y = b;

	return x->id < y->id ? -1 : x->id > y->id;
}

/** netlink_files_find() - the file with an id, or NULL */
const struct netlink_file *netlink_files_find(const struct netlink_files *files, uint32_t id)
{
	const struct netlink_file wanted = { .id = id };
	size_t i;

	if (files->ascending && files->count)
		return bsearch(&wanted, files->file, files->count, sizeof(wanted), file_compare);
	for (i = 0; i < files->count; i++)
		if (files->file[i].id == id)
			return &files->file[i];
	return NULL;
}

/** netlink_files_free() - release the memory of a list, which is empty afterwards */
void netlink_files_free(struct netlink_files *files)
{
	free(files->file);
	*files = (struct netlink_files){ 0 };
}

/* Bytes of a range in a request. */
static size_t range_attr_size(void)
{
	return nla_total_size(3 * nla_total_size(sizeof(uint64_t)) +
			      nla_total_size(sizeof(uint32_t)));
}

static void ranges_put(struct nl_msg *msg, int type, const struct range *range, size_t count)
{
	for (; count; range++, count--) {
		struct nlattr *nest = nla_nest_start(msg, NLA_F_NESTED | type);

		exchange_put_u64(msg, BEEUNWIND_A_RANGE_START, range->start);
		exchange_put_u64(msg, BEEUNWIND_A_RANGE_END, range->end);
		exchange_put_u64(msg, BEEUNWIND_A_RANGE_OFFSET, range->offset);
		exchange_put_u32(msg, BEEUNWIND_A_RANGE_FILE, range->file);
		nla_nest_end(msg, nest);
	}
}

static const struct field code_fields[] = {
	NUMBER(BEEUNWIND_A_CODE_PID, netlink_code, pid),
	NUMBER(BEEUNWIND_A_CODE_GENERATION, netlink_code, generation),
	{},
};

/**
 * netlink_code_update() - change the ranges of a process's code in memory, and its code heaps
 * @nl: the connection
 * @code: names the process and the generation of its ranges, which is brought up to date; the ranges are not
 * @diff: what to remove and what to add
 * @heaps: the code heaps from now on, none if nr is 0; NULL: as they are
 * @error: filled on failure; code ESTALE if @code is out of date, ESRCH if the process has ended
 *
 * A diff that fits one message (4,000 ranges and more, by the socket's send
 * buffer) is applied whole or not at all.  A larger one is sent in several,
 * removals first: in between, and if a later one is refused, ranges are
 * missing, none is wrong.
 *
 * Return: 0, or -1.
 */
int netlink_code_update(struct netlink *nl, struct netlink_code *code, const struct range_diff *diff,
			const struct bee_code_heaps *heaps, struct bee_error *error)
{
	size_t most = (nl->max_message - 256 - sizeof(*heaps)) / range_attr_size();
	struct reply reply = { code_fields, code };
	size_t d = 0, a = 0;

	do {
		size_t ndel = diff->del.count - d, nadd = diff->add.count - a;
		struct nl_msg *msg;

		ndel = ndel < most ? ndel : most;
		nadd = nadd < most - ndel ? nadd : most - ndel;
		msg = exchange_begin(nl, BEEUNWIND_CMD_CODE_UPDATE,
				     (ndel + nadd) * range_attr_size() + nla_total_size(sizeof(*heaps)));
		exchange_put_u32(msg, BEEUNWIND_A_CODE_PID, code->pid);
		exchange_put_u64(msg, BEEUNWIND_A_CODE_GENERATION, code->generation);
		ranges_put(msg, BEEUNWIND_A_CODE_DEL, diff->del.range + d, ndel);
		ranges_put(msg, BEEUNWIND_A_CODE_ADD, diff->add.range + a, nadd);
		if (heaps && !d && !a)
			exchange_put(msg, BEEUNWIND_A_CODE_HEAPS, heaps, heaps->nr ? sizeof(*heaps) : 0);
		if (exchange_request(nl, msg, reply_take, &reply, error))
			return -1;
		d += ndel;
		a += nadd;
	} while (d < diff->del.count || a < diff->add.count);
	return 0;
}

/* A reply_fn.  The messages of one process follow each other. */
static int codes_parse(struct nlattr *attrs, int length, void *result)
{
	static const struct field range_fields[] = {
		NUMBER(BEEUNWIND_A_RANGE_START, range, start),
		NUMBER(BEEUNWIND_A_RANGE_END, range, end),
		NUMBER(BEEUNWIND_A_RANGE_OFFSET, range, offset),
		NUMBER(BEEUNWIND_A_RANGE_FILE, range, file),
		{},
	};
	struct netlink_codes *codes = result;
	struct netlink_code state = { 0 }, *code;
	struct nlattr *attr;
	int left;

	fields_take(code_fields, attrs, length, &state);
	if (!codes->count || codes->code[codes->count - 1].pid != state.pid ||
	    codes->code[codes->count - 1].generation != state.generation) {
		codes->code = alloc_room(codes->code, codes->count, &codes->room, sizeof(*code));
		codes->code[codes->count++] = state;
	}
	code = &codes->code[codes->count - 1];
	nla_for_each_attr(attr, attrs, length, left) {
		struct range range = { 0 };

		if (nla_type(attr) == BEEUNWIND_A_CODE_HEAPS && nla_len(attr) == sizeof(code->heaps))
			memcpy(&code->heaps, nla_data(attr), sizeof(code->heaps));
		if (nla_type(attr) != BEEUNWIND_A_CODE_RANGE)
			continue;
		fields_take_nested(range_fields, attr, &range);
		ranges_append(&code->ranges, &range);
	}
	return 0;
}

/**
 * netlink_codes_get() - the ranges of processes with code in memory
 * @nl: the connection
 * @pid: only this process; 0 for all
 * @codes: filled, empty if @pid has no ranges; netlink_codes_free() releases it, after an error as well
 * @error: filled on failure
 *
 * Return: 0, or -1.
 */
int netlink_codes_get(struct netlink *nl, uint32_t pid, struct netlink_codes *codes,
		      struct bee_error *error)
{
	int try, ret = 1;

	memset(codes, 0, sizeof(*codes));
	for (try = 0; ret > 0 && try < DUMP_TRIES; try++) {
		struct nl_msg *msg = exchange_begin(nl, BEEUNWIND_CMD_CODE_GET, 0);

		netlink_codes_free(codes);
		if (pid)
			exchange_put_u32(msg, BEEUNWIND_A_CODE_PID, pid);
		ret = exchange_dump(nl, msg, codes_parse, codes, error);
	}
	return ret < 0 ? -1 : 0;
}

/** netlink_codes_free() - release the memory of a list, which is empty afterwards */
void netlink_codes_free(struct netlink_codes *codes)
{
	size_t i;

	for (i = 0; i < codes->count; i++)
		ranges_free(&codes->code[i].ranges);
	free(codes->code);
	*codes = (struct netlink_codes){ 0 };
}

/* A reply_fn */
static int procs_parse(struct nlattr *attrs, int length, void *result)
{
	static const struct field fields[] = {
		NUMBER(BEEUNWIND_A_PROC_PID, netlink_proc, pid),
		{},
	};
	struct netlink_procs *procs = result;
	struct netlink_proc *proc;
	struct nlattr *attr;
	int left;

	procs->proc = alloc_room(procs->proc, procs->count, &procs->room, sizeof(*proc));
	proc = memset(&procs->proc[procs->count++], 0, sizeof(*proc));
	fields_take(fields, attrs, length, proc);
	nla_for_each_attr(attr, attrs, length, left) {
		stops_take(attr, BEEUNWIND_A_PROC_STOP, proc->stop);
	}
	return 0;
}

/**
 * netlink_procs_get() - the processes that were sampled last, and their walks
 * @nl: the connection
 * @pid: only this process; 0 for all
 * @procs: filled, empty if @pid was not sampled; netlink_procs_free() releases it, after an error as well
 * @error: filled on failure
 *
 * Return: 0, or -1.
 */
int netlink_procs_get(struct netlink *nl, uint32_t pid, struct netlink_procs *procs,
		      struct bee_error *error)
{
	struct nl_msg *msg = exchange_begin(nl, BEEUNWIND_CMD_PROC_GET, 0);

	memset(procs, 0, sizeof(*procs));
	if (pid)
		exchange_put_u32(msg, BEEUNWIND_A_PROC_PID, pid);
	return exchange_dump(nl, msg, procs_parse, procs, error) < 0 ? -1 : 0;
}

/** netlink_procs_free() - release the memory of a list, which is empty afterwards */
void netlink_procs_free(struct netlink_procs *procs)
{
	free(procs->proc);
	*procs = (struct netlink_procs){ 0 };
}

/* A reply_fn */
static int news_parse(struct nlattr *attrs, int length, void *result)
{
	static const struct field fields[] = {
		NUMBER(BEEUNWIND_A_NEWS_ITEM_SEQ, netlink_news, seq),
		NUMBER(BEEUNWIND_A_NEWS_ITEM_KIND, netlink_news, kind),
		NUMBER(BEEUNWIND_A_NEWS_ITEM_PID, netlink_news, pid),
		NUMBER(BEEUNWIND_A_NEWS_ITEM_START, netlink_news, start),
		NUMBER(BEEUNWIND_A_NEWS_ITEM_END, netlink_news, end),
		FIELD(FIELD_STRING, BEEUNWIND_A_NEWS_ITEM_NAME, netlink_news, name),
		{},
	};
	struct netlink_news_list *list = result;

	list->news = alloc_room(list->news, list->count, &list->room, sizeof(*list->news));
	fields_take(fields, attrs, length,
		    memset(&list->news[list->count++], 0, sizeof(*list->news)));
	return 0;
}

/**
 * netlink_news_get() - what walks have met
 * @nl: the connection
 * @seq: only what is later than this number
 * @list: zeroed before its first use; filled anew; its array is for free(), after an error as well
 * @error: filled on failure
 *
 * Return: 0, or -1.
 */
int netlink_news_get(struct netlink *nl, uint64_t seq, struct netlink_news_list *list,
		     struct bee_error *error)
{
	struct nl_msg *msg = exchange_begin(nl, BEEUNWIND_CMD_NEWS_GET, 0);

	list->count = 0;
	if (seq)
		exchange_put_u64(msg, BEEUNWIND_A_NEWS_ITEM_SEQ, seq);
	return exchange_dump(nl, msg, news_parse, list, error) < 0 ? -1 : 0;
}

static int stats_parse(struct nlattr *attrs, int length, void *result)
{
	static const struct field fields[] = {
		NUMBER(BEEUNWIND_A_STATS_FRAMES, netlink_stats, frames),
		NUMBER(BEEUNWIND_A_STATS_FP_STEPS, netlink_stats, fp_steps),
		{},
	};
	struct netlink_stats *stats = result;
	struct nlattr *attr;
	int left;

	fields_take(fields, attrs, length, stats);
	nla_for_each_attr(attr, attrs, length, left)
		if (nla_type(attr) == BEEUNWIND_A_STATS_STOP) {
			struct stop_count stop = stop_parse(attr);

			if (stop.reason <= BEEUNWIND_STOP_MAX)
				stats->stop[stop.reason] += stop.walks;
			else
				stats->stop_other += stop.walks;
		}
	return 0;
}

/** netlink_stats_get() - walks by stop reason; returns 0, or -1 with @error filled */
int netlink_stats_get(struct netlink *nl, struct netlink_stats *stats, struct bee_error *error)
{
	memset(stats, 0, sizeof(*stats));
	return exchange_request(nl, exchange_begin(nl, BEEUNWIND_CMD_STATS_GET, 0), stats_parse,
				stats, error);
}

/**
 * netlink_config_set() - change a setting of the module
 * @nl: the connection
 * @setting: which one: BEEUNWIND_A_CONFIG_BUDGET (bytes), _HOOK (enum beeunwind_hook_state) or
 *	_SHARE (percent)
 * @value: its value
 * @error: filled on failure
 *
 * Return: 0, or -1.
 */
int netlink_config_set(struct netlink *nl, int setting, uint64_t value, struct bee_error *error)
{
	struct nl_msg *msg = exchange_begin(nl, BEEUNWIND_CMD_CONFIG_SET, 0);

	if (setting == BEEUNWIND_A_CONFIG_BUDGET)
		exchange_put_u64(msg, setting, value);
	else
		exchange_put_u32(msg, setting, value);
	return exchange_request(nl, msg, NULL, NULL, error);
}
