#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Callers at every instruction of the programs in selftests/fixtures/programs, found with our
# tables and our step and compared with the calls, returns and signals that were executed.  In a
# guest (BEE_KO is set), where ptrace is slow, only some programs.  BEE_ORACLE=full: all of them, and
# hand-written assembly of libraries.
# timeout: 900
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd -P)
tree=$(cd "$here/../.." && pwd -P)
# shellcheck source=selftests/ktap.sh
. "$tree/selftests/ktap.sh"

step=$tree/build/selftests/oracle/step
programs=$tree/build/selftests/programs
totals=$(mktemp)
trap 'rm -f "$totals" "$totals.out" "$totals.built"' EXIT

# step_all COMMAND...: no wrong answer, and no "guessed" one where there is no row
step_all() {
	"$step" "$@" >"$totals.out" || { cat "$totals.out"; return 1; }
	tail -n 1 "$totals.out" >>"$totals"
	grep -q ': guessed 0 ' "$totals.out" && return
	cat "$totals.out"
	return 1
}

# covered COMMAND...: COMMAND's steps are right, and no instruction is without a caller
covered() {
	step_all "$@" || return
	grep -q ' uncovered 0$' "$totals.out" && return
	cat "$totals.out"
	return 1
}

# no_library ARGUMENT...: the fixture "assembly" says so
no_library() {
	"$step" --from-trap --limit 1 "$programs/assembly" "$@" 2>/dev/null | grep -q 'wait status 0x4d00$'
}

# The fixtures that can be built and are wanted; in a guest they are built already.
if [ -z "${BEE_KO:-}" ]; then
	make -s --no-print-directory -C "$here/oracle" >/dev/null
	"$tree/selftests/fixtures/programs/build.sh" >"$totals.built" || exit 1
else
	cp "$programs/list" "$totals.built"
fi
wanted='^(calls|signals|handlers|jumps|throw|stdio)[.]' limit=1000000
if [ "${BEE_ORACLE:-quick}" = full ]; then
	:
elif [ -z "${BEE_KO:-}" ]; then
	# Of the compilers' levels two, and one that optimises for size.
	wanted='^(calls[.](gcc-O[02s]|clang-O[02]|[^gc]|cet)|(signals|handlers|jumps|throw|stdio)[.])'
else
	wanted='^(calls.(lazy|cet|musl|nocfi)|(signals|jumps).(clang-O2|musl)|handlers.musl)( |$)' limit=15000
fi
mapfile -t built <<<"$(grep -E "$wanted" "$totals.built")"

# "step" exits with 4 where ptrace is refused.
status=0
why=$("$step" --limit 1 true 2>&1) || status=$?
[ "$status" -ne 4 ] || ktap_skip_all "$why"

libraries=()
if [ "${BEE_ORACLE:-quick}" = full ] && [ -z "${BEE_KO:-}" ]; then
	libraries=(gmp crypto x264 swscale blas dav1d)
	gcc -O2 -o "$programs/assembly" "$tree/selftests/fixtures/programs/assembly.c"
	ffmpeg -v error -y -f lavfi -i testsrc2=s=64x64 -frames:v 3 -c:v libaom-av1 -cpu-used 8 \
		"$programs/assembly.ivf" 2>/dev/null || rm -f "$programs/assembly.ivf"
fi

ktap_plan $((${#built[@]} + ${#libraries[@]} + 2))
for name in "${built[@]}"; do
	case $name in
	*' # SKIP '*) ktap_skip "steps of ${name%% #*} are right" "${name#* # SKIP }" ;;
	calls.lazy | calls.nocfi* | stdio.nocfi | stdio.retpoline*)
		ktap_run "steps of $name are right" covered --from-entry "$programs/$name"
		;;
	*) ktap_run "steps of $name are right" step_all --from-entry "$programs/$name" ;;
	esac
done
ktap_run "steps through the dynamic linker are right" covered --limit "$limit" /bin/true
ktap_run "steps through bash are right" \
	step_all --from-entry --limit "$((limit < 40000 ? limit : 40000))" bash -c 'for i in 1 2 3; do echo $((i * i)); done | cat'
for name in "${libraries[@]}"; do
	if no_library "$name" "$programs/assembly.ivf"; then
		ktap_skip "steps through assembly of $name are right" \
			"no such library here, or for dav1d no ffmpeg"
	else
		ktap_run "steps through assembly of $name are right" \
			step_all --from-trap --limit 1000000 "$programs/assembly" \
			"$name" "$programs/assembly.ivf"
	fi
done
ktap_diag "$(awk '{ for (i = 1; i < NF; i++) if ($(i + 1) + 0 == $(i + 1)) { if (!($i in sum)) name[++n] = $i; sum[$i] += $(i + 1) } }
	END { for (i = 1; i <= n; i++) printf "%s %d ", name[i], sum[name[i]] }' "$totals")"
ktap_finish
