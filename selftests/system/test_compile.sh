#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# A small ELF file with each byte of its structures set to several values.
program=$(dirname "$0")/../../build/selftests/unit/table/compile_test
make -s --no-print-directory -C "$(dirname "$0")/../unit" "../../build/selftests/unit/table/compile_test" >&2 &&
	exec "$program" all
