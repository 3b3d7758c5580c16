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

/*
 * Exit statuses of commands that start a program, which shells use, too: beectl has not tried to start it; it
 * cannot be executed; there is no such program; and this plus N if signal N has ended it.
 */
enum { EXIT_NOT_RUN = 125, EXIT_NOT_EXECUTABLE = 126, EXIT_NOT_FOUND = 127, EXIT_SIGNAL = 128 };

/* exit_status() - the exit status of beectl for a program that has ended with this status of waitpid() */
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
