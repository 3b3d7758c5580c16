#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Run a command; fail if it fails, or if one of its processes takes more memory than BYTES.

    most_memory.py BYTES COMMAND...
"""
import resource
import subprocess
import sys

status = subprocess.run(sys.argv[2:], check=False).returncode
most = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss << 10
print(f"exit status {status}, {most} bytes")
sys.exit(status or most > int(sys.argv[1]))
