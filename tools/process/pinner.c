// SPDX-License-Identifier: GPL-2.0
/*
 * Pin mapped files in a child process.  To look a mapping up the kernel takes the mmap_lock of the
 * process that has it, which that process can hold for as long as it likes: one of its threads has a
 * page fault in a file whose FUSE server it is itself, and another waits in munmap().  So who listens
 * to the module does not pin anything itself: it asks this child, and gets the descriptors when it
 * has time.
 *
 * The child answers in the order of the requests.  When it has not answered one for PINNER_MS it is
 * killed, this request and all others about that process have failed, and the next child gets the
 * rest, those about other processes of the same user last: who has many such processes makes himself wait.
 * A child that has nothing to do for PINNER_MS ends.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "alloc.h"
#include "child.h"
#include "clock.h"
#include "pinner.h"

/* Requests that the child is sent before it has answered the first; a socket has room for them. */
#define PINNER_SENT	64

/**
 * struct pin_request - one request; the child's answer is an errno value, and the descriptor
 * @id: the module's name for the file
 * @pid: the process
 * @start: first address of the mapping
 * @end: address after the last
 * @user: whose process that is
 */
struct pin_request {
	uint32_t	id;
	pid_t		pid;
	uint64_t	start;
	uint64_t	end;
	uid_t		user;
};

/**
 * struct pinner - requests and who works on them
 * @child: the process; 0: none
 * @fd: socket to it; -1: none
 * @request: requests without an answer; the child gets them in this order
 * @count: number of them
 * @room: for so many
 * @sent: of them, sent to @child
 * @stuck: the process that the child could not look at in time; 0: none
 * @since: when the request at the head of @request came there, CLOCK_MONOTONIC, ms
 */
struct pinner {
	pid_t			 child;
	int			 fd;
	struct pin_request	*request;
	size_t			 count;
	size_t			 room;
	size_t			 sent;
	pid_t			 stuck;
	int64_t			 since;
};

/** pinner_open() - no requests, and no child yet.  Return: for pinner_close() */
struct pinner *pinner_open(void)
{
	struct pinner *pinner = alloc_zero(1, sizeof(*pinner));

	pinner->fd = -1;
	return pinner;
}

static void pinner_kill(struct pinner *pinner)
{
	if (pinner->fd < 0)
		return;
	close(pinner->fd);
	pinner->fd = -1;
	pinner->sent = 0;
	child_end(pinner->child);
}

/** pinner_close() - end the child, and drop all requests */
void pinner_close(struct pinner *pinner)
{
	pinner_kill(pinner);
	free(pinner->request);
	free(pinner);
}

/* Room for one descriptor in a message. */
union pin_control {
	struct cmsghdr	header;
	char		room[CMSG_SPACE(sizeof(int))];
};

/* Send an errno value or, with 0, the descriptor @pin.  Return: 0 or -1. */
static int answer_send(int fd, int code, int pin)
{
	union pin_control control = { 0 };
	struct iovec data = { &code, sizeof(code) };
	struct msghdr message = { .msg_iov = &data, .msg_iovlen = 1 };

	if (!code) {
		message.msg_control = &control;
		message.msg_controllen = sizeof(control);
		control.header.cmsg_level = SOL_SOCKET;
		control.header.cmsg_type = SCM_RIGHTS;
		control.header.cmsg_len = CMSG_LEN(sizeof(pin));
		memcpy(CMSG_DATA(&control.header), &pin, sizeof(pin));
	}
	return sendmsg(fd, &message, MSG_NOSIGNAL) == sizeof(code) ? 0 : -1;
}

/* What the child does, until it has nothing to do. */
static void pinner_serve(int fd)
{
	const struct timeval idle = { PINNER_MS / 1000, PINNER_MS % 1000 * 1000 };
	struct pin_request request;

	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &idle, sizeof(idle));
	while (recv(fd, &request, sizeof(request), 0) == sizeof(request)) {
		const struct mapping mapping = {
			.pid = request.pid, .start = request.start, .end = request.end,
		};
		int pin = map_file_pin(&mapping);

		if (answer_send(fd, pin < 0 ? -pin : 0, pin))
			break;
		if (pin >= 0)
			close(pin);
	}
}

/* Return: 0, or -1: no child can be made. */
static int pinner_start(struct pinner *pinner)
{
	pid_t parent = getpid();
	sigset_t all;
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
		return -1;
	pinner->child = fork();
	if (!pinner->child) {
		/* It keeps nothing open of what the parent has: connections, pins, pipes. */
		if (!child_end_with(parent) || dup2(pair[1], STDIN_FILENO) < 0 ||
		    close_range(STDIN_FILENO + 1, ~0u, 0))
			_exit(1);
		sigfillset(&all);
		sigprocmask(SIG_SETMASK, &all, NULL);
		pinner_serve(STDIN_FILENO);
		_exit(0);
	}
	close(pair[1]);
	if (pinner->child < 0) {
		close(pair[0]);
		return -1;
	}
	pinner->fd = pair[0];
	return 0;
}

/* Send the child what it can take; start one if there is none. */
static void pinner_send(struct pinner *pinner)
{
	if (!pinner->count || (pinner->fd < 0 && pinner_start(pinner)))
		return;
	while (pinner->sent < pinner->count && pinner->sent < PINNER_SENT &&
	       send(pinner->fd, &pinner->request[pinner->sent], sizeof(struct pin_request),
		    MSG_NOSIGNAL | MSG_DONTWAIT) == sizeof(struct pin_request))
		pinner->sent++;
}

/**
 * pinner_ask() - ask for a pin
 * @pinner: the pinner
 * @id: the module's name for the file; pinner_take() gives it back
 * @mapping: the mapping: pid, start, end and user have to be filled
 */
void pinner_ask(struct pinner *pinner, uint32_t id, const struct mapping *mapping)
{
	if (!pinner->count)
		pinner->since = clock_ms();
	pinner->request = alloc_room(pinner->request, pinner->count, &pinner->room,
				     sizeof(*pinner->request));
	pinner->request[pinner->count++] = (struct pin_request){
		.id = id, .pid = mapping->pid, .start = mapping->start, .end = mapping->end,
		.user = mapping->user,
	};
	pinner_send(pinner);
}

/** pinner_asked() - number of requests that pinner_take() has not answered */
size_t pinner_asked(const struct pinner *pinner)
{
	return pinner->count;
}

/** pinner_fd() - for poll(): readable when pinner_take() is to be called; -1: no child */
int pinner_fd(const struct pinner *pinner)
{
	return pinner->fd;
}

/** pinner_patience() - ms until pinner_take() is to be called though nothing came; -1: never */
int pinner_patience(const struct pinner *pinner)
{
	int64_t left = pinner->since + PINNER_MS - clock_ms();

	if (!pinner->count)
		return -1;
	return pinner->stuck || left < 0 ? 0 : left;
}

static uint32_t request_take(struct pinner *pinner, size_t at)
{
	uint32_t id = pinner->request[at].id;

	if (!at)
		pinner->since = clock_ms();
	pinner->count--;
	pinner->sent -= at < pinner->sent;
	memmove(&pinner->request[at], &pinner->request[at + 1],
		(pinner->count - at) * sizeof(*pinner->request));
	return id;
}

/* Read an answer.  Return: 1 if there was one, 0 if not, -1 if the child has ended. */
static int answer_read(const struct pinner *pinner, int *pin)
{
	union pin_control control;
	int code;
	struct iovec data = { &code, sizeof(code) };
	struct msghdr message = {
		.msg_iov = &data, .msg_iovlen = 1,
		.msg_control = &control, .msg_controllen = sizeof(control),
	};
	ssize_t got = recvmsg(pinner->fd, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);

	if (got < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (got != sizeof(code))
		return -1;
	/* Without a free descriptor here the message comes without one. */
	*pin = code ? -code : -EMFILE;
	if (message.msg_controllen >= CMSG_LEN(sizeof(*pin)))
		memcpy(pin, CMSG_DATA(&control.header), sizeof(*pin));
	return 1;
}

/* Fail a request about the process that the child was stuck at.  Return: false if there is none. */
static bool pinner_take_stuck(struct pinner *pinner, uint32_t *id, int *pin)
{
	size_t i;

	for (i = 0; i < pinner->count && pinner->request[i].pid != pinner->stuck; i++)
		;
	if (!pinner->stuck || i == pinner->count) {
		pinner->stuck = 0;
		return false;
	}
	*id = request_take(pinner, i);
	*pin = -ETIMEDOUT;
	return true;
}

/* The child is stuck at the first request: kill it, and put the other requests of that user behind all others. */
static void pinner_is_stuck(struct pinner *pinner)
{
	const struct pin_request first = pinner->request[0];
	struct pin_request *sorted = alloc_array(NULL, pinner->count, sizeof(*sorted));
	size_t i, n = 0;

	pinner_kill(pinner);
	pinner->stuck = first.pid;
	for (i = 0; i < pinner->count; i++)
		if (pinner->request[i].user != first.user)
			sorted[n++] = pinner->request[i];
	for (i = 0; i < pinner->count; i++)
		if (pinner->request[i].user == first.user)
			sorted[n++] = pinner->request[i];
	free(pinner->request);
	pinner->request = sorted;
	pinner->room = pinner->count;
	pinner->since = clock_ms();
}

/**
 * pinner_take() - take the next answer; does not wait
 * @pinner: the pinner
 * @id: filled: of the request
 * @pin: filled: as from map_file_pin(), for the caller to close; -ETIMEDOUT: the process does not let
 *	itself be looked at
 *
 * To be called until it returns false.
 *
 * Return: false if there is none now.
 */
bool pinner_take(struct pinner *pinner, uint32_t *id, int *pin)
{
	int got = 0;

	if (pinner_take_stuck(pinner, id, pin))
		return true;
	if (pinner->fd >= 0)
		got = answer_read(pinner, pin);
	if (got > 0 && pinner->sent) {
		*id = request_take(pinner, 0);
		pinner_send(pinner);
		return true;
	}
	if (got < 0)
		pinner_kill(pinner);
	pinner_send(pinner);
	if (!pinner->count || clock_ms() - pinner->since < PINNER_MS)
		return false;
	if (pinner->fd < 0) {
		/* No child can be made. */
		*id = request_take(pinner, 0);
		*pin = -EAGAIN;
		return true;
	}
	pinner_is_stuck(pinner);
	return pinner_take_stuck(pinner, id, pin);
}
