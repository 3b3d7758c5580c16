// SPDX-License-Identifier: GPL-2.0
/* Requests to the module over generic netlink: the only user of libnl. */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <linux/beeunwind_table.h>
#include <linux/netlink.h>
#include <netlink/attr.h>
#include <netlink/errno.h>
#include <netlink/genl/ctrl.h>
#include <netlink/genl/genl.h>
#include <netlink/handlers.h>
#include <netlink/msg.h>
#include <netlink/socket.h>

#include "netlink.h"

/* A dump that keeps changing under the reader is taken as it is in the end. */
#define DUMP_TRIES	8

/* Wanted send buffer; the kernel gives what net.core.wmem_max allows. */
#define SEND_BUFFER	(1 << 20)

struct netlink {
	struct nl_sock	*sock;
	int		 family;
	size_t		 max_message;
};

/* What a reply is made into: called once per message with its attributes. */
typedef int (*reply_fn)(struct nlattr *attrs, int length, void *result);

/**
 * struct exchange - one request and what has come back so far
 * @parse: takes replies, NULL if none are expected
 * @result: argument of @parse
 * @error: filled by the first thing that goes wrong
 * @failed: @error is filled
 * @done: the kernel has answered completely
 * @interrupted: the dump is not one consistent picture
 */
struct exchange {
	reply_fn		 parse;
	void			*result;
	struct bee_error	*error;
	bool			 failed;
	bool			 done;
	bool			 interrupted;
};

/* libnl's own codes say less than errno, but there is no way back from them. */
static int error_libnl(struct bee_error *error, const char *what, int nlerr)
{
	return error_set(error, EIO, "%s: %s", what, nl_geterror(nlerr));
}

static void error_kernel(struct bee_error *error, int code, const char *sentence)
{
	if (code == EPERM)
		sentence = "needs CAP_PERFMON or root (CAP_SYS_ADMIN), of the initial user namespace";
	error_set(error, code, "%s", sentence ?: strerror(code));
}

/* The sentence among the attributes that end an NLMSG_ERROR or NLMSG_DONE. */
static const char *extack_sentence(const struct nlmsghdr *nlh, size_t before)
{
	const char *base = (const char *)nlh;
	size_t at = NLMSG_ALIGN(NLMSG_HDRLEN + before);
	const struct nlattr *attr, *found;

	if (!(nlh->nlmsg_flags & NLM_F_ACK_TLVS) || at >= nlh->nlmsg_len)
		return NULL;
	attr = (const struct nlattr *)(base + at);
	found = nla_find(attr, nlh->nlmsg_len - at, NLMSGERR_ATTR_MSG);
	if (!found || !nla_len(found) || memchr(nla_data(found), '\0', nla_len(found)) == NULL)
		return NULL;
	return nla_data(found);
}

/* Without NLM_F_CAPPED the request stands between the code and the attributes. */
static int exchange_refused(struct sockaddr_nl *from, struct nlmsgerr *err, void *arg)
{
	const struct nlmsghdr *nlh = (const void *)((const char *)err - NLMSG_HDRLEN);
	struct exchange *x = arg;
	size_t before = sizeof(*err);

	(void)from;
	if (!(nlh->nlmsg_flags & NLM_F_CAPPED))
		before += err->msg.nlmsg_len - sizeof(err->msg);
	error_kernel(x->error, -err->error, extack_sentence(nlh, before));
	x->failed = true;
	x->done = true;
	return NL_STOP;
}

static int exchange_acked(struct nl_msg *msg, void *arg)
{
	struct exchange *x = arg;

	(void)msg;
	x->done = true;
	return NL_STOP;
}

/* A dump that fails half way says so in its last message. */
static int exchange_finished(struct nl_msg *msg, void *arg)
{
	const struct nlmsghdr *nlh = nlmsg_hdr(msg);
	struct exchange *x = arg;
	int code = 0;

	if (nlmsg_datalen(nlh) >= (int)sizeof(code))
		memcpy(&code, nlmsg_data(nlh), sizeof(code));
	if (code < 0 && !x->failed) {
		error_kernel(x->error, -code, extack_sentence(nlh, sizeof(code)));
		x->failed = true;
	}
	x->done = true;
	return NL_OK;
}

static int exchange_interrupted(struct nl_msg *msg, void *arg)
{
	struct exchange *x = arg;

	(void)msg;
	x->interrupted = true;
	return NL_OK;
}

static int exchange_reply(struct nl_msg *msg, void *arg)
{
	struct genlmsghdr *header = genlmsg_hdr(nlmsg_hdr(msg));
	struct exchange *x = arg;

	if (!x->parse || x->failed)
		return NL_OK;
	if (x->parse(genlmsg_attrdata(header, 0), genlmsg_attrlen(header, 0), x->result)) {
		error_set(x->error, ENOMEM, "%s", strerror(ENOMEM));
		x->failed = true;
	}
	return NL_OK;
}

static struct nl_cb *exchange_callbacks(struct exchange *x)
{
	struct nl_cb *cb = nl_cb_alloc(NL_CB_DEFAULT);

	if (!cb)
		return NULL;
	nl_cb_err(cb, NL_CB_CUSTOM, exchange_refused, x);
	nl_cb_set(cb, NL_CB_ACK, NL_CB_CUSTOM, exchange_acked, x);
	nl_cb_set(cb, NL_CB_FINISH, NL_CB_CUSTOM, exchange_finished, x);
	nl_cb_set(cb, NL_CB_DUMP_INTR, NL_CB_CUSTOM, exchange_interrupted, x);
	nl_cb_set(cb, NL_CB_VALID, NL_CB_CUSTOM, exchange_reply, x);
	return cb;
}

static int socket_open(struct netlink *nl);

/* What is still to come is not for the next request. */
static void socket_renew(struct netlink *nl)
{
	nl_socket_free(nl->sock);
	socket_open(nl);
}

/* Send @msg (consumed) and take everything that comes back. */
static int exchange_run(struct netlink *nl, struct nl_msg *msg, struct exchange *x)
{
	struct nl_cb *cb = exchange_callbacks(x);
	int ret;

	if (!cb) {
		nlmsg_free(msg);
		return error_set(x->error, ENOMEM, "%s", strerror(ENOMEM));
	}
	ret = nl->sock ? nl_send_auto(nl->sock, msg) : -NLE_BAD_SOCK;
	nlmsg_free(msg);
	while (ret >= 0 && !x->done)
		ret = nl_recvmsgs(nl->sock, cb);
	if (!x->done) {
		error_libnl(x->error, "talking to the module", ret);
		socket_renew(nl);
	}
	nl_cb_put(cb);
	return x->done && !x->failed ? 0 : -1;
}

static struct nl_msg *request_new(struct netlink *nl, int cmd, int flags, size_t room)
{
	struct nl_msg *msg = nlmsg_alloc_size(NLMSG_HDRLEN + GENL_HDRLEN + room);

	if (msg && !genlmsg_put(msg, NL_AUTO_PORT, NL_AUTO_SEQ, nl->family, 0, flags, cmd,
				BEEUNWIND_FAMILY_VERSION)) {
		nlmsg_free(msg);
		return NULL;
	}
	return msg;
}

/* Complete a request whose attributes went in with @put as their joint result. */
static int request_run(struct netlink *nl, struct nl_msg *msg, int put, reply_fn parse,
		       void *result, struct bee_error *error)
{
	struct exchange x = { .parse = parse, .result = result, .error = error };

	if (!msg || put) {
		nlmsg_free(msg);
		return error_set(error, ENOMEM, "%s", strerror(ENOMEM));
	}
	return exchange_run(nl, msg, &x);
}

static uint32_t attr_u32(const struct nlattr *attr)
{
	return attr && nla_len(attr) >= 4 ? nla_get_u32(attr) : 0;
}

static uint64_t attr_u64(const struct nlattr *attr)
{
	return attr && nla_len(attr) >= 8 ? nla_get_u64(attr) : 0;
}

static void attr_string(const struct nlattr *attr, char *to, size_t size)
{
	to[0] = '\0';
	if (attr)
		nla_strlcpy(to, attr, size);
}

/* Make dumps and refusals carry what the kernel can say. */
static void socket_set_up(struct netlink *nl)
{
	int fd = nl_socket_get_fd(nl->sock), one = 1, bytes = 0;
	socklen_t length = sizeof(bytes);

	setsockopt(fd, SOL_NETLINK, NETLINK_EXT_ACK, &one, sizeof(one));
	setsockopt(fd, SOL_NETLINK, NETLINK_CAP_ACK, &one, sizeof(one));
	nl_socket_set_buffer_size(nl->sock, SEND_BUFFER, SEND_BUFFER);
	nl_socket_enable_msg_peek(nl->sock);
	if (getsockopt(fd, SOL_SOCKET, SO_SNDBUF, &bytes, &length) || bytes < (32 << 10))
		bytes = 32 << 10;
	nl->max_message = bytes / 2;
}

/* A socket of its own.  Return: 0, or a code of libnl. */
static int socket_open(struct netlink *nl)
{
	int ret = -NLE_NOMEM;

	nl->sock = nl_socket_alloc();
	if (nl->sock)
		ret = genl_connect(nl->sock);
	if (ret < 0) {
		nl_socket_free(nl->sock);
		nl->sock = NULL;
		return ret;
	}
	socket_set_up(nl);
	return 0;
}

static struct netlink *nl_new(struct bee_error *error)
{
	struct netlink *nl = calloc(1, sizeof(*nl));
	int ret = nl ? socket_open(nl) : -NLE_NOMEM;

	if (!ret)
		return nl;
	error_libnl(error, "opening a netlink socket", ret);
	free(nl);
	return NULL;
}

/**
 * netlink_open() - connect to the module
 * @error: filled on failure; code BEE_ERROR_NO_MODULE if it is not there for us
 *
 * The kernel loads the module for this, if it is installed.
 *
 * Return: a connection for netlink_close(), or NULL.
 */
struct netlink *netlink_open(struct bee_error *error)
{
	struct netlink *nl = nl_new(error);

	if (!nl)
		return NULL;
	nl->family = genl_ctrl_resolve(nl->sock, BEEUNWIND_FAMILY_NAME);
	if (nl->family >= 0)
		return nl;
	if (!access("/sys/module/" BEEUNWIND_FAMILY_NAME, F_OK))
		error_set(error, BEE_ERROR_NO_MODULE,
			  "the beeunwind module is loaded, but it can only be talked to from "
			  "the initial network namespace");
	else
		error_set(error, BEE_ERROR_NO_MODULE,
			  "the beeunwind module is not loaded; load it with: modprobe beeunwind "
			  "(or insmod ./beeunwind.ko); if that fails, dmesg says why");
	netlink_close(nl);
	return NULL;
}

/**
 * netlink_clone() - one more connection, as children need
 * @nl: a connection
 * @error: filled on failure
 *
 * Does not have the module loaded, should it be gone.
 * Return: a connection for netlink_close(), or NULL.
 */
struct netlink *netlink_clone(const struct netlink *nl, struct bee_error *error)
{
	struct netlink *clone = nl_new(error);

	if (clone)
		clone->family = nl->family;
	return clone;
}

void netlink_close(struct netlink *nl)
{
	if (nl && nl->sock)
		nl_socket_free(nl->sock);
	free(nl);
}

static int info_parse(struct nlattr *attrs, int length, void *result)
{
	struct nlattr *tb[BEEUNWIND_A_INFO_MAX + 1];
	struct netlink_info *info = result;

	if (nla_parse(tb, BEEUNWIND_A_INFO_MAX, attrs, length, NULL))
		return -1;
	attr_string(tb[BEEUNWIND_A_INFO_MODULE_VERSION], info->module_version,
		    sizeof(info->module_version));
	info->table_version = attr_u32(tb[BEEUNWIND_A_INFO_TABLE_VERSION]);
	info->hook = attr_u32(tb[BEEUNWIND_A_INFO_HOOK]);
	info->hook_hits = attr_u64(tb[BEEUNWIND_A_INFO_HOOK_HITS]);
	info->walks = attr_u64(tb[BEEUNWIND_A_INFO_WALKS]);
	info->files = attr_u32(tb[BEEUNWIND_A_INFO_FILES]);
	info->tables = attr_u32(tb[BEEUNWIND_A_INFO_TABLES]);
	info->table_bytes = attr_u64(tb[BEEUNWIND_A_INFO_TABLE_BYTES]);
	info->procs = attr_u32(tb[BEEUNWIND_A_INFO_PROCS]);
	info->ranges = attr_u32(tb[BEEUNWIND_A_INFO_RANGES]);
	info->range_bytes = attr_u64(tb[BEEUNWIND_A_INFO_RANGE_BYTES]);
	info->budget = attr_u64(tb[BEEUNWIND_A_INFO_BUDGET]);
	info->follow_lost = attr_u64(tb[BEEUNWIND_A_INFO_FOLLOW_LOST]);
	info->follow = attr_u32(tb[BEEUNWIND_A_INFO_FOLLOW]);
	info->announce = attr_u32(tb[BEEUNWIND_A_INFO_ANNOUNCE]);
	return 0;
}

/* netlink_info_get(): state of the module.  Return: 0, or -1 with @error filled. */
int netlink_info_get(struct netlink *nl, struct netlink_info *info, struct bee_error *error)
{
	struct nl_msg *msg = request_new(nl, BEEUNWIND_CMD_INFO_GET, 0, 0);

	memset(info, 0, sizeof(*info));
	return request_run(nl, msg, 0, info_parse, info, error);
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
	error->code = BEE_ERROR_NO_MODULE;
	snprintf(error->text, sizeof(error->text),
		 "the loaded module takes table format %u, this beectl makes %d: "
		 "rmmod beeunwind && modprobe beeunwind", info->table_version, BEE_TABLE_VERSION);
	return -1;
}

static int table_id_parse(struct nlattr *attrs, int length, void *result)
{
	*(uint32_t *)result = attr_u32(nla_find(attrs, length, BEEUNWIND_A_FILE_ID));
	return 0;
}

static int table_add(struct netlink *nl, struct nl_msg *msg, int put, uint32_t *id,
		     struct bee_error *error)
{
	*id = 0;
	if (request_run(nl, msg, put, table_id_parse, id, error))
		return -1;
	return *id ? 0 : error_set(error, EPROTO, "the module's answer has no table id");
}

/**
 * netlink_table_add() - give the module the table of an ELF file
 * @nl: the connection
 * @fd: the table, a regular file or memfd
 * @exe_fd: the ELF file that it was made from, or NETLINK_VDSO
 * @id: filled: the file's id
 * @error: filled on failure
 *
 * Return: 0, or -1.
 */
int netlink_table_add(struct netlink *nl, int fd, int exe_fd, uint32_t *id,
		     struct bee_error *error)
{
	struct nl_msg *msg = request_new(nl, BEEUNWIND_CMD_TABLE_ADD, 0, 64);
	int put = 0;

	if (msg)
		put = nla_put_s32(msg, BEEUNWIND_A_FILE_TABLE_FD, fd) ||
		      (exe_fd == NETLINK_VDSO ? nla_put_flag(msg, BEEUNWIND_A_FILE_VDSO) :
		       nla_put_s32(msg, BEEUNWIND_A_FILE_EXE_FD, exe_fd));
	return table_add(nl, msg, put, id, error);
}

/**
 * netlink_table_set() - give the module the table of a file that it knows
 * @nl: the connection
 * @fd: the table, a regular file or memfd
 * @id: the file's id
 * @error: filled on failure; code ENOENT if the module has forgotten the file
 *
 * Return: 0, or -1.
 */
int netlink_table_set(struct netlink *nl, int fd, uint32_t id, struct bee_error *error)
{
	struct nl_msg *msg = request_new(nl, BEEUNWIND_CMD_TABLE_ADD, 0, 64);
	int put = 0;

	if (msg)
		put = nla_put_s32(msg, BEEUNWIND_A_FILE_TABLE_FD, fd) ||
		      nla_put_u32(msg, BEEUNWIND_A_FILE_ID, id);
	return table_add(nl, msg, put, &id, error);
}

/**
 * netlink_table_del() - forget a file's table
 * @nl: the connection
 * @id: the file's id
 * @force: also if it is used
 * @error: filled on failure; code EBUSY if it is used, ENOENT if there is none
 *
 * Return: 0, or -1.
 */
int netlink_table_del(struct netlink *nl, uint32_t id, bool force, struct bee_error *error)
{
	struct nl_msg *msg = request_new(nl, BEEUNWIND_CMD_TABLE_DEL, 0, 64);
	int put = 0;

	if (msg)
		put = nla_put_u32(msg, BEEUNWIND_A_FILE_ID, id) ||
		      (force && nla_put_flag(msg, BEEUNWIND_A_FILE_FORCE));
	return request_run(nl, msg, put, NULL, NULL, error);
}

/* One more element in a growing array, or NULL. */
static void *array_extend(void *array, size_t *count, size_t *room, size_t size)
{
	void **base = array;

	if (*count == *room) {
		size_t more = *room ? 2 * *room : 32;
		void *bigger = reallocarray(*base, more, size);

		if (!bigger)
			return NULL;
		*base = bigger;
		*room = more;
	}
	return memset((char *)*base + size * (*count)++, 0, size);
}

/* Reason and count of one "stop"; -1 if it is malformed. */
static int stop_parse(struct nlattr *attr, uint32_t *reason, uint64_t *walks)
{
	struct nlattr *tb[BEEUNWIND_A_STOP_COUNT_MAX + 1];

	if (nla_parse_nested(tb, BEEUNWIND_A_STOP_COUNT_MAX, attr, NULL))
		return -1;
	*reason = attr_u32(tb[BEEUNWIND_A_STOP_COUNT_REASON]);
	*walks = attr_u64(tb[BEEUNWIND_A_STOP_COUNT_WALKS]);
	return 0;
}

static int table_parse_stops(struct nlattr *attrs, int length, struct netlink_file *t)
{
	struct nlattr *attr;
	uint32_t reason;
	uint64_t walks;
	int left;

	nla_for_each_attr(attr, attrs, length, left) {
		if (nla_type(attr) != BEEUNWIND_A_FILE_STOP)
			continue;
		if (stop_parse(attr, &reason, &walks))
			return -1;
		if (reason <= BEEUNWIND_STOP_MAX)
			t->stop[reason] = walks;
	}
	return 0;
}

/* netlink_file_parse(): one file from a message's attributes.  Return: 0 or -1. */
int netlink_file_parse(struct nlattr *attrs, int length, struct netlink_file *t)
{
	struct nlattr *tb[BEEUNWIND_A_FILE_MAX + 1];

	if (nla_parse(tb, BEEUNWIND_A_FILE_MAX, attrs, length, NULL))
		return -1;
	t->id = attr_u32(tb[BEEUNWIND_A_FILE_ID]);
	t->loaded = tb[BEEUNWIND_A_FILE_LOADED];
	attr_string(tb[BEEUNWIND_A_FILE_NAME], t->name, sizeof(t->name));
	if (tb[BEEUNWIND_A_FILE_IDENTITY])
		t->file_id_len = nla_memcpy(t->file_id, tb[BEEUNWIND_A_FILE_IDENTITY],
					    sizeof(t->file_id));
	t->bytes = attr_u64(tb[BEEUNWIND_A_FILE_BYTES]);
	t->rows = attr_u32(tb[BEEUNWIND_A_FILE_ROWS]);
	t->users = attr_u32(tb[BEEUNWIND_A_FILE_USERS]);
	t->device = attr_u64(tb[BEEUNWIND_A_FILE_DEVICE]);
	t->inode = attr_u64(tb[BEEUNWIND_A_FILE_INODE]);
	t->size = attr_u64(tb[BEEUNWIND_A_FILE_SIZE]);
	t->idle_ms = attr_u64(tb[BEEUNWIND_A_FILE_IDLE_MS]);
	t->hits = attr_u32(tb[BEEUNWIND_A_FILE_HITS]);
	t->missed = attr_u32(tb[BEEUNWIND_A_FILE_MISSED]);
	t->pid = attr_u32(tb[BEEUNWIND_A_FILE_PID]);
	t->start = attr_u64(tb[BEEUNWIND_A_FILE_START]);
	t->end = attr_u64(tb[BEEUNWIND_A_FILE_END]);
	t->flags = attr_u32(tb[BEEUNWIND_A_FILE_FLAGS]);
	return table_parse_stops(attrs, length, t);
}

static int tables_parse(struct nlattr *attrs, int length, void *result)
{
	struct netlink_files *tables = result;
	struct netlink_file *t;

	t = array_extend(&tables->table, &tables->count, &tables->room, sizeof(*t));
	return t ? netlink_file_parse(attrs, length, t) : -1;
}

/* Return: 0, -1, or 1 if the picture is not consistent and should be taken again. */
static int dump_run(struct netlink *nl, struct nl_msg *msg, reply_fn parse, void *result,
		    struct bee_error *error)
{
	struct exchange x = { .parse = parse, .result = result, .error = error };

	if (!msg)
		return error_set(error, ENOMEM, "%s", strerror(ENOMEM));
	if (exchange_run(nl, msg, &x))
		return -1;
	return x.interrupted;
}

/**
 * netlink_files_get() - all files that the module knows
 * @nl: the connection
 * @tables: filled; netlink_files_free() releases it, after an error as well
 * @error: filled on failure
 *
 * Return: 0, or -1.
 */
int netlink_files_get(struct netlink *nl, struct netlink_files *tables,
		      struct bee_error *error)
{
	int try, ret = 1;

	memset(tables, 0, sizeof(*tables));
	for (try = 0; ret > 0 && try < DUMP_TRIES; try++) {
		netlink_files_free(tables);
		ret = dump_run(nl, request_new(nl, BEEUNWIND_CMD_FILE_GET, NLM_F_DUMP, 0),
			       tables_parse, tables, error);
	}
	return ret < 0 ? -1 : 0;
}

void netlink_files_free(struct netlink_files *tables)
{
	free(tables->table);
	*tables = (struct netlink_files){ 0 };
}

static int range_put(struct nl_msg *msg, int type, const struct range *range)
{
	struct nlattr *nest = nla_nest_start(msg, NLA_F_NESTED | type);

	if (!nest || nla_put_u64(msg, BEEUNWIND_A_RANGE_START, range->start) ||
	    nla_put_u64(msg, BEEUNWIND_A_RANGE_END, range->end) ||
	    nla_put_u64(msg, BEEUNWIND_A_RANGE_OFFSET, range->offset) ||
	    nla_put_u32(msg, BEEUNWIND_A_RANGE_FILE, range->file))
		return -NLE_NOMEM;
	return nla_nest_end(msg, nest);
}

static int range_parse(struct nlattr *attr, struct range *range)
{
	struct nlattr *tb[BEEUNWIND_A_RANGE_MAX + 1];

	if (nla_parse_nested(tb, BEEUNWIND_A_RANGE_MAX, attr, NULL))
		return -1;
	range->start = attr_u64(tb[BEEUNWIND_A_RANGE_START]);
	range->end = attr_u64(tb[BEEUNWIND_A_RANGE_END]);
	range->offset = attr_u64(tb[BEEUNWIND_A_RANGE_OFFSET]);
	range->file = attr_u32(tb[BEEUNWIND_A_RANGE_FILE]);
	return 0;
}

static size_t range_attr_size(void)
{
	return nla_total_size(3 * nla_total_size(sizeof(uint64_t)) +
			      nla_total_size(sizeof(uint32_t)));
}

static int state_parse(struct nlattr *attrs, int length, void *result)
{
	struct nlattr *tb[BEEUNWIND_A_PROC_MAX + 1];
	struct netlink_proc *proc = result;

	if (nla_parse(tb, BEEUNWIND_A_PROC_MAX, attrs, length, NULL))
		return -1;
	proc->cookie = attr_u64(tb[BEEUNWIND_A_PROC_COOKIE]);
	proc->generation = attr_u64(tb[BEEUNWIND_A_PROC_GENERATION]);
	proc->nranges = attr_u32(tb[BEEUNWIND_A_PROC_RANGES]);
	return 0;
}

/**
 * netlink_proc_add() - manage a process: the module looks at its mappings itself
 * @nl: the connection
 * @proc: names the process: pid; cookie, generation and nranges are filled
 * @error: filled on failure
 *
 * Return: 0, or -1.
 */
int netlink_proc_add(struct netlink *nl, struct netlink_proc *proc, struct bee_error *error)
{
	struct nl_msg *msg = request_new(nl, BEEUNWIND_CMD_PROC_ADD, 0, 64);
	int put = msg ? nla_put_u32(msg, BEEUNWIND_A_PROC_PID, proc->pid) : 0;

	return request_run(nl, msg, put, state_parse, proc, error);
}

/* One message with part of a diff: ndel and nadd ranges from the given places on. */
static int update_send(struct netlink *nl, struct netlink_proc *proc, const struct range *del,
		       size_t ndel, const struct range *add, size_t nadd,
		       struct bee_error *error)
{
	size_t i, room = 128 + (ndel + nadd) * range_attr_size();
	struct nl_msg *msg = request_new(nl, BEEUNWIND_CMD_PROC_UPDATE, 0, room);
	int put = 0;

	if (msg)
		put = nla_put_u32(msg, BEEUNWIND_A_PROC_PID, proc->pid) ||
		      nla_put_u64(msg, BEEUNWIND_A_PROC_COOKIE, proc->cookie) ||
		      nla_put_u64(msg, BEEUNWIND_A_PROC_GENERATION, proc->generation);
	for (i = 0; msg && !put && i < ndel; i++)
		put = range_put(msg, BEEUNWIND_A_PROC_DEL, &del[i]);
	for (i = 0; msg && !put && i < nadd; i++)
		put = range_put(msg, BEEUNWIND_A_PROC_ADD, &add[i]);
	return request_run(nl, msg, put, state_parse, proc, error);
}

/**
 * netlink_proc_update() - change the ranges of a process
 * @nl: the connection
 * @proc: names the process: pid, cookie, generation; the last two are brought up
 *	to date
 * @diff: what to remove and what to add
 * @error: filled on failure; code ESTALE if @proc is out of date
 *
 * A diff that fits one message (4,000 ranges and more, by the socket's send
 * buffer) is applied whole or not at all.  A larger one is sent in several,
 * removals first: in between, and if a later one is refused, ranges are
 * missing, none is wrong.
 *
 * Return: 0, or -1.
 */
int netlink_proc_update(struct netlink *nl, struct netlink_proc *proc,
		       const struct range_diff *diff, struct bee_error *error)
{
	size_t most = (nl->max_message - 256) / range_attr_size();
	size_t d = 0, a = 0;

	do {
		size_t ndel = diff->del.count - d, nadd = diff->add.count - a;

		ndel = ndel < most ? ndel : most;
		nadd = nadd < most - ndel ? nadd : most - ndel;
		if (update_send(nl, proc, diff->del.range + d, ndel, diff->add.range + a, nadd,
				error))
			return -1;
		d += ndel;
		a += nadd;
	} while (d < diff->del.count || a < diff->add.count);
	return 0;
}

/* netlink_proc_del(): stop managing a process.  Return: 0, or -1 with @error filled. */
int netlink_proc_del(struct netlink *nl, uint32_t pid, struct bee_error *error)
{
	struct nl_msg *msg = request_new(nl, BEEUNWIND_CMD_PROC_DEL, 0, 64);
	int put = msg ? nla_put_u32(msg, BEEUNWIND_A_PROC_PID, pid) : 0;

	return request_run(nl, msg, put, NULL, NULL, error);
}

/* netlink_proc_forget(): the same by cookie.  Return: 0, or -1 with @error filled. */
int netlink_proc_forget(struct netlink *nl, uint64_t cookie, struct bee_error *error)
{
	struct nl_msg *msg = request_new(nl, BEEUNWIND_CMD_PROC_DEL, 0, 64);
	int put = msg ? nla_put_u64(msg, BEEUNWIND_A_PROC_COOKIE, cookie) : 0;

	return request_run(nl, msg, put, NULL, NULL, error);
}

/* The messages of one address space follow each other and repeat its cookie. */
static struct netlink_proc *procs_find(struct netlink_procs *procs, uint64_t cookie)
{
	struct netlink_proc *last = procs->count ? &procs->proc[procs->count - 1] : NULL;

	if (last && last->cookie == cookie)
		return last;
	last = array_extend(&procs->proc, &procs->count, &procs->room, sizeof(*last));
	if (last)
		last->cookie = cookie;
	return last;
}

static int proc_parse(struct nlattr *attrs, int length, void *result)
{
	struct nlattr *tb[BEEUNWIND_A_PROC_MAX + 1], *attr;
	struct netlink_proc *proc;
	int left;

	if (nla_parse(tb, BEEUNWIND_A_PROC_MAX, attrs, length, NULL))
		return -1;
	proc = procs_find(result, attr_u64(tb[BEEUNWIND_A_PROC_COOKIE]));
	if (!proc)
		return -1;
	proc->pid = attr_u32(tb[BEEUNWIND_A_PROC_PID]);
	proc->generation = attr_u64(tb[BEEUNWIND_A_PROC_GENERATION]);
	proc->nranges = attr_u32(tb[BEEUNWIND_A_PROC_RANGES]);
	nla_for_each_attr(attr, attrs, length, left) {
		struct range range;

		if (nla_type(attr) != BEEUNWIND_A_PROC_RANGE)
			continue;
		if (range_parse(attr, &range) || ranges_append(&proc->ranges, &range))
			return -1;
	}
	return 0;
}

/**
 * netlink_procs_get() - managed processes with their ranges
 * @nl: the connection
 * @pid: only this process; 0 for all
 * @procs: filled, empty if @pid is not managed; netlink_procs_free() releases it,
 *	after an error as well
 * @error: filled on failure
 *
 * Return: 0, or -1.
 */
int netlink_procs_get(struct netlink *nl, uint32_t pid, struct netlink_procs *procs,
		     struct bee_error *error)
{
	int try, ret = 1;

	memset(procs, 0, sizeof(*procs));
	for (try = 0; ret > 0 && try < DUMP_TRIES; try++) {
		struct nl_msg *msg = request_new(nl, BEEUNWIND_CMD_PROC_GET, NLM_F_DUMP, 64);

		netlink_procs_free(procs);
		if (msg && pid)
			nla_put_u32(msg, BEEUNWIND_A_PROC_PID, pid);
		ret = dump_run(nl, msg, proc_parse, procs, error);
	}
	return ret < 0 ? -1 : 0;
}

void netlink_procs_free(struct netlink_procs *procs)
{
	size_t i;

	for (i = 0; i < procs->count; i++)
		ranges_free(&procs->proc[i].ranges);
	free(procs->proc);
	*procs = (struct netlink_procs){ 0 };
}

static int stats_add_stop(struct nlattr *attr, struct netlink_stats *stats)
{
	uint32_t reason;
	uint64_t walks;

	if (stop_parse(attr, &reason, &walks))
		return -1;
	if (reason <= BEEUNWIND_STOP_MAX)
		stats->stop[reason] += walks;
	else
		stats->stop_other += walks;
	return 0;
}

static int stats_parse(struct nlattr *attrs, int length, void *result)
{
	struct netlink_stats *stats = result;
	struct nlattr *attr;
	int left;

	nla_for_each_attr(attr, attrs, length, left) {
		if (nla_type(attr) == BEEUNWIND_A_STATS_STOP && stats_add_stop(attr, stats))
			return -1;
		if (nla_type(attr) == BEEUNWIND_A_STATS_FRAMES)
			stats->frames = attr_u64(attr);
		if (nla_type(attr) == BEEUNWIND_A_STATS_FP_STEPS)
			stats->fp_steps = attr_u64(attr);
	}
	return 0;
}

/* netlink_stats_get(): walks by stop reason.  Return: 0, or -1 with @error filled. */
int netlink_stats_get(struct netlink *nl, struct netlink_stats *stats,
		     struct bee_error *error)
{
	struct nl_msg *msg = request_new(nl, BEEUNWIND_CMD_STATS_GET, 0, 0);

	memset(stats, 0, sizeof(*stats));
	return request_run(nl, msg, 0, stats_parse, stats, error);
}

/* netlink_config_set_budget(): Return: 0, or -1 with @error filled. */
int netlink_config_set_budget(struct netlink *nl, uint64_t bytes, struct bee_error *error)
{
	struct nl_msg *msg = request_new(nl, BEEUNWIND_CMD_CONFIG_SET, 0, 64);
	int put = msg ? nla_put_u64(msg, BEEUNWIND_A_CONFIG_BUDGET, bytes) : 0;

	return request_run(nl, msg, put, NULL, NULL, error);
}

static int config_set_u32(struct netlink *nl, int attr, uint32_t value, struct bee_error *error)
{
	struct nl_msg *msg = request_new(nl, BEEUNWIND_CMD_CONFIG_SET, 0, 64);
	int put = msg ? nla_put_u32(msg, attr, value) : 0;

	return request_run(nl, msg, put, NULL, NULL, error);
}

/* netlink_config_set_hook(): Return: 0, or -1 with @error filled. */
int netlink_config_set_hook(struct netlink *nl, enum beeunwind_hook_state hook,
			   struct bee_error *error)
{
	return config_set_u32(nl, BEEUNWIND_A_CONFIG_HOOK, hook, error);
}

/* netlink_config_set_follow(): Return: 0, or -1 with @error filled. */
int netlink_config_set_follow(struct netlink *nl, enum beeunwind_follow follow,
			     struct bee_error *error)
{
	return config_set_u32(nl, BEEUNWIND_A_CONFIG_FOLLOW, follow, error);
}

/* netlink_config_set_announce(): Return: 0, or -1 with @error filled. */
int netlink_config_set_announce(struct netlink *nl, enum beeunwind_announce announce,
			       struct bee_error *error)
{
	return config_set_u32(nl, BEEUNWIND_A_CONFIG_ANNOUNCE, announce, error);
}
