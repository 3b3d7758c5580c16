# SPDX-License-Identifier: GPL-2.0
# PLTs of lld and mold, and of static programs, which have no CFI for them, and the end of Boost.Context's fibers.
	.macro lld_entry number
	jmp	*got(%rip)
	push	$0x1000000+\number
	.byte	0xe9
	.long	0
	.endm
	.macro mold_entry number
	endbr64
	.byte	0x41, 0xbb
	.long	\number
	jmp	*got(%rip)
	.endm
	.macro retpoline first
	.byte	0xf3, 0x90, 0x0f, 0xae, 0xe8, 0xeb, 0xf9
	.fill	\first, 1, 0xcc
	mov	%r11, (%rsp)
	ret
	.p2align 4, 0xcc
	.endm

	.text
	.cfi_startproc
	ret
	.cfi_endproc

	.section .lld, "ax", @progbits
	.p2align 4
	push	got(%rip)
	jmp	*got(%rip)
	.byte	0x0f, 0x1f, 0x40, 0
	lld_entry 0
	lld_entry 1

	.section .mold, "ax", @progbits
	.p2align 4
	endbr64
	push	%r11
	push	got(%rip)
	jmp	*got(%rip)
	.p2align 4, 0xcc
	mold_entry 0
	mold_entry 1

	.section .retpoline, "ax", @progbits
	.p2align 4
	push	got(%rip)
	mov	got(%rip), %r11
	.byte	0xe8, 0x0e, 0, 0, 0
	retpoline 7
	mov	got(%rip), %r11
	.byte	0xe8, 0xe4, 0xff, 0xff, 0xff
	.byte	0xe9, 0xd1, 0xff, 0xff, 0xff
	push	$0x1000000
	.byte	0xe9, 0xb5, 0xff, 0xff, 0xff
	.p2align 4, 0xcc

	.section .retpoline_now, "ax", @progbits
	.p2align 4
	.byte	0xe8, 0x0b, 0, 0, 0
	retpoline 4
	mov	got(%rip), %r11
	.byte	0xe9, 0xd4, 0xff, 0xff, 0xff
	.p2align 4, 0xcc

	.section .static, "ax", @progbits
	.p2align 4
	.fill	2, 1, 0
	.p2align 3, 0
	jmp	*got(%rip)
	xchg	%ax, %ax
	jmp	*got(%rip)
	xchg	%ax, %ax
	mov	%rdi, (%rsi)
	.fill	5, 1, 0x90
	endbr64
	jmp	*got(%rip)
	.byte	0x66, 0x0f, 0x1f, 0x44, 0, 0
	endbr64
	bnd jmp	*got(%rip)
	.byte	0x0f, 0x1f, 0x44, 0, 0

	.section .fiber, "ax", @progbits
	.p2align 4
	mov	%rdi, (%rsi)
	ret
	push	%rbp
	jmp	*%rbx
	xor	%rdi, %rdi
	call	last
	hlt
	.p2align 4
last:
	.cfi_startproc
	ret
	.cfi_endproc
	.data
got:	.quad	0
	.section .note.GNU-stack, "", @progbits
