/* SPDX-License-Identifier: GPL-2.0 */
/* Pin mapped files in a child process, as the process that has mapped them may make that wait. */
#ifndef PINNER_H
#define PINNER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "map_file.h"

/* The child is killed when it has not answered for so long, ms. */
#define PINNER_MS	1000

struct pinner;

struct pinner *pinner_open(void);
void pinner_close(struct pinner *pinner);

void pinner_ask(struct pinner *pinner, uint32_t id, const struct mapping *mapping);
size_t pinner_asked(const struct pinner *pinner);
int pinner_fd(const struct pinner *pinner);
int pinner_patience(const struct pinner *pinner);
bool pinner_take(struct pinner *pinner, uint32_t *id, int *pin);

#endif /* PINNER_H */
