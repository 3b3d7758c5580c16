#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Every instruction of the programs in selftests/programs: our tables and our step
# against the calls, returns and signals that were seen.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd -P)
tree=$(cd "$here/../.." && pwd -P)
# shellcheck source=selftests/ktap.sh
. "$tree/selftests/ktap.sh"

step=$tree/build/selftests/oracle/step
programs=$tree/build/selftests/programs
totals=$(mktemp)
trap 'rm -f "$totals" "$totals.out"' EXIT

# step_all COMMAND...: no wrong step, no caller made up where there is no row
step_all() {
	"$step" "$@" >"$totals.out" || { cat "$totals.out"; return 1; }
	tail -n 1 "$totals.out" >>"$totals"
	grep -q ': guessed 0 ' "$totals.out" && return
	cat "$totals.out"
	return 1
}

# Does ptrace work here at all?
make -s --no-print-directory -C "$here" >/dev/null
status=0
"$step" --limit 1 true >/dev/null 2>&1 || status=$?
[ "$status" -ne 2 ] || ktap_skip_all "no ptrace here"

mapfile -t built < <("$tree/selftests/programs/build.sh" '^(calls|signals|jumps|throw)[.]')
ktap_plan $((${#built[@]} + 2))
for name in "${built[@]}"; do
	case $name in
	*' # SKIP '*) ktap_skip "${name%% #*}" "${name#* # SKIP }" ;;
	*) ktap_run "$name" step_all --from-entry "$programs/$name" ;;
	esac
done
ktap_run "the dynamic linker" step_all /bin/true
ktap_run "bash, a shell in 40,000 instructions" \
	step_all --from-entry --limit 40000 bash -c 'for i in 1 2 3; do echo $((i * i)); done | cat'
ktap_diag "$(awk '{ for (i = 1; i < NF; i++) if ($(i + 1) + 0 == $(i + 1)) { if (!($i in sum)) name[++n] = $i; sum[$i] += $(i + 1) } }
	END { for (i = 1; i <= n; i++) printf "%s %d ", name[i], sum[name[i]] }' "$totals")"
ktap_finish
