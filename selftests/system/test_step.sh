#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Callers at every instruction of the programs in selftests/fixtures/programs, found with our
# tables and our step and compared with the calls, returns and signals that were executed.  In a
# guest (BEE_KO is set), where ptrace is slow, only some programs.  BEE_ORACLE=full: all of them.
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

# covered COMMAND...: the same, and no instruction without a caller
covered() {
	step_all "$@" || return
	grep -q ' uncovered 0$' "$totals.out" && return
	cat "$totals.out"
	return 1
}

# The fixtures that can be built and are wanted; in a guest they are built already.
if [ -z "${BEE_KO:-}" ]; then
	make -s --no-print-directory -C "$here/oracle" >/dev/null
	"$tree/selftests/fixtures/programs/build.sh" >"$totals.built"
else
	cp "$programs/list" "$totals.built"
fi
wanted='^(calls|signals|jumps|throw)[.]' limit=1000000
if [ "${BEE_ORACLE:-quick}" = full ]; then
	:
elif [ -z "${BEE_KO:-}" ]; then
	# Of the compilers' levels two, and one that optimises for size.
	wanted='^(calls[.](gcc-O[02s]|clang-O[02]|[^gc]|cet)|(signals|jumps|throw)[.])'
else
	wanted='^(calls.(lazy|cet|musl|nocfi)|(signals|jumps).(clang-O2|musl))( |$)' limit=15000
fi
mapfile -t built <<<"$(grep -E "$wanted" "$totals.built")"

# "step" exits with 2 where ptrace does not work.
status=0
"$step" --limit 1 true >/dev/null 2>&1 || status=$?
[ "$status" -ne 2 ] || ktap_skip_all "no ptrace here"

ktap_plan $((${#built[@]} + 2))
for name in "${built[@]}"; do
	case $name in
	*' # SKIP '*) ktap_skip "${name%% #*}" "${name#* # SKIP }" ;;
	calls.lazy | calls.nocfi*) ktap_run "$name" covered --from-entry "$programs/$name" ;;
	*) ktap_run "$name" step_all --from-entry "$programs/$name" ;;
	esac
done
ktap_run "the dynamic linker" covered --limit "$limit" /bin/true
ktap_run "bash, a shell" \
	step_all --from-entry --limit "$((limit < 40000 ? limit : 40000))" bash -c 'for i in 1 2 3; do echo $((i * i)); done | cat'
ktap_diag "$(awk '{ for (i = 1; i < NF; i++) if ($(i + 1) + 0 == $(i + 1)) { if (!($i in sum)) name[++n] = $i; sum[$i] += $(i + 1) } }
	END { for (i = 1; i <= n; i++) printf "%s %d ", name[i], sum[name[i]] }' "$totals")"
ktap_finish
