# SPDX-License-Identifier: GPL-2.0
# Expressions that say something a table can hold, in other words.
	.text
	.p2align 4
cfa_forms:
	.cfi_startproc
	.cfi_escape 0x0f, 2, 0x77, 8				# breg7 8
	nop
	.cfi_escape 0x0f, 4, 0x92, 12, 0x80, 1			# bregx r12 128
	nop
	.cfi_escape 0x0f, 5, 0x77, 8, 0x06, 0x23, 16		# breg7 8; deref; plus_uconst 16
	nop
	.cfi_escape 0x0f, 5, 0x76, 0x70, 0x06, 0x48, 0x22	# breg6 -16; deref; lit24; plus
	nop
	.cfi_escape 0x0f, 6, 0x7d, 0, 0x06, 0x08, 8, 0x1c	# breg13 0; deref; const1u 8; minus
	nop
	.cfi_escape 0x0f, 6, 0x11, 0x78, 0x77, 0, 0x22, 0x06	# consts -8; breg7 0; plus; deref
	nop
	.cfi_escape 0x0f, 4, 0x77, 8, 0x06, 0x06		# two dereferences
	nop
	.cfi_escape 0x0f, 1, 0x38				# lit8
	nop
	.cfi_endproc

	.p2align 4
fp_forms:
	.cfi_startproc
	.cfi_escape 0x10, 6, 2, 0x48, 0x1c		# saved at lit24; minus
	nop
	.cfi_escape 0x10, 6, 2, 0x7a, 8			# saved at breg10 8
	nop
	.cfi_escape 0x16, 6, 2, 0x7b, 0			# value breg11 0
	nop
	.cfi_escape 0x16, 6, 3, 0x77, 8, 0x06		# value *(rsp+8)
	nop
	.cfi_escape 0x16, 6, 2, 0x77, 8			# value rsp+8
	nop
	.cfi_escape 0x14, 6, 1				# value CFA-8 = rsp
	nop
	.cfi_escape 0x14, 6, 2				# value CFA-16 = rsp-8
	nop
	.cfi_escape 0x10, 6, 3, 0x77, 8, 0x06		# saved at *(rsp+8)
	nop
	.cfi_endproc

	.p2align 4
ra_forms:
	.cfi_startproc
	.cfi_escape 0x10, 16, 2, 0x77, 32		# saved at rsp+32
	nop
	.cfi_escape 0x16, 16, 2, 0x71, 0		# value rdx
	nop
	.cfi_escape 0x16, 16, 3, 0x40, 0x1c, 0x06	# value *(CFA-16)
	nop
	.cfi_escape 0x16, 16, 1, 0x30			# value 0
	nop
	.cfi_escape 0x08, 16				# same value
	nop
	.cfi_endproc

	.p2align 4
sp_forms:
	.cfi_startproc
	.cfi_escape 0x14, 7, 0				# value CFA
	nop
	.cfi_escape 0x16, 7, 2, 0x77, 8			# value rsp+8 = CFA
	nop
	.cfi_escape 0x16, 7, 2, 0x38, 0x1c		# value CFA-8
	nop
	.cfi_escape 0x08, 7				# same value, CFA = rsp+8
	nop
	.cfi_def_cfa_offset 0				# same value, CFA = rsp+0
	nop
	.cfi_endproc

# Offsets that fit 32 bits just so, or not.
	.p2align 4
offsets:
	.cfi_startproc
	.cfi_escape 0x0c, 7, 0xff, 0xff, 0xff, 0xff, 0x07	# 2^31 - 1
	nop
	.cfi_escape 0x0c, 7, 0x80, 0x80, 0x80, 0x80, 0x08	# 2^31
	nop
	.cfi_escape 0x12, 7, 0x80, 0x80, 0x80, 0x80, 0x01	# sf: -8 * 2^28
	nop
	.cfi_escape 0x12, 7, 0x81, 0x80, 0x80, 0x80, 0x01	# sf: -8 * (2^28 + 1)
	nop
	.cfi_escape 0x0c, 7, 8
	.cfi_escape 0x05, 6, 0x80, 0x80, 0x80, 0x80, 0x01	# rbp at CFA-2^31
	nop
	.cfi_escape 0x05, 6, 0x81, 0x80, 0x80, 0x80, 0x01
	nop
	.cfi_escape 0xc6					# restore rbp
	.cfi_escape 0x2f, 6, 3					# negative: CFA+24
	nop
	.cfi_endproc

# *(*(reg+n)+m)+k, where m is a word of the first sixteen.
	.p2align 4
fibers:
	.cfi_startproc
	.cfi_escape 0x0f, 8, 0x77, 56, 0x06, 0x23, 0, 0x06, 0x23, 16	# breg7 56; deref; 0; deref; 16
	nop
	.cfi_escape 0x0f, 8, 0x76, 0x78, 0x06, 0x23, 120, 0x06, 0x38, 0x1c	# -8; +120; lit8; minus
	nop
	.cfi_escape 0x0f, 6, 0x73, 0, 0x06, 0x23, 4, 0x06		# a half word
	nop
	.cfi_escape 0x0f, 7, 0x73, 0, 0x06, 0x23, 0x80, 1, 0x06	# the seventeenth word
	nop
	.cfi_escape 0x0f, 5, 0x73, 0, 0x06, 0x06, 0x06			# three dereferences
	nop
	.cfi_endproc
	.section .note.GNU-stack, "", @progbits
