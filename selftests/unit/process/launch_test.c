// SPDX-License-Identifier: GPL-2.0
/* Starting a program: it waits, it begins, or it cannot; and what it will map. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fake_netlink.h"
#include "kselftest.h"
#include "launch.h"

static char sh[] = "/bin/sh", option[] = "-c";

static char dir[] = "/tmp/launch_test.XXXXXX";

/* It does nothing before it is told to. */
static bool check_waits(void)
{
	char words[128], made[64];
	char *argv[] = { sh, option, words, NULL };
	struct launch launch;
	int status;
	bool early;

	snprintf(made, sizeof(made), "%s/made", dir);
	snprintf(words, sizeof(words), ": >%s; exit 7", made);
	if (launch_begin(&launch, argv, NULL))
		return false;
	usleep(100000);
	early = !access(made, F_OK);
	if (launch_go(&launch) || waitpid(launch.pid, &status, 0) != launch.pid)
		return false;
	return !early && !access(made, F_OK) && WEXITSTATUS(status) == 7 && !unlink(made);
}

static bool check_cancel(void)
{
	char words[] = "exit 7";
	char *argv[] = { sh, option, words, NULL };
	struct launch launch;
	pid_t pid;

	if (launch_begin(&launch, argv, NULL))
		return false;
	pid = launch.pid;
	launch_cancel(&launch);
	return kill(pid, 0) && errno == ESRCH && !launch.pid;
}

static bool check_none(const char *name, int code)
{
	char *argv[] = { (char *)name, NULL };
	struct launch launch;

	return !launch_begin(&launch, argv, NULL) && launch_go(&launch) && errno == code && !launch.pid &&
	       waitpid(-1, NULL, WNOHANG) < 0;
}

/* Its process has died meanwhile. */
static bool check_died(void)
{
	char *argv[] = { sh, NULL };
	struct launch launch;
	int status;

	if (launch_begin(&launch, argv, NULL))
		return false;
	kill(launch.pid, SIGKILL);
	while (waitid(P_PID, launch.pid, &(siginfo_t){ 0 }, WEXITED | WNOWAIT))
		;
	return !launch_go(&launch) && waitpid(launch.pid, &status, 0) == launch.pid && WIFSIGNALED(status);
}

static bool wants_have(const struct table_wants *wants, const char *base)
{
	size_t i, count = 0;

	for (i = 0; i < wants->count; i++) {
		const struct table_want *want = &wants->want[i];
		const char *slash = strrchr(want->name, '/');

		count += !strncmp(slash ? slash + 1 : want->name, base, strlen(base)) &&
			 (want->fd >= 0 ? want->size > 0 : want->fd == NETLINK_VDSO);
	}
	return count == 1;
}

/* The files of a program that is looked for in $PATH, or of the interpreter of a script. */
static bool check_needs(const char *name)
{
	char *argv[] = { (char *)name, NULL };
	struct table_wants wants = { 0 };
	bool good;

	launch_needs(argv, &wants);
	good = wants_have(&wants, "[vdso]") && wants_have(&wants, "sh") && wants_have(&wants, "libc.so") &&
	       wants_have(&wants, "ld-linux");
	table_wants_free(&wants);
	return good;
}

static bool check_script(void)
{
	char path[64];
	FILE *file;
	bool good;

	snprintf(path, sizeof(path), "%s/script", dir);
	file = fopen(path, "w");
	if (!file || fputs("#! /bin/sh -e\ntrue\n", file) < 0 || fclose(file) || chmod(path, 0755))
		return false;
	good = check_needs(path);
	unlink(path);
	return good;
}

static bool check_needs_none(const char *name)
{
	char *argv[] = { (char *)name, NULL };
	struct table_wants wants = { 0 };
	bool good;

	launch_needs(argv, &wants);
	good = wants.count == 1;
	table_wants_free(&wants);
	return good;
}

int main(void)
{
	ksft_print_header();
	ksft_set_plan(8);
	if (!mkdtemp(dir))
		return 1;
	fake_reset();
	ksft_test_result(check_waits(), "a launched program waits, and begins when told\n");
	ksft_test_result(check_cancel(), "a launched program that waits is cancelled\n");
	ksft_test_result(check_none("no-such-command", ENOENT), "a program that is not there is refused\n");
	ksft_test_result(check_none(dir, EACCES), "a program that cannot be executed is refused\n");
	ksft_test_result(check_died(), "a launched program that is killed before it begins is told of\n");
	ksft_test_result(check_needs("sh"), "a program needs tables of its libraries\n");
	ksft_test_result(check_script(), "a script needs tables of its interpreter\n");
	ksft_test_result(check_needs_none("no-such-command"), "a program that is not there needs the vDSO only\n");
	rmdir(dir);
	ksft_finished();
}
