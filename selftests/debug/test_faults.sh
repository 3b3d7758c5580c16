#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Memory runs out at each place where the module allocates: in turn for each request, while the module is being
# loaded, and by a list of all places.
# timeout: 900
# shellcheck source=selftests/kmod/guest.sh
. "$(dirname "$0")/../kmod/guest.sh"
here=$(cd "$(dirname "$0")" && pwd)
FAULT=$here/faults.py
kinds="/sys/kernel/debug/failslab /sys/kernel/debug/fail_page_alloc"
BEE_TEST_KO=${BEE_TEST_KO:-$TREE/build/test-modules/$(uname -r)}
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
	# Keep the stack traces of injected failures off the console, where splats are looked for.
	dmesg -n 1
	export BEEUNWIND_CACHE=$WORK/cache
}

# log_to NAME: write the kernel's messages from now on to $WORK/NAME.log, until log_end.
log_to() {
	log=$WORK/$1.log
	dmesg -C
	dmesg -w >"$log" &
	log_pid=$!
}

# Wait until every message that the kernel has printed so far is in the log.
log_sync() {
	local mark=mark-$BASHPID-$EPOCHREALTIME

	echo "$mark" >/dev/kmsg
	guest_wait grep -qF "$mark" "$log"
}

log_end() {
	log_sync
	kill "$log_pid"
}

# faults_below FUNCTION PROBABILITY: allocations below a function of the kernel, which ends where
# the next symbol of /proc/kallsyms begins.  If the compiler has split off FUNCTION.part.N, that
# part makes the allocations, so its range is taken.
faults_below() {
	local range part

	part=$(awk -v name="$1.part." 'index($3, name) == 1 { print $3; exit }' /proc/kallsyms)
	mapfile -t range <<<"$(awk -v name="${part:-$1}" '
		$3 == name && !first { first = $1; print "0x" $1 }
		first && $1 != first { print "0x" $1; exit }' /proc/kallsyms)"
	[ ${#range[@]} -eq 2 ] || { echo "no function $1"; exit 1; }
	faults "$2" -1 "${range[0]}" "${range[1]}" 2
}

in_turn() {
	local status

	guest_insmod || return 1
	log_to turn
	# The whole address range of modules; no other module is loaded.
	faults 0 -1 $((0xffffffffa0000000)) $((0xffffffffff000000)) 2
	"$FAULT" | tee "$WORK/turn" | sed -un 's/^\(not \)\{0,1\}ok [0-9]* /# \1/p' >&3
	status=${PIPESTATUS[0]}
	faults 0 -1 0 0 0
	log_end
	[ "$status" -eq 0 ] || cat "$WORK/turn"
	rmmod beeunwind
	return "$status"
}

# load_once N [HOOKS]: load the module while the Nth allocation fails.  Sets error (an errno, or 0)
# and left, how many more allocations had to succeed before the one to fail (0: it has failed).
# With HOOKS: so many functions must be hooked if the module was loaded, and none if it was refused.
load_once() {
	local hooked

	read -r error left <<<"$("$FAULT" load "$BEE_KO" "$1")"
	hooked=$(wc -l </sys/kernel/tracing/enabled_functions)
	[ $# -lt 2 ] || [ "$hooked" -eq "$((error ? 0 : $2))" ] ||
		{ echo "allocation $1: error $error, $hooked functions hooked"; return 1; }
	[ ! -e /sys/module/beeunwind ] || rmmod beeunwind || return 1
	[ "$error" -eq 0 ] || [ "$error" -eq 12 ] || { echo "allocation $1: error $error"; return 1; }
}

# loading_fails FUNCTION [SET]: the module is loaded while the first, then the second, ...
# allocation below a function of the kernel fails.  SET: the faults are set already.
loading_fails() {
	local n=0 refused=0

	[ $# -gt 1 ] || faults_below "$1" 0
	while n=$((n + 1)); do
		load_once "$n" || return 1
		[ "$left" -eq 0 ] || break
		[ "$error" -eq 0 ] || refused=$((refused + 1))
		[ "$n" -lt 6 ] || break
	done
	faults 0 -1 0 0 0
	echo "# loading: $1: $((left ? n - 1 : n)) allocations failed in turn, $refused times it was refused" >&3
	[ "$refused" -gt 0 ]
}

# How many different functions the module could not hook so far, by its messages.
hooks_refused() {
	log_sync
	sed -n 's/.*cannot hook \([a-z_]*\): .*(-12)$/\1/p' "$WORK/load.log" | sort -u | wc -l
}

# placing_fails FUNCTION [one]: each allocation that the kernel makes below FUNCTION while it places
# the module's hooks fails in turn; with "one", only so many as for one hook.  load_once() judges.
# add_hash_entry() allocates the entry of a hook's ftrace filter.  Without it the filter is empty,
# which means all functions, and ftrace reports no error: the module must notice, so every hook must
# have been refused in the end.  The slab allocator now and then allocates for itself below
# add_hash_entry() too, so the numbers differ from load to load: hence up to five rounds.
# register_ftrace_function() allocates a trampoline, and ftrace works without it: no hook need be
# refused, and one hook's allocations are enough.
placing_fails() {
	local n all hooks refused round

	guest_insmod && hooks=$(wc -l </sys/kernel/tracing/enabled_functions) && rmmod beeunwind &&
		[ "$hooks" -ge 3 ] || return 1
	faults_below "$1" 0
	load_once 10000 || return 1
	all=$((10000 - left))
	[ $# -eq 1 ] || all=$((all / hooks))
	for round in 1 2 3 4 5; do
		for n in $(seq "$all"); do
			load_once "$n" "$hooks" || return 1
		done
		refused=$(hooks_refused)
		[ $# -eq 1 ] && [ "$refused" -lt "$hooks" ] || break
	done
	faults 0 -1 0 0 0
	echo "# loading: $1: $all allocations failed in turn, $round times; $refused hooks refused so far" >&3
	[ $# -gt 1 ] || [ "$refused" -eq "$hooks" ]
}

# Per-CPU memory is full (faults.py fill), and the kernel cannot add a chunk to it.
percpu_fails() {
	local filler status

	faults_below pcpu_create_chunk 100
	"$FAULT" fill >"$WORK/fill" &
	filler=$!
	guest_wait grep -q full "$WORK/fill" && loading_fails pcpu_create_chunk set
	status=$?
	kill "$filler"
	return "$status"
}

while_loading() {
	local status=0

	log_to load
	loading_fails alloc_workqueue && loading_fails shrinker_alloc && percpu_fails &&
		placing_fails add_hash_entry && placing_fails register_ftrace_function one &&
		insmod "$BEE_TEST_KO/bee_families.ko" && rmmod bee_families &&
		loading_fails genl_register_family || status=1
	faults 0 -1 0 0 0
	log_end
	return "$status"
}

# fail_place OFFSET COMMAND...: run the command while allocations that return to this offset in
# $text fail, until two of each kind have failed.  Prints how many did.
fail_place() {
	local first=$((text + $1)) left

	faults 100 2 "$first" $((first + 1)) 0
	"${@:2}" >/dev/null 2>&1
	left=$(cat /sys/kernel/debug/failslab/times /sys/kernel/debug/fail_page_alloc/times |
		awk '{ n += $1 } END { print n }')
	faults 0 -1 0 0 0
	echo $((4 - left))
}

# Load the module where it has been before: as no other module comes or goes, the kernel gives it the
# same addresses.  It must refuse, or work.
load_again() {
	rmmod beeunwind
	guest_insmod && "$BEECTL" status
}

# times_of LOG PLACE: how often PLACE failed by that log
times_of() {
	awk -v place="$2" '$1 == place { n = $2 } END { print n + 0 }' "$WORK/seen.$1"
}

# An allocation with __GFP_NOWARN that fails leaves no stack trace in the log.  So each place that
# no log names is made to fail by itself, and counted without the log.
each_place() {
	local name section offset place allocator text turn load again missed=0

	for name in turn load; do
		"$here/sites.py" seen "$BEE_KO" <"$WORK/$name.log" >"$WORK/seen.$name"
	done
	"$here/sites.py" list "$BEE_KO" >"$WORK/sites"
	guest_insmod || return 1
	while read -r section offset place allocator; do
		turn=$(times_of turn "$place")
		load=$(times_of load "$place")
		again=0
		if [ $((turn + load)) -eq 0 ] && [ "$section" = .text ] && [ "$offset" != 0x0 ]; then
			text=$(cat /sys/module/beeunwind/sections/.text)
			again=$(fail_place $((offset)) "$FAULT" work)
			# Once no allocation fails, the module must work.
			"$BEECTL" status >/dev/null || return 1
			[ "$again" -gt 0 ] || again=$(fail_place $((offset)) load_again)
			[ -e /sys/module/beeunwind ] || guest_insmod || return 1
		fi
		if [ $((turn + load + again)) -eq 0 ]; then
			echo "# $place ($allocator): NEVER FAILED" >&3
			missed=$((missed + 1))
		else
			echo "# $place ($allocator): failed $turn times in turn, $load while loading, $again always" >&3
		fi
	done <"$WORK/sites"
	rmmod beeunwind
	[ -s "$WORK/sites" ] && [ "$missed" -eq 0 ]
}

no_complaint() {
	dmesg >"$WORK/last.log" && cat "$WORK"/{turn,load,last}.log >"$WORK/all.log" || return 1
	! grep -E 'BUG:|WARNING:|KASAN|UBSAN|INFO:|ODEBUG|refcount_t' "$WORK/all.log"
}

exec 3>&1
[ -e /proc/self/fail-nth ] || ktap_skip_all "this kernel has no fault injection"
set_up
ktap_plan 4
ktap_run "each allocation of each request fails in turn" in_turn
ktap_run "whatever loading allocates fails" while_loading
ktap_run "every place of the module that allocates has failed at least once" each_place
ktap_run "the kernel has no complaint after failed allocations" no_complaint
dmesg -n 8
ktap_finish
