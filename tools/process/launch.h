/* SPDX-License-Identifier: GPL-2.0 */
/* Start a program once all is ready for it. */
#ifndef LAUNCH_H
#define LAUNCH_H

#include <sys/types.h>

#include "table_jobs.h"

/**
 * struct launch - a program that waits to be executed
 * @pid: its process; 0: none
 * @go: takes a byte when it is to be executed
 * @report: gives the errno of its exec if that has failed
 */
struct launch {
	pid_t	pid;
	int	go;
	int	report;
};

int launch_begin(struct launch *launch, char **argv, const char *name);
int launch_go(struct launch *launch);
void launch_cancel(struct launch *launch);

void launch_needs(char **argv, struct table_wants *wants);

#endif /* LAUNCH_H */
