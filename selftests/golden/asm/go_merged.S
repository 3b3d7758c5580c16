# SPDX-License-Identifier: GPL-2.0
# The functions of go.S, with a table of another layout in another place.
	.set	FORM, 120
	.include "go.S"
