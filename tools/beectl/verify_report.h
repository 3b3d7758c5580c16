/* SPDX-License-Identifier: GPL-2.0 */
/* beectl verify: results of files, from child to parent and to people. */
#ifndef BEE_VERIFY_REPORT_H
#define BEE_VERIFY_REPORT_H

#include <stdio.h>

#include "compare.h"

/**
 * enum verify_status - what became of a file
 * @VERIFY_DONE: its table was compared
 * @VERIFY_NO_CFI: it has no CFI, and libdw agrees or there are differences
 * @VERIFY_SKIPPED: found in a directory, and no file to have a table
 * @VERIFY_FAILED: no comparison, or not of what was asked for
 */
enum verify_status {
	VERIFY_DONE,
	VERIFY_NO_CFI,
	VERIFY_SKIPPED,
	VERIFY_FAILED,
	/* private: */
	__VERIFY_STATUS_MAX,
};

/**
 * struct verify_outcome - the result of one file
 * @status: enum verify_status
 * @why: in a sentence, unless VERIFY_DONE
 * @result: the comparison
 * @names: a symbol for each range shown, or ""
 */
struct verify_outcome {
	enum verify_status	  status;
	char			  why[256];
	struct compare_result	  result;
	char			(*names)[96];
};

void verify_name_shown(const struct elf_file *elf, struct verify_outcome *outcome);
void verify_outcome_write(const struct verify_outcome *outcome, FILE *out);
int verify_outcome_read(struct verify_outcome *outcome, const void *data, size_t size);
void verify_outcome_free(struct verify_outcome *outcome);

struct verify_report;

struct verify_report *verify_report_new(bool json, bool verbose);
void verify_report_add(struct verify_report *report, const char *path,
		       const struct verify_outcome *outcome);
bool verify_report_end(struct verify_report *report);

#endif /* BEE_VERIFY_REPORT_H */
