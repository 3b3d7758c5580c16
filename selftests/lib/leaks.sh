#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Asks kmemleak whether the tests that ran in this guest have leaked memory.
# shellcheck source=selftests/kmod/guest.sh
. "$(dirname "$0")/../kmod/guest.sh"

# kmemleak reports an object that is older than 5 s and to which a scan has found no pointer.  Scan
# twice: during one scan the only pointer can be in a register, or be moved from one place to
# another.  kmemleak switches itself off when it cannot allocate; then a scan is refused.
no_leaks() {
	echo scan >/sys/kernel/debug/kmemleak || return
	sleep 6
	echo scan >/sys/kernel/debug/kmemleak && cat /sys/kernel/debug/kmemleak >"$WORK/leaks" || return
	head -n 200 "$WORK/leaks"
	[ ! -s "$WORK/leaks" ]
}

ktap_plan 1
ktap_run "kmemleak finds nothing" no_leaks
ktap_finish
