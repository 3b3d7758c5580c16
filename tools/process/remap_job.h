/* SPDX-License-Identifier: GPL-2.0 */
/* Give text that a process has remapped into memory without a file the table of its file. */
#ifndef REMAP_JOB_H
#define REMAP_JOB_H

#include "jit_result.h"
#include "maps.h"
#include "memory.h"
#include "table_jobs.h"

int remap_job_lay(const struct table_maker *maker, struct netlink *nl, struct netlink_proc *proc,
		  const struct maps *maps, struct memory *memory, int64_t end,
		  struct jit_result *result);

#endif /* REMAP_JOB_H */
