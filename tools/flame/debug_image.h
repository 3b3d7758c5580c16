/* SPDX-License-Identifier: GPL-2.0 */
/* ELF files whose debug sections are inflated, as far as they are read. */
#ifndef DEBUG_IMAGE_H
#define DEBUG_IMAGE_H

int debug_image_open(int fd);

#endif /* DEBUG_IMAGE_H */
