// SPDX-License-Identifier: GPL-2.0
/* Functions shared by the programs that run in a guest. */
#include <stdio.h>
#include <stdlib.h>

#include "guest.h"

/** guest_die() - report @what failed and @why, and end the test */
void guest_die(const char *what, const char *why)
{
	printf("Bail out! %s: %s\n", what, why);
	exit(1);
}
