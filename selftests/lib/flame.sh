# shellcheck shell=bash disable=SC2154  # beectl.sh sets what is not set here
# SPDX-License-Identifier: GPL-2.0
# Shared by the tests of beectl flame; source it after beectl.sh.  Makes $work/prog.
# shellcheck source=selftests/lib/formats.sh
. "$tree/selftests/lib/formats.sh"
need gcc nm objdump

export PYTHONPATH=$tree/selftests/lib PYTHONDONTWRITEBYTECODE=1 DEBUGINFOD_URLS=
cat >"$work/prog.c" <<'END'
#include <stdlib.h>
volatile int sink;
__attribute__((noinline, noreturn)) static void stop(void) { for (;;) sink++; }
__attribute__((noinline)) static void caller(void) { stop(); }
__attribute__((noinline)) static void after(void) { sink++; }
static inline __attribute__((always_inline)) void innermost(void) { sink += 3; }
static inline __attribute__((always_inline)) void middle(void) { innermost(); }
__attribute__((noinline)) void outer(void) { middle(); }
__attribute__((noinline)) void nesting(void)
{
	__attribute__((noinline)) void nested(void) { innermost(); }
	nested();
}
int main(int argc, char **argv)
{
	outer();
	nesting();
	if (argc > 1)
		after();
	caller();
}
END
cat >"$work/label.s" <<'END'
	.globl	label
label:
	nop
	ret
	.type	jumps, @function
jumps:	nop
jump:	jmp	target
	.size	jumps, . - jumps
	.type	target, @function
target:	ret
	.size	target, . - target
	.type	begin, @function
begin:	.cfi_startproc
	.cfi_undefined rip
	nop
	call	target
	hlt
	.cfi_endproc
	.size	begin, . - begin
	.section .note.GNU-stack,"",@progbits
END
gcc -O2 -g -fno-pie -no-pie -fno-reorder-functions -fno-ipa-icf -Wl,--build-id "$work/prog.c" "$work/label.s" -o "$work/prog" ||
	{ echo "Bail out! prog.c does not compile"; exit 1; }

# address SYMBOL: where it is
address() {
	nm "$work/prog" | sed -n "s/^0*\([0-9a-f]*\) . $1\$/0x\1/p"
}

# made CODE: write $work/made.data; CODE has r, a recording of process 7 with $work/prog mapped
made() {
	"$python" - "$work" <<-END
		import sys
		from perfdata import *
		work = sys.argv[1]
		r = Recording()
		r.comm(7, "prog")
		r.map(7, 0x400000, 0x10000, work + "/prog")
		$1
		r.write(work + "/made.data")
	END
}

# expect LINE...: the folded lines of made.data; options of flame are in $options
expect() {
	local options
	read -r -a options <<<"${options:-}"
	printf '%s\n' "$@" >"$work/expected"
	"$beectl" flame "$work/made.data" --format folded "${options[@]}" >"$work/folded" 2>"$work/errors" &&
		diff "$work/expected" "$work/folded" && diff /dev/null "$work/errors"
}

# Names with all that XML and JSON cannot have.
hostile() {
	made "r.comm(7, b'<&\"\\x27;\\n\\x1b\\xff\\xc3\\x28]]>'); r.map(7, 0x500000, 0x1000, b'/\\x01<b>&\\xed\\xa0\\x80/\\xef\\xbf\\xbf'); r.sample(7, [USER, 0x500020, $(address main) + 8])"
}

# until_there FILE PID: wait for a file; fails if the process ends before
until_there() {
	until [ -e "$1" ]; do
		kill -0 "$2" || return
		sleep 0.02
	done
}
