# SPDX-License-Identifier: GPL-2.0
# The functions of go.S, in a file of which only struct moduledata says where text begins.
	.set	FORM, 126
	.include "go.S"
