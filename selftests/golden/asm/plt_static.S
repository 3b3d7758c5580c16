# SPDX-License-Identifier: GPL-2.0
# The PLT of a static program, which begins where the code with CFI ends.
	.text
	.cfi_startproc
	.fill	7, 1, 0x90
	ret
	.cfi_endproc
	jmp	*got(%rip)
	xchg	%ax, %ax
	jmp	*got(%rip)
	xchg	%ax, %ax
	mov	%rdi, (%rsi)
	.data
got:	.quad	0
	.section .note.GNU-stack, "", @progbits
