/* SPDX-License-Identifier: GPL-2.0 */
/* Files of the layers below overlayfs. */
#ifndef LAYERS_H
#define LAYERS_H

#include <stdbool.h>

#include "map_file.h"

bool layers_search(const struct mapping *mapping, bool (*take)(void *arg, int pin), void *arg);

#endif /* LAYERS_H */
