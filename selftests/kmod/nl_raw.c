// SPDX-License-Identifier: GPL-2.0
/* Builds netlink messages byte by byte, for requests that no library would send. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <linux/beeunwind.h>

#include "guest.h"
#include "nl_raw.h"

/** raw_open() - open a socket; @old, if it is above 0, is closed first */
int raw_open(int old)
{
	const struct timeval patience = { .tv_sec = 20 };
	struct sockaddr_nl address = { .nl_family = AF_NETLINK };
	int one = 1, sock;

	if (old > 0)
		close(old);
	sock = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_GENERIC);
	if (sock < 0 || bind(sock, (void *)&address, sizeof(address)) ||
	    setsockopt(sock, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)))
		guest_die("socket", strerror(errno));
	setsockopt(sock, SOL_NETLINK, NETLINK_EXT_ACK, &one, sizeof(one));
	setsockopt(sock, SOL_NETLINK, NETLINK_CAP_ACK, &one, sizeof(one));
	return sock;
}

/** raw_begin() - begin a message, without attributes */
void raw_begin(struct raw_message *m, uint16_t type, uint16_t flags, uint8_t cmd)
{
	struct genlmsghdr *genl = (void *)(m->bytes + NLMSG_HDRLEN);

	memset(m->bytes, 0, NLMSG_HDRLEN + GENL_HDRLEN);
	m->h.nlmsg_len = NLMSG_HDRLEN + GENL_HDRLEN;
	m->h.nlmsg_type = type;
	m->h.nlmsg_flags = flags;
	genl->cmd = cmd;
	genl->version = BEEUNWIND_FAMILY_VERSION;
}

/** raw_put() - append an attribute.  Return: where it is, or NULL if it does not fit */
void *raw_put(struct raw_message *m, uint16_t type, const void *data, uint32_t length)
{
	struct nlattr *a = (void *)(m->bytes + NLMSG_ALIGN(m->h.nlmsg_len));
	uint32_t whole = NLA_HDRLEN + length;

	if (NLMSG_ALIGN(m->h.nlmsg_len) + NLA_ALIGN(whole) > sizeof(m->bytes))
		return NULL;
	memset(a, 0, NLA_ALIGN(whole));
	a->nla_type = type;
	a->nla_len = whole;
	memcpy((uint8_t *)a + NLA_HDRLEN, data, length);
	m->h.nlmsg_len = NLMSG_ALIGN(m->h.nlmsg_len) + NLA_ALIGN(whole);
	return a;
}

static void find_attrs(const uint8_t *at, const uint8_t *end, int depth, struct raw_family *family)
{
	while (end - at > NLA_HDRLEN) {
		const struct nlattr *a = (const void *)at;
		int type = a->nla_type & NLA_TYPE_MASK;

		if (a->nla_len < NLA_HDRLEN || a->nla_len > end - at)
			return;
		if (depth == 0 && type == CTRL_ATTR_FAMILY_ID)
			memcpy(&family->id, a + 1, sizeof(family->id));
		else if (depth == 0 && type == CTRL_ATTR_MCAST_GROUPS)
			find_attrs(at + NLA_HDRLEN, at + a->nla_len, 1, family);
		else if (depth == 1)
			find_attrs(at + NLA_HDRLEN, at + a->nla_len, 2, family);
		else if (depth == 2 && type == CTRL_ATTR_MCAST_GRP_ID)
			memcpy(&family->group, a + 1, sizeof(family->group));
		at += NLA_ALIGN(a->nla_len);
	}
}

/** raw_find_family() - look up the module's family; @family->id is 0 if it cannot be seen */
void raw_find_family(int sock, struct raw_family *family)
{
	static uint8_t buffer[8192] __attribute__((aligned(8)));
	static struct raw_message m;
	ssize_t n;

	memset(family, 0, sizeof(*family));
	raw_begin(&m, GENL_ID_CTRL, NLM_F_REQUEST, CTRL_CMD_GETFAMILY);
	raw_put(&m, CTRL_ATTR_FAMILY_NAME, BEEUNWIND_FAMILY_NAME, sizeof(BEEUNWIND_FAMILY_NAME));
	if (send(sock, m.bytes, m.h.nlmsg_len, 0) < 0)
		guest_die("send", strerror(errno));
	n = recv(sock, buffer, sizeof(buffer), 0);
	if (n > (ssize_t)(NLMSG_HDRLEN + GENL_HDRLEN) &&
	    ((struct nlmsghdr *)buffer)->nlmsg_type == GENL_ID_CTRL)
		find_attrs(buffer + NLMSG_HDRLEN + GENL_HDRLEN, buffer + n, 0, family);
}
