// SPDX-License-Identifier: GPL-2.0
/* A connection to the module over generic netlink, and one exchange on it at a time. */
#include <errno.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <linux/capability.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <netlink/errno.h>
#include <netlink/genl/genl.h>
#include <netlink/handlers.h>
#include <netlink/socket.h>

#include "alloc.h"
#include "exchange.h"

/* Wanted send buffer; the kernel gives what net.core.wmem_max allows. */
#define SEND_BUFFER	(1 << 20)
#define MESSAGE_MAX	(32 << 10)	/* the kernel makes none larger */

#define MODULE_SYSFS	"/sys/module/" BEEUNWIND_FAMILY_NAME

/**
 * struct exchange - one request and what has come back so far
 * @parse: takes replies, NULL if none are expected
 * @result: argument of @parse
 * @error: filled by the first thing that goes wrong
 * @failed: @error is filled
 * @done: the kernel has answered completely
 * @interrupted: objects changed during the dump, which may lack some or have some twice
 */
struct exchange {
	reply_fn		 parse;
	void			*result;
	struct bee_error	*error;
	bool			 failed;
	bool			 done;
	bool			 interrupted;
};

/* What the user can do about a refusal of the module: a limit is used up. */
static const char *exchange_hint(int code, const char *sentence)
{
	if (code == EDQUOT)
		return "; see beectl status --users; more: beectl config share PERCENT";
	if (!strncmp(sentence, "over budget:", strlen("over budget:")))
		return "; more: beectl config budget SIZE";
	return "";
}

static void exchange_fail(struct exchange *x, int code, const char *sentence)
{
	/* What all requests need, in words for who runs beectl; some say what else they need. */
	if (code == EPERM && (!sentence || !strncmp(sentence, "needs ", strlen("needs "))))
		sentence = "needs CAP_PERFMON or root (CAP_SYS_ADMIN), of the initial user namespace";
	error_set(x->error, code, "%s%s", sentence ?: strerror(code), exchange_hint(code, sentence ?: ""));
	x->failed = true;
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
	exchange_fail(x, -err->error, extack_sentence(nlh, before));
	x->done = true;
	return NL_STOP;
}

/*
 * An acknowledgement, whose code is 0, or the last message of a dump, whose code says whether it
 * failed half way.
 */
static int exchange_finished(struct nl_msg *msg, void *arg)
{
	const struct nlmsghdr *nlh = nlmsg_hdr(msg);
	struct exchange *x = arg;
	int code = 0;

	if (nlmsg_datalen(nlh) >= (int)sizeof(code))
		memcpy(&code, nlmsg_data(nlh), sizeof(code));
	if (code < 0 && !x->failed)
		exchange_fail(x, -code, extack_sentence(nlh, sizeof(code)));
	x->done = true;
	return NL_STOP;
}

static int exchange_interrupted(struct nl_msg *msg, void *arg)
{
	struct exchange *x = arg;

	(void)msg;
	x->interrupted = true;
	return NL_OK;
}

/* exchange_other_version(): what helps if the loaded module is newer than this beectl, or older */
const char *exchange_other_version(bool newer)
{
	return newer ? "install the beectl that belongs to the module" :
		       "rmmod beeunwind && modprobe beeunwind, with the module built anew";
}

static int exchange_reply(struct nl_msg *msg, void *arg)
{
	struct genlmsghdr *header = genlmsg_hdr(nlmsg_hdr(msg));
	struct exchange *x = arg;

	/* An upgrade leaves the old module loaded.  To whoever waits for a module it is none. */
	if (!x->failed && header->version != BEEUNWIND_FAMILY_VERSION) {
		error_set(x->error, BEE_ERROR_NO_MODULE,
			  "the loaded module has version %u of the netlink family, this beectl %d: %s",
			  header->version, BEEUNWIND_FAMILY_VERSION,
			  exchange_other_version(header->version > BEEUNWIND_FAMILY_VERSION));
		x->failed = true;
	}
	if (x->parse && !x->failed &&
	    x->parse(genlmsg_attrdata(header, 0), genlmsg_attrlen(header, 0), x->result))
		exchange_fail(x, EPROTO, "the module's answer is malformed");
	return NL_OK;
}

/*
 * Open a socket with extended acks (NETLINK_EXT_ACK), so that refusals carry a sentence.
 * Return: 0, or a code of libnl with @nl->sock NULL.
 */
static int socket_open(struct netlink *nl)
{
	int ret, fd, one = 1, bytes = 0;
	socklen_t length = sizeof(bytes);

	nl->sock = alloc_check(nl_socket_alloc(), 0);
	ret = genl_connect(nl->sock);
	if (ret < 0) {
		nl_socket_free(nl->sock);
		nl->sock = NULL;
		return ret;
	}
	fd = nl_socket_get_fd(nl->sock);
	setsockopt(fd, SOL_NETLINK, NETLINK_EXT_ACK, &one, sizeof(one));
	setsockopt(fd, SOL_NETLINK, NETLINK_CAP_ACK, &one, sizeof(one));
	nl_socket_set_buffer_size(nl->sock, SEND_BUFFER, SEND_BUFFER);
	nl_socket_set_msg_buf_size(nl->sock, MESSAGE_MAX);
	if (getsockopt(fd, SOL_SOCKET, SO_SNDBUF, &bytes, &length) || bytes < (32 << 10))
		bytes = 32 << 10;
	nl->max_message = bytes / 2;
	return 0;
}

/* Send @msg, release it, and take everything that comes back.  Return: 0 or -1. */
static int exchange_run(struct netlink *nl, struct nl_msg *msg, struct exchange *x)
{
	struct nl_cb *cb = alloc_check(nl_cb_alloc(NL_CB_DEFAULT), 0);
	int ret;

	nl_cb_err(cb, NL_CB_CUSTOM, exchange_refused, x);
	nl_cb_set(cb, NL_CB_ACK, NL_CB_CUSTOM, exchange_finished, x);
	nl_cb_set(cb, NL_CB_FINISH, NL_CB_CUSTOM, exchange_finished, x);
	nl_cb_set(cb, NL_CB_DUMP_INTR, NL_CB_CUSTOM, exchange_interrupted, x);
	nl_cb_set(cb, NL_CB_VALID, NL_CB_CUSTOM, exchange_reply, x);
	ret = nl->sock ? nl_send_auto(nl->sock, msg) : -NLE_BAD_SOCK;
	nlmsg_free(msg);
	while (ret >= 0 && !x->done)
		ret = nl_recvmsgs(nl->sock, cb);
	nl_cb_put(cb);
	if (x->done)
		return x->failed ? -1 : 0;
	error_set(x->error, EIO, "talking to the module: %s", nl_geterror(ret));
	/* Reconnect, so that the rest of this answer is not taken for that of the next request. */
	nl_socket_free(nl->sock);
	socket_open(nl);
	return -1;
}

/**
 * exchange_begin() - begin a request
 * @nl: the connection
 * @command: enum beeunwind_cmd
 * @room: bytes that its attributes take at most; a few numbers fit in any case
 *
 * Return: for exchange_put*() and then exchange_request() or exchange_dump(), which release it.
 */
struct nl_msg *exchange_begin(const struct netlink *nl, int command, size_t room)
{
	size_t size = NLMSG_HDRLEN + GENL_HDRLEN + 256 + room;
	struct nl_msg *msg = alloc_check(nlmsg_alloc_size(size), 0);

	genlmsg_put(msg, NL_AUTO_PORT, NL_AUTO_SEQ, nl->family, 0, 0, command,
		    BEEUNWIND_FAMILY_VERSION);
	return msg;
}

/* exchange_put(): an attribute; the room for it has been asked for in exchange_begin() */
void exchange_put(struct nl_msg *msg, int type, const void *data, size_t size)
{
	if (nla_put(msg, type, size, data))
		abort();
}

void exchange_put_u32(struct nl_msg *msg, int type, uint32_t value)
{
	exchange_put(msg, type, &value, sizeof(value));
}

void exchange_put_u64(struct nl_msg *msg, int type, uint64_t value)
{
	exchange_put(msg, type, &value, sizeof(value));
}

/**
 * exchange_request() - send a request and wait for its answer
 * @nl: the connection
 * @msg: from exchange_begin(); released
 * @parse: takes the reply, or NULL
 * @result: its argument
 * @error: filled on failure
 *
 * Return: 0, or -1.
 */
int exchange_request(struct netlink *nl, struct nl_msg *msg, reply_fn parse, void *result,
		     struct bee_error *error)
{
	struct exchange x = { .parse = parse, .result = result, .error = error };

	return exchange_run(nl, msg, &x);
}

/**
 * exchange_dump() - send a request for a dump and take its messages
 * @nl: the connection
 * @msg: from exchange_begin(); released
 * @parse: takes each message
 * @result: its argument
 * @error: filled on failure
 *
 * Return: 0; -1; or 1 if what was dumped changed meanwhile, so that it should be asked for again.
 */
int exchange_dump(struct netlink *nl, struct nl_msg *msg, reply_fn parse, void *result,
		  struct bee_error *error)
{
	struct exchange x = { .parse = parse, .result = result, .error = error };

	nlmsg_hdr(msg)->nlmsg_flags |= NLM_F_DUMP;
	return exchange_run(nl, msg, &x) ?: x.interrupted;
}

/**
 * netlink_clone() - one more connection
 * @nl: a connection
 * @error: filled on failure
 *
 * For a child process: two processes on one socket would get each other's answers.  Unlike
 * netlink_open(), does not load the module if it is gone.
 *
 * Return: a connection for netlink_close(), or NULL.
 */
struct netlink *netlink_clone(const struct netlink *nl, struct bee_error *error)
{
	struct netlink *clone = alloc_zero(1, sizeof(*clone));
	int ret = socket_open(clone);

	if (!ret) {
		clone->family = nl->family;
		return clone;
	}
	error_set(error, EIO, "opening a netlink socket: %s", nl_geterror(ret));
	free(clone);
	return NULL;
}

/* A reply_fn; @result: an int, filled with the family's id */
static int family_parse(struct nlattr *attrs, int length, void *result)
{
	const struct nlattr *id = nla_find(attrs, length, CTRL_ATTR_FAMILY_ID);

	if (!id || nla_len(id) < (int)sizeof(uint16_t))
		return -1;
	*(int *)result = nla_get_u16(id);
	return 0;
}

/* Fill @nl->family.  genl_ctrl_resolve() does not say why it fails.  Return: 0 or -1. */
static int family_find(struct netlink *nl, struct bee_error *error)
{
	struct nl_msg *msg;

	nl->family = GENL_ID_CTRL;
	msg = exchange_begin(nl, CTRL_CMD_GETFAMILY, sizeof(BEEUNWIND_FAMILY_NAME));
	exchange_put(msg, CTRL_ATTR_FAMILY_NAME, BEEUNWIND_FAMILY_NAME,
		     sizeof(BEEUNWIND_FAMILY_NAME));
	return exchange_request(nl, msg, family_parse, &nl->family, error);
}

/*
 * Load the module, if it is installed, no file of /etc/modprobe.d blacklists it, and this process may.
 * modprobe prints why it cannot.
 */
static void module_load(void)
{
	static const char *const words[] = { "modprobe", "-q", "-b", BEEUNWIND_FAMILY_NAME, NULL };
	pid_t pid;

	if (geteuid() || prctl(PR_CAPBSET_READ, CAP_SYS_MODULE) != 1 ||
	    posix_spawn(&pid, "/sbin/modprobe", NULL, NULL, (char **)words, environ))
		return;
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
}

/**
 * netlink_open() - connect to the module
 * @error: filled on failure; code BEE_ERROR_NO_MODULE if the module is not there
 *
 * Root loads the module for this, if it is installed.
 *
 * Return: a connection for netlink_close(), or NULL.
 */
struct netlink *netlink_open(struct bee_error *error)
{
	const struct netlink none = { .family = -1 };
	struct netlink *nl = netlink_clone(&none, error);
	struct bee_error why;

	if (!nl)
		return NULL;
	if (!family_find(nl, &why))
		return nl;
	if (why.code == ENOENT && access(MODULE_SYSFS, F_OK)) {
		module_load();
		if (!family_find(nl, &why))
			return nl;
	}
	if (why.code != ENOENT)
		error_set(error, why.code, "asking the kernel for the beeunwind module: %.400s",
			  why.text);
	else if (!access(MODULE_SYSFS, F_OK))
		error_set(error, BEE_ERROR_NO_MODULE,
			  "the beeunwind module is loaded, but it can only be talked to from "
			  "the initial network namespace");
	else
		error_set(error, BEE_ERROR_NO_MODULE,
			  "the beeunwind module is not loaded; load it with: modprobe beeunwind "
			  "(or insmod ./beeunwind.ko); if it is refused: dmesg; if there is none: install "
			  "the headers of this kernel, and see dkms status; README names the kernels that "
			  "it is for");
	netlink_close(nl);
	return NULL;
}

/** netlink_close() - end a connection; NULL is fine */
void netlink_close(struct netlink *nl)
{
	if (!nl)
		return;
	nl_socket_free(nl->sock);
	free(nl);
}
