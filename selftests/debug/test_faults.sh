#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Memory runs out at each place where the module allocates: in turn for each request and
# each callback, while the module is being loaded, and by a list of all places.
# timeout: 900
# shellcheck source=selftests/kmod/guest.sh
. "$(dirname "$0")/../kmod/guest.sh"
here=$(cd "$(dirname "$0")" && pwd)
FAULT=$TREE/build/selftests/debug/fault_test
kinds="/sys/kernel/debug/failslab /sys/kernel/debug/fail_page_alloc"
export BEECTL

# faults PROBABILITY TIMES FIRST LAST VERBOSE: allocations with a return address in
# [FIRST, LAST) on the stack.
faults() {
	local kind

	for kind in $kinds; do
		echo 0 >"$kind/probability"
		echo "$2" >"$kind/times"
		printf '%#x\n' "$3" >"$kind/require-start" &&
			printf '%#x\n' "$4" >"$kind/require-end" || exit 1
		echo "$5" >"$kind/verbose"
		echo "$1" >"$kind/probability"
	done
}

set_up() {
	local kind

	for kind in $kinds; do
		echo N >"$kind/task-filter"
		echo 0 >"$kind/space"
		echo 1 >"$kind/interval"
		echo 32 >"$kind/stacktrace-depth"
		echo 0 >"$kind/verbose_ratelimit_interval_ms"
		echo N >"$kind/ignore-gfp-wait"
	done
	echo N >/sys/kernel/debug/fail_page_alloc/ignore-gfp-highmem
	echo 0 >/sys/kernel/debug/fail_page_alloc/min-order
	# The stack traces of the failures are for us, not for those who look for splats.
	dmesg -n 1
	export BEEUNWIND_CACHE=$WORK/cache
}

# How many failures are left of those that faults() allowed.
failures_left() {
	cat /sys/kernel/debug/failslab/times /sys/kernel/debug/fail_page_alloc/times |
		awk '{ n += $1 } END { print n }'
}

no_complaint() {
	dmesg >>"$WORK/load.log"
	grep -E 'BUG:|WARNING:|KASAN|UBSAN|INFO:|ODEBUG|refcount_t' "$WORK/load.log" >"$WORK/bad" ||
		return 0
	cat "$WORK/bad"
	return 1
}

# The whole area of modules: this is the only one.  Those of __GFP_NOWARN leave nothing in
# the log.
while_loading() {
	local n status left refused=0

	faults 0 1000 $((0xffffffffa0000000)) $((0xffffffffff000000)) 2
	dmesg -c >"$WORK/load.log"
	for n in $(seq 1 500); do
		left=$(failures_left)
		bash -c "echo $n >/proc/self/fail-nth && exec insmod $BEE_KO" 2>>"$WORK/load.err"
		status=$?
		dmesg -c >>"$WORK/load.log"
		[ "$status" -eq 0 ] || refused=$((refused + 1))
		[ ! -e /sys/module/beeunwind ] || rmmod beeunwind || return 1
		[ "$(failures_left)" -lt "$left" ] || break
	done
	faults 0 -1 0 0 0
	echo "# loading: $((n - 1)) allocations failed in turn, $refused times it was refused" >&3
	[ "$status" -eq 0 ] && [ "$n" -gt 10 ] && [ "$n" -lt 500 ] && [ "$refused" -gt 0 ]
}

# One place always, until it has failed twice.
fail_place() {
	local first left

	guest_insmod || return 1
	first=$(($(cat /sys/module/beeunwind/sections/.text) + $1))
	faults 100 2 "$first" $((first + 1)) 0
	"$FAULT" work >/dev/null 2>&1
	left=$(failures_left)
	faults 0 -1 0 0 0
	# By then everything must work again.
	"$BEECTL" status >/dev/null && rmmod beeunwind || return 1
	echo $((4 - left))
}

each_place() {
	local section offset place allocator hits missed=0 seen

	"$here/sites.py" seen "$BEE_KO" <"$WORK/load.log" >"$WORK/seen"
	"$here/sites.py" list "$BEE_KO" >"$WORK/sites"
	while read -r section offset place allocator; do
		seen="failed while loading"
		if ! grep -qxF "$place" "$WORK/seen"; then
			hits=0
			[ "$section" != .text ] || hits=$(fail_place $((offset))) || return 1
			seen="failed $hits times"
			[ "$hits" -gt 0 ] || { seen="NEVER FAILED"; missed=$((missed + 1)); }
		fi
		echo "# $place ($allocator): $seen" >&3
	done <"$WORK/sites"
	[ -s "$WORK/sites" ] && [ $missed -eq 0 ]
}

in_turn() {
	guest_insmod || return 1
	faults 0 -1 $((0xffffffffa0000000)) $((0xffffffffff000000)) 0
	"$FAULT" | tee "$WORK/turn" | sed -un 's/^\(not \)\{0,1\}ok [0-9]* /# \1/p' >&3
	local status=${PIPESTATUS[0]}
	[ "$status" -eq 0 ] || cat "$WORK/turn"
	rmmod beeunwind
	return "$status"
}

exec 3>&1
[ -e /proc/self/fail-nth ] || ktap_skip_all "this kernel has no fault injection"
set_up
ktap_plan 4
ktap_run "each allocation of each request and callback fails in turn" in_turn
ktap_run "each allocation of loading fails in turn" while_loading
ktap_run "every place that allocates has failed" each_place
ktap_run "nothing of that upset the kernel" no_complaint
dmesg -n 8
ktap_finish
