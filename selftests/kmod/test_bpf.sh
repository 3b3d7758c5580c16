#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# BPF programs see the same complete stacks: bpf_get_stackid() through bpftrace.
# once: 1
# timeout: 600
# cpus: 1
# shellcheck source=selftests/kmod/guest.sh
. "$(dirname "$0")/guest.sh"

command -v bpftrace >/dev/null || ktap_skip_all "bpftrace is not installed"
[ -e /sys/kernel/btf/vmlinux ] || ktap_skip_all "this kernel has no BTF"

# Print the addresses in python3's _start, one of which is the outermost frame's return address.
# Debian's python3 is not position-independent, so they are those in the ELF file.
start_addresses() {
	local entry i

	entry=$(readelf -h /usr/bin/python3 | awk '/Type:.*EXEC/ { exec = 1 }
		/Entry point/ && exec { print $NF }')
	[ -n "$entry" ] || { echo "python3 is position-independent" >&2; return 1; }
	for i in $(seq 0 47); do
		printf ' 0x%x ' $((entry + i))
	done
}

# shares PID: print how many samples of the process are complete, by the outermost frame, and how
# many there are; incomplete stacks go to $WORK/incomplete.  bpftrace 0.17 is told to print addresses, as on
# a busy machine it loses its map of stacks (EBADF) while it looks symbols up; 0.23 prints symbols all the same.
shares() {
	BPFTRACE_NO_USER_SYMBOLS=1 bpftrace -q -e "
		profile:hz:99 /pid == $1/ { @[ustack(127)] = count(); @all++; if (@all == 300) { exit(); } }
		interval:s:240 { exit(); }" >"$WORK/bpf" || return 1
	awk -v starts="$starts" '
		/^@\[/ { last = ""; stack = "" }
		{ stack = stack $0 "\n" }
		/^    / { last = $1 }
		/^\]:/ {
			all += $2
			if (index(starts, " " last " ") || last ~ /^_start\+/)
				complete += $2
			else
				printf "%s", stack >"/dev/stderr"
		}
		END { print complete + 0, all + 0 }' "$WORK/bpf" 2>"$WORK/incomplete"
}

with_the_module() {
	local complete all

	read -r complete all <<<"$(shares "$work")"
	echo "$complete of $all"
	[ "$all" -gt 50 ] && [ $((complete * 100)) -ge $((all * 99)) ] && return 0
	head -n 30 "$WORK/incomplete"
	"$BEECTL" status
	return 1
}

without_the_module() {
	local complete all

	read -r complete all <<<"$(shares "$work")"
	echo "$complete of $all"
	[ "$all" -gt 50 ] && [ $((complete * 2)) -lt "$all" ]
}

starts=$(start_addresses) || exit 1
/usr/bin/python3 -c '
def f(n):
    return f(n - 1) + 1 if n else sum(i * i for i in range(500))
print("ready", flush=True)
while True: f(20)' >"$WORK/ready" &
work=$!
guest_wait grep -q ready "$WORK/ready" || exit 1

ktap_plan 2
ktap_run "without the module most of bpftrace's stacks are broken" without_the_module
guest_insmod && "$BEECTL" load -q "$work"
ktap_run "with the module 99 % of bpftrace's stacks are complete" with_the_module
ktap_finish
