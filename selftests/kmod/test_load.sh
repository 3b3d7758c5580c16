#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Who has an installed module loaded: root's beectl; not whoever asks the kernel for its netlink family.
# once: 1
# shellcheck source=selftests/kmod/guest.sh
. "$(dirname "$0")/guest.sh"
nobody=(setpriv --reuid 65534 --regid 65534 --clear-groups)
installed=/lib/modules/$(uname -r)/beeunwind.ko
blacklist=/etc/modprobe.d/bee_test_load.conf

is_absent() {
	[ ! -e /sys/module/beeunwind ] || { echo "the module is loaded"; guest_rmmod; return 1; }
}

# not_by COMMAND...: beectl, by which COMMAND asks for the family, says that the module is not loaded, and it is not
not_by() {
	! "$@" /tmp/beectl status 2>"$WORK/said" && grep 'module is not loaded' "$WORK/said" && is_absent
}

not_if_blacklisted() {
	echo "blacklist beeunwind" >"$blacklist" && not_by env
}

by_root() {
	rm "$blacklist" && "$BEECTL" status && guest_rmmod && modprobe beeunwind && guest_rmmod
}

remove() {
	rm -f "$installed" "$blacklist" /tmp/beectl
	depmod 2>/dev/null
	guest_exit
}
trap remove EXIT

install -m 755 "$BEECTL" /tmp/beectl
install -m 644 -D "$BEE_KO" "$installed"
# It warns of files of the kernel's package, which this machine may not have.
depmod 2>/dev/null
ktap_plan 4
ktap_run "the user nobody's beectl does not load an installed module" not_by "${nobody[@]}"
ktap_run "beectl of a user and network namespace's root does not load an installed module" \
	not_by "${nobody[@]}" unshare -Urn
ktap_run "root's beectl does not load a module that is blacklisted" not_if_blacklisted
ktap_run "root's beectl loads an installed module" by_root
ktap_finish
