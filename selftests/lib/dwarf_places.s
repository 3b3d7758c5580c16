# SPDX-License-Identifier: GPL-2.0
# Functions wherever DWARF has them: at the top of a unit, in a namespace, in a type, in a type that is
# local to a function.  Into each a call of "callee" is inlined.  DWARF 4.
	.macro	function name
	.globl	\name
	.type	\name, @function
\name:	nop
	nop
	ret
\name\()_end:
	.size	\name, . - \name
	.endm
	.text
text:	function at_top
	function in_namespace
	function in_type
	function outside
	function in_local
text_end:
	.macro	die code, name
	.uleb128 \code
	.asciz	"\name"
	.endm
	.macro	function_die name, code=2
	die	\code, \name
	.quad	\name
	.quad	\name\()_end - \name
	.endm
	.macro	inlined name
	.uleb128 3
	.long	callee - info
	.quad	\name
	.quad	\name\()_end - \name
	.endm
	.macro	end
	.byte	0
	.endm
	.section .debug_info,"",@progbits
info:	.long	info_end - 1f
1:	.value	4
	.long	abbrev
	.byte	8
	die	1, unit
	.quad	text
	.quad	text_end - text
callee:	die	6, callee
	die	4, space
	die	5, type
	function_die in_type
	inlined	in_type
	end
	end
	function_die in_namespace
	inlined	in_namespace
	end
	end
	function_die at_top
	inlined	at_top
	end
	function_die outside
	die	5, local
	function_die in_local
	inlined	in_local
	end
	end
	inlined outside
	end
	end
info_end:
	.section .debug_abbrev,"",@progbits
abbrev:
	# unit, function: name, low_pc, high_pc (data8); inlined call: origin (ref4), low_pc, high_pc
	.uleb128 1; .uleb128 0x11; .byte 1; .uleb128 0x3,0x8, 0x11,0x1, 0x12,0x7; .byte 0,0
	.uleb128 2; .uleb128 0x2e; .byte 1; .uleb128 0x3,0x8, 0x11,0x1, 0x12,0x7; .byte 0,0
	.uleb128 3; .uleb128 0x1d; .byte 0; .uleb128 0x31,0x13, 0x11,0x1, 0x12,0x7; .byte 0,0
	# namespace, type, function without addresses: name
	.uleb128 4; .uleb128 0x39; .byte 1; .uleb128 0x3,0x8; .byte 0,0
	.uleb128 5; .uleb128 0x13; .byte 1; .uleb128 0x3,0x8; .byte 0,0
	.uleb128 6; .uleb128 0x2e; .byte 0; .uleb128 0x3,0x8; .byte 0,0
	.byte	0
	.section .note.GNU-stack,"",@progbits
