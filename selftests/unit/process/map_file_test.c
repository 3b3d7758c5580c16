// SPDX-License-Identifier: GPL-2.0
/* Opening the file of a mapping: by /proc/PID/map_files, by name, in other mount namespaces. */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "map_file.h"

#include "kselftest.h"

static char top[] = "/tmp/mapped_test.XXXXXX";
static char name[64], same[64];

static bool write_file(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");

	return file && fputs(text, file) >= 0 && !fclose(file);
}

static struct mapping mapping_of(const char *path, uint64_t size)
{
	struct stat st = { 0 };

	stat(path, &st);
	return (struct mapping){ .path = path, .size = size, .inode = st.st_ino };
}

static bool opens(const struct mapping *mapping, int pin, const char *text)
{
	struct bee_error why = {};
	char got[64] = "";
	int fd = map_file_open(mapping, pin, &why);
	bool good;

	if (fd < 0) {
		ksft_print_msg("%s\n", why.text);
		return !text && why.text[0];
	}
	good = text && read(fd, got, sizeof(got) - 1) >= 0 && !strcmp(got, text);
	close(fd);
	return good;
}

static bool check_name(void)
{
	struct mapping mapping = mapping_of(name, 5);

	return opens(&mapping, -ESRCH, "file\n");
}

static bool check_size(void)
{
	struct mapping mapping = mapping_of(name, 6);

	return opens(&mapping, -ESRCH, NULL);
}

static bool check_not_a_path(void)
{
	struct mapping mapping = mapping_of(name, 5);

	mapping.path = "memfd:x (deleted)";
	return opens(&mapping, -ESRCH, NULL);
}

/* A file of the same name and size but another inode is opened: the module compares inodes. */
static bool check_other_inode(void)
{
	struct mapping mapping = mapping_of(name, 5);

	mapping.inode++;
	return opens(&mapping, -ESRCH, "file\n");
}

static bool check_pin(void)
{
	int fd = open(name, O_RDONLY | O_CLOEXEC), pin;
	struct mapping mapping = mapping_of(name, 5);
	bool good;
	void *at;

	at = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	mapping.pid = getpid();
	mapping.start = (uintptr_t)at;
	mapping.end = mapping.start + 4096;
	/* From here on the file is found by its mapping, so its name does not matter. */
	mapping.path = "/nonexistent";
	pin = map_file_pin(&mapping);
	good = pin >= 0 && opens(&mapping, pin, "file\n");
	if (pin >= 0)
		close(pin);
	/* The mapping may have become smaller: part of the range is enough. */
	mapping.end += 4096;
	pin = map_file_pin(&mapping);
	good = good && pin >= 0 && opens(&mapping, pin, "file\n");
	if (pin >= 0)
		close(pin);
	munmap(at, 4096);
	return good && map_file_pin(&(struct mapping){ .pid = 0x3fffffff }) == -ENOENT;
}

/* Only regular files are opened: a pipe without a writer would block, a device might act. */
static bool check_not_regular(void)
{
	struct mapping mapping = mapping_of("/nonexistent", 5);
	int pin = open("/dev/zero", O_PATH | O_CLOEXEC);
	bool good = opens(&mapping, pin, NULL);

	close(pin);
	mapping.path = "/dev/zero";
	mapping.size = 0;
	return good && opens(&mapping, -ENOENT, NULL);
}

static bool check_vdso(void)
{
	const struct mapping mapping = { .path = MAP_FILE_VDSO };
	struct bee_error why = {};
	char magic[4] = "";
	int fd = map_file_open(&mapping, -ENOENT, &why);
	bool good;

	if (fd < 0) {
		ksft_print_msg("%s\n", why.text);
		return false;
	}
	good = pread(fd, magic, 4, 0) == 4 && !memcmp(magic, "\177ELF", 4);
	close(fd);
	return good;
}

/* Start a child of @user in its own mount namespace, in which the file @name has the content @text. */
static pid_t start_container(const char *text, uid_t user)
{
	int ready[2];
	char byte;
	pid_t pid;

	if (pipe(ready))
		return -1;
	pid = fork();
	if (!pid) {
		if (unshare(CLONE_NEWNS) || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
		    mount("none", top, "tmpfs", 0, NULL) || !write_file(name, text) ||
		    !write_file(same, "inside\n") || setresuid(user, user, user) ||
		    write(ready[1], "", 1) != 1)
			_exit(1);
		pause();
		_exit(0);
	}
	close(ready[1]);
	if (pid > 0 && read(ready[0], &byte, 1) != 1) {
		waitpid(pid, NULL, 0);
		pid = -1;
	}
	close(ready[0]);
	return pid;
}

static bool check_namespaces(void)
{
	struct mapping mapping = { .path = name, .size = 10 }, here = mapping_of(name, 5);

	return opens(&mapping, -ESRCH, "contained\n") && opens(&here, -ESRCH, "file\n");
}

/* In the namespace of another user a file is not looked for, unless it is that user's. */
static bool check_user(uid_t user)
{
	struct mapping mapping = { .path = name, .size = 7, .user = user };
	struct mapping of_root = { .path = name, .size = 7 };
	struct mapping of_other = { .path = name, .size = 7, .user = user + 1 };

	return opens(&mapping, -ESRCH, "user's\n") && opens(&of_root, -ESRCH, NULL) &&
	       opens(&of_other, -ESRCH, NULL);
}

/* While the process runs, a file of that name and size outside its root is not taken. */
static bool check_root(pid_t pid)
{
	struct mapping mapping = { .path = same, .size = 7, .pid = pid };
	struct mapping ours = mapping_of(same, 7);

	return opens(&mapping, -EACCES, "inside\n") && opens(&ours, -ESRCH, "beside\n");
}

int main(void)
{
	pid_t pid;

	ksft_print_header();
	ksft_set_plan(10);
	if (!mkdtemp(top))
		return 1;
	snprintf(name, sizeof(name), "%s/name", top);
	snprintf(same, sizeof(same), "%s/same", top);
	write_file(name, "file\n");
	write_file(same, "beside\n");
	ksft_test_result(check_name(), "by name\n");
	ksft_test_result(check_size(), "not with another size\n");
	ksft_test_result(check_other_inode(), "with another inode\n");
	ksft_test_result(check_not_a_path(), "a name that is no path\n");
	ksft_test_result(check_not_regular(), "neither pipes nor devices\n");
	ksft_test_result(check_vdso(), "the vDSO as a file\n");
	if (geteuid())
		ksft_test_result_skip("what is pinned # SKIP needs root\n");
	else
		ksft_test_result(check_pin(), "what is pinned\n");
	pid = start_container("contained\n", geteuid());
	if (pid > 0) {
		ksft_test_result(check_namespaces(), "in another mount namespace\n");
		ksft_test_result(check_root(pid), "in the root of its process\n");
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
	} else {
		ksft_test_result_skip("in another mount namespace # SKIP may not make one\n");
		ksft_test_result_skip("in the root of its process # SKIP may not make one\n");
	}
	pid = geteuid() ? -1 : start_container("user's\n", 70001);
	if (pid > 0) {
		ksft_test_result(check_user(70001), "in a mount namespace of its user only\n");
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
	} else {
		ksft_test_result_skip("in a mount namespace of its user only # SKIP may not make one\n");
	}
	unlink(name);
	unlink(same);
	rmdir(top);
	ksft_finished();
}
