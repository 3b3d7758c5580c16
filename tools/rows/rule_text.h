/* SPDX-License-Identifier: GPL-2.0 */
/* Rules as text. */
#ifndef BEE_RULE_TEXT_H
#define BEE_RULE_TEXT_H

#include "kmod/table.h"

#define RULE_TEXT_MAX	160

const char *rule_reason(u8 reason);
const char *rule_format(const struct bee_rule *rule, char text[RULE_TEXT_MAX]);

#endif /* BEE_RULE_TEXT_H */
