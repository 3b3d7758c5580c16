#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Each fuzzer builds and takes its seeds, whole and cut off, without libFuzzer.  "make fuzz" goes on from there.
# timeout: 900
# shellcheck source=selftests/lib/beectl.sh
. "$(dirname "$0")/../lib/beectl.sh"
fuzz=$tree/selftests/fuzz

# replays FUZZER: the fuzzer takes all of its seeds.  If it has none the program gets the pattern, and fails, as no
# file has that name.
replays() {
	"$tree/build/selftests/fuzz/replay_$1" "$work/seeds/$1"/*
}

read -ra fuzzers <<<"$(make -s --no-print-directory -C "$fuzz" list)"
[ "${#fuzzers[@]}" -gt 0 ] || exit 1
ktap_plan $((${#fuzzers[@]} + 2))
ktap_run "the fuzzers build" make -s --no-print-directory -C "$fuzz" replays
ktap_run "seeds of the fuzzers are made" env BEECTL="$beectl" "$fuzz/make_seeds.sh" "$work/seeds"
for fuzzer in "${fuzzers[@]}"; do
	ktap_run "$fuzzer" replays "$fuzzer"
done
ktap_finish
