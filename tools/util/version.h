/* SPDX-License-Identifier: GPL-2.0 */
/* The version of beectl.  Documentation/install.rst lists the other places that have it. */
#ifndef BEE_VERSION_H
#define BEE_VERSION_H

#define BEE_VERSION	"0.1.0"

#endif /* BEE_VERSION_H */
