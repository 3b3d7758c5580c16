/* SPDX-License-Identifier: GPL-2.0 */
/* Start a program so that others can look at it before its main() runs. */
#ifndef LAUNCH_H
#define LAUNCH_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/**
 * enum launch_stop - where the program is stopped
 * @LAUNCH_AT_EXEC: exec has mapped it, the dynamic linker and the vDSO
 * @LAUNCH_AT_MAP: it has mapped code, as the dynamic linker does for each library
 * @LAUNCH_AT_ENTRY: at its entry point; a static program is not stopped there
 */
enum launch_stop {
	LAUNCH_AT_EXEC,
	LAUNCH_AT_MAP,
	LAUNCH_AT_ENTRY,
};

/**
 * typedef launch_mapped_fn - called while the program is stopped
 * @arg: from launch_start()
 * @pid: the program
 * @stop: where it is stopped
 * @start: LAUNCH_AT_MAP: first address of the new mapping; otherwise 0
 * @end: address after the last; it ends with the page of that
 *
 * Return: 0, or -1 to have the program killed.
 */
typedef int (*launch_mapped_fn)(void *arg, pid_t pid, enum launch_stop stop, uint64_t start,
				uint64_t end);

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
