# SPDX-License-Identifier: GPL-2.0
# The frames that compilers make: push, allocate, frame pointer, epilogue twice.
	.text
	.globl	with_rbp
	.type	with_rbp, @function
with_rbp:
	.cfi_startproc
	push	%rbp
	.cfi_def_cfa_offset 16
	.cfi_offset rbp, -16
	mov	%rsp, %rbp
	.cfi_def_cfa_register rbp
	sub	$32, %rsp
	leave
	.cfi_def_cfa rsp, 8
	.cfi_restore rbp
	ret
	.cfi_endproc
	.size	with_rbp, .-with_rbp

	.p2align 4
	.globl	without_rbp
without_rbp:
	.cfi_startproc
	push	%rbx
	.cfi_def_cfa_offset 16
	.cfi_offset rbx, -16
	sub	$0x1000000, %rsp
	.cfi_adjust_cfa_offset 0x1000000
	test	%edi, %edi
	je	1f
	.cfi_remember_state
	add	$0x1000000, %rsp
	.cfi_adjust_cfa_offset -0x1000000
	pop	%rbx
	.cfi_adjust_cfa_offset -8
	ret
1:	.cfi_restore_state
	add	$0x1000000, %rsp
	.cfi_adjust_cfa_offset -0x1000000
	pop	%rbx
	.cfi_adjust_cfa_offset -8
	ret
	.cfi_endproc

# Pushed, but not yet at its final place: rbp at CFA-24.
	.p2align 4
	.globl	rbp_below
rbp_below:
	.cfi_startproc
	push	%r15
	.cfi_def_cfa_offset 16
	.cfi_offset r15, -16
	push	%rbp
	.cfi_def_cfa_offset 24
	.cfi_offset rbp, -24
	pop	%rbp
	.cfi_def_cfa_offset 16
	.cfi_same_value rbp
	pop	%r15
	.cfi_def_cfa_offset 8
	ret
	.cfi_endproc

# A realigned stack: the caller's stack pointer lives in r10, then in memory.
	.p2align 4
	.globl	realigned
realigned:
	.cfi_startproc
	lea	8(%rsp), %r10
	.cfi_def_cfa r10, 0
	and	$-32, %rsp
	push	-8(%r10)
	push	%rbp
	mov	%rsp, %rbp
	.cfi_escape 0x10, 6, 2, 0x76, 0		# rbp at breg6 0
	push	%r10
	.cfi_escape 0x0f, 3, 0x76, 0x78, 0x06	# CFA = breg6 -8; deref
	pop	%r10
	.cfi_def_cfa r10, 0
	pop	%rbp
	.cfi_restore rbp
	lea	-8(%r10), %rsp
	.cfi_def_cfa rsp, 8
	ret
	.cfi_endproc
	.section .note.GNU-stack, "", @progbits
