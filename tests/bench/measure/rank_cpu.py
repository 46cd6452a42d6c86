#!/usr/bin/env python3
"""rank_cpu.py FOLDER COMMAND…: runs a rank and leaves its CPU seconds, by the kernel's account, in FOLDER/RANK."""

import os
import pathlib
import sys

child = os.fork()
if child == 0:
    os.execvp(sys.argv[2], sys.argv[2:])
_, status, used = os.wait4(child, 0)
rank = os.environ["OMPI_COMM_WORLD_RANK"]
pathlib.Path(sys.argv[1], rank).write_text(f"{used.ru_utime + used.ru_stime}\n")
sys.exit(os.waitstatus_to_exitcode(status) & 255)
