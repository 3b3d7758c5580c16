#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The hook is switched off and on while ftrace could remove no callback: a request holds a lock of
# generic netlink, and must not wait for a grace period of RCU-tasks.
# shellcheck source=selftests/kmod/guest.sh
. "$(dirname "$0")/guest.sh"
modules=${BEE_TEST_KO:-$TREE/build/test-modules/$(uname -r)}

switches() {
	"$BEECTL" config hook "$1" &
	guest_wait test ! -e "/proc/$!" && [ "$(guest_status hook)" = "$1" ]
}

# ends NAME: take a module away, and wait for what it has held up
ends() {
	rmmod "$1" && wait
}

guest_insmod || exit 1
insmod "$modules/bee_no_rest.ko" || exit 1
ktap_plan 3
ktap_run "the hook is switched off while a thread never rests" switches off
ktap_run "the hook is switched on while a thread never rests" switches on
ktap_run "the thread that never rests ends" ends bee_no_rest
ktap_finish
