/* SPDX-License-Identifier: GPL-2.0 */
/* Give the module tables of code that JIT compilers have in the memory of processes. */
#ifndef JIT_JOBS_H
#define JIT_JOBS_H

#include <stddef.h>
#include <sys/types.h>

#include "jit_result.h"
#include "table_jobs.h"

typedef void jit_done_fn(void *arg, pid_t pid, const struct jit_result *result);

/**
 * struct jit_jobs - which processes
 * @maker: the module, which manages them, and how tables of files are made
 * @jobs: processes at a time; 0: as many as there are CPUs
 * @pid: the processes
 * @count: number of them
 * @arg: for @done
 * @done: called with the result of each process, in their order; NULL: nobody wants to know
 */
struct jit_jobs {
	const struct table_maker *maker;
	unsigned int	 jobs;
	const pid_t	*pid;
	size_t		 count;
	void		*arg;
	jit_done_fn	*done;
};

/**
 * jit_jobs_concern() - whether a process has executable memory without a file
 * @proc: the process, as the module said after it has looked at what is mapped
 *
 * Return: false if jit_jobs_run() would find nothing.
 */
static inline bool jit_jobs_concern(const struct netlink_proc *proc)
{
	size_t i;

	for (i = 0; i < proc->ranges.count; i++)
		if (!proc->ranges.range[i].file)
			return true;
	return false;
}

int jit_jobs_run(const struct jit_jobs *jobs);
int jit_jobs_run_all(const struct table_maker *maker, jit_done_fn *done, void *arg, struct bee_error *error);

/* For a queue of its own */
void jit_jobs_look(const struct table_maker *maker, pid_t pid, FILE *out);
struct jit_result jit_jobs_result(const void *data, size_t size, const char *died);

#endif /* JIT_JOBS_H */
