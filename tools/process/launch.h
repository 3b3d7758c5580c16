/* SPDX-License-Identifier: GPL-2.0 */
/* Start a program so that others can look at it before its main() runs. */
#ifndef LAUNCH_H
#define LAUNCH_H

#include <stddef.h>
#include <sys/types.h>

/**
 * typedef launch_mapped_fn - called while the program is stopped and new code is mapped
 * @arg: from launch_start()
 * @pid: the program
 *
 * Return: 0, or -1 to have the program killed.
 */
typedef int (*launch_mapped_fn)(void *arg, pid_t pid);

/**
 * enum launch_state - how far launch_start() came
 * @LAUNCH_RUNS: the program is at its entry point or past it, on its own
 * @LAUNCH_ENDED: it ended before its entry point; the wait status says how
 * @LAUNCH_NO_EXEC: it could not be executed; errno is set
 * @LAUNCH_KILLED: it was killed, because launch_mapped_fn returned -1
 * @LAUNCH_FAILED: fork or ptrace did not work; errno is set
 */
enum launch_state {
	LAUNCH_RUNS,
	LAUNCH_ENDED,
	LAUNCH_NO_EXEC,
	LAUNCH_KILLED,
	LAUNCH_FAILED,
};

enum launch_state launch_start(char **argv, launch_mapped_fn mapped, void *arg, pid_t *pid,
			       int *wait_status);
pid_t launch_wait(pid_t pid, int *status);

#endif /* LAUNCH_H */
