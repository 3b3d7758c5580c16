#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# What those may do and see who have neither CAP_PERFMON nor CAP_SYS_ADMIN in the initial user
# namespace.
# once: 1
# shellcheck source=selftests/kmod/guest.sh
. "$(dirname "$0")/guest.sh"
nobody=(setpriv --reuid 65534 --regid 65534 --clear-groups)

as_nobody() {
	"${nobody[@]}" /tmp/nl_denied
}

# Root in a user namespace of its own, with all capabilities there.
as_container_root() {
	"${nobody[@]}" unshare -Ur /tmp/nl_denied
}

in_container_netns() {
	"${nobody[@]}" unshare -Urn /tmp/nl_denied hidden &&
		unshare -n "$TESTS/nl_denied" hidden
}

# The same requests as root without CAP_PERFMON and CAP_SYS_ADMIN.
as_root_without_caps() {
	setpriv --bounding-set -perfmon,-sys_admin --inh-caps -perfmon,-sys_admin /tmp/nl_denied
}

# With only CAP_PERFMON no request is refused, only the events are.
perfmon_is_enough() {
	"${nobody[@]}" --ambient-caps +perfmon --inh-caps +perfmon /tmp/nl_denied granted
}

# as_perfmon SETTING VALUE: change a setting with only CAP_PERFMON
as_perfmon() {
	"${nobody[@]}" --ambient-caps +perfmon --inh-caps +perfmon /tmp/beectl config "$@"
}

# only_admin_raises SETTING LESS MORE DEFAULT
only_admin_raises() {
	as_perfmon "$1" "$2" && ! as_perfmon "$1" "$3" 2>"$WORK/raise" &&
		grep 'needs CAP_SYS_ADMIN' "$WORK/raise" && "$BEECTL" config "$1" "$4"
}

# What the user nobody can read in /sys and /proc has no address, path or name of a process.
nothing_to_read() {
	local file

	sysctl -q -w kernel.kptr_restrict=1
	"${nobody[@]}" find /sys/module/beeunwind -type f -readable >"$WORK/readable"
	while read -r file; do
		"${nobody[@]}" cat "$file" 2>/dev/null
	done <"$WORK/readable" >"$WORK/said"
	"${nobody[@]}" grep beeunwind /proc/modules /proc/kallsyms >>"$WORK/said" 2>/dev/null
	sysctl -q -w kernel.kptr_restrict=0
	[ -s "$WORK/readable" ] || return 1
	! grep -aE 'ffff[0-9a-f]{12}|0x0*[1-9a-f][0-9a-f]{8,}|/bin/|/lib/|deep_work' "$WORK/said"
}

# The kernel's log since before the module was loaded names no process, path or address of what was
# loaded.  A module that works writes nothing into it.
silent_log() {
	dmesg -t | sed -n "/$mark/,\$p" >"$WORK/log"
	grep -q "$mark" "$WORK/log" || { echo "the log has lost its beginning"; return 1; }
	grep -i beeunwind "$WORK/log" >"$WORK/said"
	cat "$WORK/said"
	! grep -E "deep_work|/lib/|/bin/|0x[0-9a-f]{9,}|ffff[0-9a-f]{12}|\b$deep\b" "$WORK/said"
}

# A user joins the number of the group before the module has it.  The kernel lets that pass.
early_listener() {
	"$BEECTL" config follow all announce mapped && install -m 755 /bin/true "$WORK/fresh" &&
		"$WORK/fresh" && "$BEECTL" config follow managed announce sampled || return 1
	echo >&"$listen"
	guest_wait grep -q ' events, ' "$WORK/early"
	cat "$WORK/early"
	grep -q '^[1-9][0-9]* events, 0 ' "$WORK/early"
}

mark=test_perms-$EPOCHREALTIME
echo "$mark" >/dev/kmsg
install -m 755 "$TESTS/nl_early" /tmp/nl_early
mkfifo "$WORK/listen"
"${nobody[@]}" /tmp/nl_early <"$WORK/listen" >"$WORK/early" &
exec {listen}>"$WORK/listen"
guest_wait grep -q ready "$WORK/early"
guest_insmod
install -m 755 "$TESTS/nl_denied" /tmp/nl_denied
install -m 755 "$BEECTL" /tmp/beectl
"$TESTS/deep_work" >"$WORK/deep" &
deep=$!
guest_wait grep -q ready "$WORK/deep"
"$BEECTL" load --quiet $deep || exit 1
ktap_plan 11
ktap_run "nobody is refused everything" as_nobody
ktap_run "root of a user namespace is refused everything" as_container_root
ktap_run "there is no family in a container's network namespace" in_container_netns
ktap_run "root without the capabilities is refused everything" as_root_without_caps
ktap_run "CAP_PERFMON is enough" perfmon_is_enough
ktap_run "only CAP_SYS_ADMIN raises the budget" only_admin_raises budget 200M 201M 256M
ktap_run "or the share" only_admin_raises share 30 31 50
ktap_run "or the limit of ranges" only_admin_raises ranges 4000 4001 65536
ktap_run "nobody reads nothing that tells" nothing_to_read
ktap_run "nor do events, to who listened before the module was loaded" early_listener
ktap_run "the log does not tell either" silent_log
ktap_finish
