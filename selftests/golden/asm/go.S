# SPDX-License-Identifier: GPL-2.0
# Go's function table, and code as Go's compiler and assembler make it.  FORM 118: the layout since
# Go 1.18, in a section of its own; 120: since 1.20, somewhere in .data.rel.ro; 126: since 1.26,
# where only struct moduledata says where text begins.
	.ifndef	FORM
	.set	FORM, 118
	.endif

	.text
text:
	.cfi_startproc			# a function of C
	push	%rbx
	.cfi_def_cfa_offset 16
	pop	%rbx
	.cfi_def_cfa_offset 8
	ret
	.cfi_endproc
	.p2align 5, 0xcc

# Prologue and epilogue since Go 1.21.
pushing:
	cmp	16(%r14), %rsp
	jbe	.Lpushing_more
	push	%rbp
.Lpushing_1:
	mov	%rsp, %rbp
	sub	$24, %rsp
.Lpushing_2:
	call	*%rax
	add	$24, %rsp
.Lpushing_3:
	pop	%rbp
.Lpushing_4:
	ret
.Lpushing_more:
	call	*%rdx
	jmp	pushing
.Lpushing_5:
	.p2align 5, 0xcc

# Before that.
storing:
	sub	$24, %rsp
.Lstoring_1:
	mov	%rbp, 16(%rsp)
	lea	16(%rsp), %rbp
	call	*%rax
	mov	16(%rsp), %rbp
	add	$24, %rsp
.Lstoring_2:
	ret
.Lstoring_3:
	sub	$24, %rsp		# code behind a return is again at the depth of the body
	ud2
.Lstoring_4:
	.p2align 5, 0xcc

storing_far:
	sub	$4096, %rsp
.Lstoring_far_1:
	mov	%rbp, 4088(%rsp)
	lea	4088(%rsp), %rbp
	ud2
.Lstoring_far_2:
	.p2align 5, 0xcc

storing_near:
	sub	$8, %rsp
.Lstoring_near_1:
	mov	%rbp, (%rsp)
	lea	(%rsp), %rbp
	ud2
.Lstoring_near_2:
	.p2align 5, 0xcc

# Assembly that leaves rbp alone, though one of its bytes is that of "push %rbp".
other:
	push	%r13
.Lother_1:
	mov	%rsp, %rbp
	sub	$24, %rsp
.Lother_2:
	mov	%rbp, 8(%rsp)
	ud2
.Lother_3:
	.p2align 5, 0xcc

leaf:
	xor	%eax, %eax
	ret
.Lleaf_1:
	.p2align 5, 0xcc

goexit:
	nop
	call	leaf
	nop
.Lgoexit_1:
	.p2align 5, 0xcc

# Its caller is on another stack once rsp is written.
systemstack:
	mov	8(%rsp), %rdi
	mov	(%rsp), %r12
	mov	%rdx, %rsp
	call	*%rdi
	ret
.Lsystemstack_1:
	.p2align 5, 0xcc

# It does not return, so it has no caller from then on.
mcall:
	mov	(%rsp), %rbx
	mov	56(%r14), %rsp
	push	%rax
	call	*%r12
	ud2
.Lmcall_1:
	.p2align 5, 0xcc

# Go says that it has no caller.
sigtramp:
	sub	$48, %rsp
.Lsigtramp_1:
	mov	%rbp, 40(%rsp)
	lea	40(%rsp), %rbp
	call	*%rax
	add	$48, %rsp
.Lsigtramp_2:
	ret
.Lsigtramp_3:
	.p2align 5, 0xcc

# Its caller has been interrupted.
preempt:
	push	%rbp
.Lpreempt_1:
	mov	%rsp, %rbp
	ud2
.Lpreempt_2:
	.p2align 5, 0xcc

sigreturn:
	mov	$15, %rax
	syscall
	int3
.Lsigreturn_1:
	.p2align 5, 0xcc

# Its values are malformed; its rows are made from its code.
malformed:
	push	%rbx
	pop	%rbx
	ret
	.p2align 5, 0xcc

# It has no values.
bare:
	ret
	.p2align 5, 0xcc

# A depth that cannot be.
odd:
	nop
.Lodd_1:
	nop
.Lodd_2:
	ret
.Lodd_3:
	.p2align 5, 0xcc

# It returns to its caller; the thread that it makes has none.
clone:
	mov	$56, %eax
	syscall
	cmp	$0, %rax
	je	.Lclone_child
	mov	%eax, 40(%rsp)
	ret
.Lclone_child:
	mov	%rsi, %rsp
	call	*%r12
	ud2
.Lclone_1:
	.p2align 5, 0xcc
.Lend:

# start FUNCTION, then pcsp DEPTH, UNTIL for each range of pcs: differences from the last, from -1
	.macro	start function
	.set	pc, \function
	.set	depth, -1
	.endm
	.macro	pcsp value, until
	.if	\value >= depth
	.uleb128 2 * (\value - depth)
	.else
	.uleb128 2 * (depth - \value) - 1
	.endif
	.uleb128 \until - pc
	.set	pc, \until
	.set	depth, \value
	.endm

	.if	FORM == 126
	.section .go.module, "aw"
	.quad	table			# pcHeader
	.fill	19, 8, 0
	.quad	pushing, .Lend		# minpc, maxpc
	.quad	text
	.endif
	.if	FORM != 120
	.section .gopclntab, "aw"
	.else
	.section .go.buildinfo, "aw"
	.quad	0
	.section .data.rel.ro, "aw"
	.quad	0xfffffff1, 0, 0
	.endif
	.p2align 5
table:
	.if	FORM == 118
	.long	0xfffffff0
	.else
	.long	0xfffffff1
	.endif
	.byte	0, 0, 1, 8		# quantum, size of a pointer
	.quad	16, 1			# functions, files
	.if	FORM == 118
	.quad	0x1000			# as in a file at a fixed address
	.elseif	FORM == 120
	.quad	text			# relocated
	.else
	.quad	0
	.endif
	.quad	names - table, files - table, files - table, pctab - table, funcs - table
names:
.Lname:			.asciz	"main.main"
.Lname_clone:		.asciz	"runtime.clone"
.Lname_goexit:		.asciz	"runtime.goexit"
.Lname_mcall:		.asciz	"runtime.mcall"
.Lname_preempt:		.asciz	"runtime.asyncPreempt"
.Lname_sigtramp:	.asciz	"runtime.sigtramp"
files:
	.byte	0
pctab:
	.byte	0
.Lpcsp_pushing:
	start	pushing
	pcsp	0, .Lpushing_1
	pcsp	8, .Lpushing_2
	pcsp	32, .Lpushing_3
	pcsp	8, .Lpushing_4
	pcsp	0, .Lpushing_5
	.byte	0
.Lpcsp_storing:
	start	storing
	pcsp	0, .Lstoring_1
	pcsp	24, .Lstoring_2
	pcsp	0, .Lstoring_3
	pcsp	24, .Lstoring_4
	.byte	0
.Lpcsp_storing_far:
	start	storing_far
	pcsp	0, .Lstoring_far_1
	pcsp	4096, .Lstoring_far_2
	.byte	0
.Lpcsp_storing_near:
	start	storing_near
	pcsp	0, .Lstoring_near_1
	pcsp	8, .Lstoring_near_2
	.byte	0
.Lpcsp_other:
	start	other
	pcsp	0, .Lother_1
	pcsp	8, .Lother_2
	pcsp	32, .Lother_3
	.byte	0
.Lpcsp_leaf:
	start	leaf
	pcsp	0, .Lleaf_1
	.byte	0
.Lpcsp_goexit:
	start	goexit
	pcsp	0, .Lgoexit_1
	.byte	0
.Lpcsp_systemstack:
	start	systemstack
	pcsp	0, .Lsystemstack_1
	.byte	0
.Lpcsp_mcall:
	start	mcall
	pcsp	0, .Lmcall_1
	.byte	0
.Lpcsp_sigtramp:
	start	sigtramp
	pcsp	0, .Lsigtramp_1
	pcsp	48, .Lsigtramp_2
	pcsp	0, .Lsigtramp_3
	.byte	0
.Lpcsp_preempt:
	start	preempt
	pcsp	0, .Lpreempt_1
	pcsp	8, .Lpreempt_2
	.byte	0
.Lpcsp_sigreturn:
	start	sigreturn
	pcsp	0, .Lsigreturn_1
	.byte	0
.Lpcsp_malformed:
	.uleb128 2, 1000		# more bytes than up to the next function
	.byte	0
.Lpcsp_odd:
	start	odd
	pcsp	0, .Lodd_1
	pcsp	4, .Lodd_2
	pcsp	-8, .Lodd_3
	.byte	0
.Lpcsp_clone:
	start	clone
	pcsp	0, .Lclone_1
	.byte	0
	.p2align 3
funcs:
	.irp	function, pushing, storing, storing_far, storing_near, other, leaf, goexit, systemstack, mcall, sigtramp, preempt, sigreturn, malformed, bare, odd, clone
	.long	\function - text, .Lfunc_\function - funcs
	.endr
	.long	.Lend - text, 0		# an empty function, and the end
	.long	.Lend - text

# func FUNCTION, NAME, VALUES, FLAGS
	.macro	func function, name, pcsp, flags
.Lfunc_\function:
	.long	\function - text, \name - names, 0, 0, \pcsp - pctab, 0, 0, 0, 0
	.if	FORM >= 120
	.long	1			# startLine
	.endif
	.byte	0, \flags, 0, 0
	.endm
	func	pushing, .Lname, .Lpcsp_pushing, 0
	func	storing, .Lname, .Lpcsp_storing, 0
	func	storing_far, .Lname, .Lpcsp_storing_far, 0
	func	storing_near, .Lname, .Lpcsp_storing_near, 0
	func	other, .Lname, .Lpcsp_other, 4
	func	leaf, .Lname, .Lpcsp_leaf, 0
	func	goexit, .Lname_goexit, .Lpcsp_goexit, 5
	func	systemstack, .Lname, .Lpcsp_systemstack, 6
	func	mcall, .Lname_mcall, .Lpcsp_mcall, 6
	func	sigtramp, .Lname_sigtramp, .Lpcsp_sigtramp, 5
	func	preempt, .Lname_preempt, .Lpcsp_preempt, 4
	func	sigreturn, .Lname, .Lpcsp_sigreturn, 4
	func	malformed, .Lname, .Lpcsp_malformed, 0
	func	bare, .Lname, pctab, 0
	func	odd, .Lname, .Lpcsp_odd, 0
	func	clone, .Lname_clone, .Lpcsp_clone, 2

# What Go's .debug_frame would say of goexit() and malformed(): not used.
	.section .debug_frame, "", @progbits
	.long	.Lcie_end - .Lcie
.Lcie:	.long	0xffffffff
	.byte	3, 0, 1, 0x78, 16, 0x0c, 7, 8, 0x90, 1, 0, 0
.Lcie_end:
	.long	.Lfde_end - .Lfde
.Lfde:	.long	0
	.quad	0x1000 + goexit - text, .Lgoexit_1 - goexit
.Lfde_end:
	.long	.Lfde2_end - .Lfde2
.Lfde2:	.long	0
	.quad	0x1000 + malformed - text, 3
.Lfde2_end:
