/* SPDX-License-Identifier: GPL-2.0 */
/* The module that was built with this beectl. */
#ifndef OWN_MODULE_H
#define OWN_MODULE_H

#include "error.h"

int own_module_load(struct bee_error *error);

#endif /* OWN_MODULE_H */
