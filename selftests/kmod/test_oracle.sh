#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The module and libdw unwind the same samples: every address must be the same.
# BEE_ORACLE=full: more programs, and more samples of each; on the instrumented kernel fewer.
# once: 1
# timeout: 600
# shellcheck source=selftests/kmod/guest.sh
. "$(dirname "$0")/guest.sh"

sample=$TREE/build/selftests/oracle/sample
size=quick
[ "${BEE_KERNEL-}" != debug ] || size=debug
case ${BEE_ORACLE:-$size} in
full)
	samples=2500 seconds=120 share=99.9
	programs=(python3 perl git xz bash sqlite3 openssl cc1plus as clang postgres node java)
	;;
debug)
	# The module cannot walk through ld.so's resolver, which would have over 1 % of so few
	# samples: so bind functions at the start.
	export LD_BIND_NOW=1
	samples=200 seconds=60 share=99
	programs=(python3 git xz)
	;;
*)
	samples=150 seconds=120 share=99
	programs=(python3 perl git xz bash sqlite3 openssl as)
	;;
esac

# shellcheck source=selftests/system/oracle/programs.sh
. "$TREE/selftests/system/oracle/programs.sh"

# Run the program before, until a run needs no new table: while a file is compiled it has no table,
# and stacks through it are incomplete; and what is not ready when the program ends is given up.
warm_up() {
	local before

	for _ in 1 2 3 4 5; do
		before=$(guest_status tables)
		input_of "$1" | "$sample" --launcher --seconds "$seconds" --samples "$((samples / 2))" \
			--period 10000000 "$1" "$BEECTL" run -- "${command[@]}" >/dev/null 2>&1
		[ "$(guest_status tables)" != "$before" ] || return 0
	done
}

# No address differs, at least 100 samples could be compared, and at most one in 30 was taken while mappings changed.
compare() {
	local status=0 busy
	warm_up "$1"
	input_of "$1" | "$sample" --launcher --seconds "$seconds" --samples "$samples" "$1" \
		"$BEECTL" run -- "${command[@]}" >"$WORK/out" 2>"$WORK/err" || status=$?
	grep "^$1: samples " "$WORK/out" >>"$WORK/sums"
	busy=$(sed -n 's/.*, busy \([0-9]*\),.*/\1/p' "$WORK/out")
	if [ "$status" -eq 0 ] && [ "$((busy * 30))" -le "$samples" ] &&
		! grep -q " of [0-9]\{1,2\} comparable" "$WORK/out"; then
		return 0
	fi
	cat "$WORK/out" "$WORK/err"
	return 1
}

sysctl -q -w kernel.perf_event_max_stack=1024
guest_insmod || exit 1
compare_all "${programs[@]}"
