/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The commands of beectl: each takes its own name as argv[0], prints to stdout,
 * says what went wrong on stderr, and returns the exit status: EXIT_OK,
 * EXIT_FAILED, or EXIT_USAGE for words it does not understand.
 */
#ifndef BEE_COMMANDS_H
#define BEE_COMMANDS_H

#include <sys/wait.h>

enum { EXIT_OK = 0, EXIT_FAILED = 1, EXIT_USAGE = 2 };

/* As a shell has them, for those that start a program: nothing was started; it cannot be executed; there is none. */
enum { EXIT_NOT_RUN = 125, EXIT_NOT_EXECUTABLE = 126, EXIT_NOT_FOUND = 127, EXIT_SIGNAL = 128 };

/* exit_status(): of a program whose end waitpid() has told */
static inline int exit_status(int status)
{
	return WIFSIGNALED(status) ? EXIT_SIGNAL + WTERMSIG(status) : WEXITSTATUS(status);
}

int cmd_cache(int argc, char **argv);
int cmd_compile(int argc, char **argv);
int cmd_config(int argc, char **argv);
int cmd_dump(int argc, char **argv);
int cmd_flame(int argc, char **argv);
int cmd_load(int argc, char **argv);
int cmd_record(int argc, char **argv);
int cmd_run(int argc, char **argv);
int cmd_size(int argc, char **argv);
int cmd_status(int argc, char **argv);
int cmd_unload(int argc, char **argv);
int cmd_verify(int argc, char **argv);
int cmd_watch(int argc, char **argv);

#endif /* BEE_COMMANDS_H */
