# SPDX-License-Identifier: GPL-2.0
# The slow path of a lock as glibc up to 2.19 has it: it lies behind the function, jumps back to it,
# and has an FDE of its own, which calls it a callee of the function.  Before and behind its call it
# says that it is a callee of itself at that call, where the 128 bytes of the red zone are skipped.
	.text
	.p2align 4
lock:
	.cfi_startproc
	sub	$24, %rsp
	.cfi_adjust_cfa_offset 24
	lock cmpxchg %esi, (%rdi)
	jnz	1f
6:	add	$24, %rsp
	.cfi_adjust_cfa_offset -24
	ret
	.cfi_endproc

	.p2align 4
1:
	.cfi_startproc simple
	.cfi_def_cfa rsp, -128
	.cfi_escape 0x16, 16, 2, 0x80, 4f-1b		# value rip + (4f-1b)
	lea	8(%rdi), %rdi
2:	.cfi_escape 0x16, 16, 2, 0x80, 4f-2b
	sub	$128, %rsp
3:	.cfi_def_cfa_offset 0
	.cfi_escape 0x16, 16, 2, 0x80, 4f-3b
	.byte	0xe8, 0, 0, 0				# call, up to its last byte
	.cfi_def_cfa_offset 128
	# value rip - 4f + 6b, as rip - 10128 + 10128 - (4f-6b): breg16; const4s; minus; const4s; plus
	.cfi_escape 0x16, 16, 14, 0x80, 0, 0x0d, 0x90, 0x27, 0, 0, 0x1c, 0x0d
	.cfi_escape 0x90 - (4f-6b), 0x27, 0, 0, 0x22
	.byte	0
4:	sub	$-128, %rsp
5:	.cfi_def_cfa_offset -128
	.cfi_escape 0x16, 16, 2, 0x80, (4b-5b) & 0x7f
	jmp	6b
	.cfi_endproc

# What only the return address can be, and an offset that does not fit.
	.p2align 4
other:
	.cfi_startproc
	.cfi_escape 0x0f, 2, 0x80, 8			# CFA = rip + 8
	nop
	.cfi_def_cfa rsp, 8
	.cfi_escape 0x16, 6, 2, 0x80, 8			# rbp = rip + 8
	nop
	.cfi_same_value rbp
	.cfi_escape 0x16, 7, 2, 0x80, 8			# rsp = rip + 8
	nop
	.cfi_escape 0x14, 7, 0				# rsp = CFA
	.cfi_escape 0x10, 16, 2, 0x80, 8		# RA at rip + 8
	nop
	.cfi_escape 0x16, 16, 6, 0x80, 0x80, 0x80, 0x80, 0x80, 0x08	# RA = rip + 2^31
	nop
	.cfi_escape 0x14, 16, 16			# RA = CFA - 128
	nop
	.cfi_endproc
	.section .note.GNU-stack, "", @progbits
