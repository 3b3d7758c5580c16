#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# What the tests that ran in this guest have left behind, by kmemleak.
# shellcheck source=selftests/kmod/guest.sh
. "$(dirname "$0")/../kmod/guest.sh"

# An object is suspected once it is 5 s old and a scan has found no pointer to it; twice,
# for a pointer can be in a register or on its way from one place to another.
no_leaks() {
	echo scan >/sys/kernel/debug/kmemleak
	sleep 6
	echo scan >/sys/kernel/debug/kmemleak
	cat /sys/kernel/debug/kmemleak >"$WORK/leaks"
	head -n 200 "$WORK/leaks"
	[ ! -s "$WORK/leaks" ]
}

ktap_plan 1
ktap_run "kmemleak finds nothing" no_leaks
ktap_finish
