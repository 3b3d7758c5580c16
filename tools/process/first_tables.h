/* SPDX-License-Identifier: GPL-2.0 */
/* The tables that a program gets before it begins. */
#ifndef FIRST_TABLES_H
#define FIRST_TABLES_H

#include "table_jobs.h"

/*
 * Bytes of files whose tables are compiled before the program begins, if the cache does not have
 * them: about a tenth of a second's work.
 */
#define FIRST_TABLES_CHEAP	(16 << 20)

int first_tables_make(const struct table_maker *maker, const struct table_wants *wants);

#endif /* FIRST_TABLES_H */
