// SPDX-License-Identifier: GPL-2.0
/* Programs started under ptrace: where each is stopped, and how each ends. */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kselftest.h"
#include "launch.h"

static char directory[] = "/tmp/launch_test.XXXXXX";
static char tiny[64], plain[64], script[64];

/* The argument of look(), which is called at each stop: a counter, and what look() has to do. */
struct looks {
	unsigned int	count;
	int		answer;
	bool		kill;
	unsigned int	wrong;
};

/* Is this a mapping of code? */
static bool maps_code(pid_t pid, uint64_t start, uint64_t end)
{
	char path[64], line[512], flags[8];
	unsigned long from, to;
	bool found = false;
	FILE *maps;

	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	maps = fopen(path, "r");
	while (maps && !found && fgets(line, sizeof(line), maps))
		found = sscanf(line, "%lx-%lx %7s", &from, &to, flags) == 3 && flags[2] == 'x' &&
			from <= start && end <= to && start < end;
	if (maps)
		fclose(maps);
	return found;
}

static int look(void *arg, pid_t pid, enum launch_stop stop, uint64_t start, uint64_t end)
{
	struct looks *looks = arg;

	if (stop == LAUNCH_AT_MAP ? !maps_code(pid, start, end) : start || end)
		looks->wrong++;
	if ((stop == LAUNCH_AT_EXEC) != !looks->count)
		looks->wrong++;
	looks->count++;
	if (looks->kill)
		kill(pid, SIGKILL);
	return looks->answer;
}

static enum launch_state start(const char *program, const char *word, struct looks *looks,
			       pid_t *pid, int *status)
{
	char *argv[] = { (char *)program, word ? (char *)"-c" : NULL, (char *)word, NULL };

	return launch_start(argv, look, looks, pid, status);
}

/* Does the program run and end with exit status @expected? */
static bool runs(const char *program, const char *word, int expected, unsigned int least)
{
	struct looks looks = { 0 };
	int status = 0;
	pid_t pid;

	if (start(program, word, &looks, &pid, &status) != LAUNCH_RUNS)
		return false;
	if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status) ||
	    WEXITSTATUS(status) != expected)
		return false;
	ksft_print_msg("looked at %u times\n", looks.count);
	return looks.count >= least && !looks.wrong;
}

static bool is_no_exec(const char *program, int code)
{
	struct looks looks = { 0 };
	int status;
	pid_t pid;

	return start(program, NULL, &looks, &pid, &status) == LAUNCH_NO_EXEC && errno == code &&
	       !looks.count && kill(pid, 0) && errno == ESRCH;
}

/* With this variable the dynamic linker ends the program before its entry point. */
static bool check_early_end(void)
{
	int status = 1, null = open("/dev/null", O_WRONLY), saved = dup(STDOUT_FILENO);
	struct looks looks = { 0 };
	enum launch_state state;
	pid_t pid;

	fflush(stdout);
	dup2(null, STDOUT_FILENO);
	setenv("LD_TRACE_LOADED_OBJECTS", "1", 1);
	state = start("/bin/true", NULL, &looks, &pid, &status);
	unsetenv("LD_TRACE_LOADED_OBJECTS");
	dup2(saved, STDOUT_FILENO);
	close(saved);
	close(null);
	return state == LAUNCH_ENDED && WIFEXITED(status) && !WEXITSTATUS(status) && looks.count;
}

static bool check_killed(void)
{
	struct looks looks = { .kill = true };
	int status = 0;
	pid_t pid;

	return start("/bin/true", NULL, &looks, &pid, &status) == LAUNCH_ENDED &&
	       WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
}

static bool check_refused(void)
{
	struct looks looks = { .answer = -1 };
	int status;
	pid_t pid;

	return start("/bin/true", NULL, &looks, &pid, &status) == LAUNCH_KILLED &&
	       looks.count == 1 && kill(pid, 0) && errno == ESRCH;
}

static bool check_ignored_signal(void)
{
	bool good;

	signal(SIGTERM, SIG_IGN);
	good = runs("/bin/sh", "kill -TERM $$; exit 3", 3, 2);
	signal(SIGTERM, SIG_DFL);
	return good;
}

static bool file_write(const char *path, const void *data, size_t size, int mode)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, mode);
	bool good = fd >= 0 && write(fd, data, size) == (ssize_t)size;

	return fd >= 0 && !close(fd) && good;
}

/* Write a static program of two instructions that calls exit(7). */
static bool make_tiny(void)
{
	static const unsigned char code[] = {
		0xb8, 60, 0, 0, 0,	/* mov $60, %eax */
		0xbf, 7, 0, 0, 0,	/* mov $7, %edi */
		0x0f, 0x05,		/* syscall */
	};
	struct {
		Elf64_Ehdr	ehdr;
		Elf64_Phdr	phdr;
		unsigned char	code[sizeof(code)];
	} file = {
		.ehdr = { .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
			  .e_type = ET_EXEC, .e_machine = EM_X86_64, .e_version = EV_CURRENT,
			  .e_entry = 0x400000 + sizeof(Elf64_Ehdr) + sizeof(Elf64_Phdr),
			  .e_phoff = sizeof(Elf64_Ehdr), .e_ehsize = sizeof(Elf64_Ehdr),
			  .e_phentsize = sizeof(Elf64_Phdr), .e_phnum = 1 },
		.phdr = { .p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_vaddr = 0x400000,
			  .p_filesz = sizeof(file), .p_memsz = sizeof(file), .p_align = 4096 },
	};

	memcpy(file.code, code, sizeof(code));
	return file_write(tiny, &file, sizeof(file), 0755);
}

int main(void)
{
	static const char text[] = "#!/bin/sh\nexit 5\n";

	ksft_print_header();
	ksft_set_plan(10);
	if (!mkdtemp(directory))
		return 1;
	snprintf(tiny, sizeof(tiny), "%s/tiny", directory);
	snprintf(plain, sizeof(plain), "%s/plain", directory);
	snprintf(script, sizeof(script), "%s/script", directory);
	if (!make_tiny() || !file_write(plain, text, sizeof(text) - 1, 0644) ||
	    !file_write(script, text, sizeof(text) - 1, 0755))
		return 1;
	/* Stops: after exec, for each library, at the entry point. */
	ksft_test_result(runs("/bin/true", NULL, 0, 3), "a program with libraries\n");
	ksft_test_result(runs(tiny, NULL, 7, 1), "a static program\n");
	ksft_test_result(runs(script, NULL, 5, 2), "a script\n");
	ksft_test_result(runs("true", NULL, 0, 3), "looked for in $PATH\n");
	ksft_test_result(is_no_exec("/nonexistent", ENOENT), "no such program\n");
	ksft_test_result(is_no_exec(plain, EACCES), "not executable\n");
	ksft_test_result(check_early_end(), "ends before its entry point\n");
	ksft_test_result(check_killed(), "killed before its entry point\n");
	ksft_test_result(check_refused(), "killed because the caller says so\n");
	ksft_test_result(check_ignored_signal(), "ignored signals stay ignored\n");
	unlink(tiny);
	unlink(plain);
	unlink(script);
	rmdir(directory);
	ksft_finished();
}
