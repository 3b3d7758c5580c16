#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Builds what the guest tests of selftests/vm need for one kernel: build_for.sh SERIES
# Exit status 4: this machine does not have the kernel.
set -eu
cd "$(dirname "$0")/../.."
headers=$(selftests/vm/run --kernel "$1" --print-headers)
make -s --no-print-directory ko test-ko KDIR="$headers"
make -s --no-print-directory tools
make -s --no-print-directory -C selftests/kmod
