"""The programs of wrong.c by mpi4py: wrong.py KIND."""

import os
import sys

from mpi4py import MPI

world = MPI.COMM_WORLD
rank, kind = world.Get_rank(), sys.argv[1]
right = (rank + 1) % world.Get_size()
world.Barrier()
if kind == "unmatched" and rank == 0:
    world.Send([bytearray(40), MPI.BYTE], 1, 3)
elif kind == "deadlock":
    os.write(1, f"{rank} waits as {os.getpid()}\n".encode())
    world.Recv([bytearray(100), MPI.BYTE], right, 4)
elif kind == "abort" and rank == 1:
    world.Abort(3)
elif kind == "abort":
    world.Recv([bytearray(100), MPI.BYTE], 1, 5)
world.Barrier()
