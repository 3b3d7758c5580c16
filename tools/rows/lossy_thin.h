/* SPDX-License-Identifier: GPL-2.0 */
/* Tables without the shortest rows. */
#ifndef BEE_LOSSY_THIN_H
#define BEE_LOSSY_THIN_H

#include "lossy.h"

void lossy_thin(struct row_set *rows, unsigned int percent, struct lossy_report *report);

#endif /* BEE_LOSSY_THIN_H */
