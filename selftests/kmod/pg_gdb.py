# SPDX-License-Identifier: GPL-2.0
"""For gdb: the stacks of a process at the next calls of stat().

	gdb -nx -batch -ex "python arguments = PID, COUNT, ATTACHED, OUT" -x pg_gdb.py

Makes the file ATTACHED when it waits for the first of COUNT calls.  OUT gets one line for each call:
the ip of each frame, the topmost first.
"""

import gdb  # pylint: disable=import-error

# pylint: disable=undefined-variable
PID, COUNT, ATTACHED, OUT = arguments


def stack():
    """The ip of each frame that has one of its own."""
    frame = gdb.newest_frame()
    while frame is not None:
        if frame.type() != gdb.INLINE_FRAME:
            yield f"{frame.pc():x}"
        frame = frame.older()


for setting in ("pagination off", "debuginfod enabled off", "backtrace past-main on",
                "backtrace past-entry on"):
    gdb.execute("set " + setting)
gdb.execute(f"attach {PID}")
gdb.execute("catch syscall newfstatat")
open(ATTACHED, "w", encoding="ascii").close()  # pylint: disable=consider-using-with
with open(OUT, "w", encoding="ascii") as out:
    # It stops at the call and at the return from it.
    for stop in range(2 * COUNT):
        gdb.execute("continue", to_string=True)
        if stop % 2 == 0:
            print(*stack(), file=out)
gdb.execute("detach")
