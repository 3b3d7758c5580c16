# SPDX-License-Identifier: GPL-2.0
# A function without CFI at the end of its section.  The fill between the sections has its last row.
	.text
	.cfi_startproc
	ret
	.cfi_endproc
	.section .second, "ax", @progbits
	.p2align 4
	push	%rax
	pop	%rax
	ret
	.section .third, "ax", @progbits
	.p2align 4
	.cfi_startproc
	.cfi_def_cfa_offset 24
	ret
	.cfi_endproc
	.section .note.GNU-stack, "", @progbits
