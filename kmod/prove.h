/* SPDX-License-Identifier: GPL-2.0 */
/* The proof, at load, that hooks are called and find what they expect. */
#ifndef BEE_PROVE_H
#define BEE_PROVE_H

#include <linux/types.h>

struct vm_area_struct;

int bee_prove(void);
void bee_prove_mapping(unsigned long start, unsigned long end);
bool bee_prove_vma(const struct vm_area_struct *vma);
bool bee_prove_unmap(const struct vm_area_struct *vma, unsigned long start, unsigned long end);

#endif /* BEE_PROVE_H */
