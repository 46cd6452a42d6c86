"""Messages by mpi4py, whose MPI is loaded by dlopen. Prints what it has done as tally.h does."""

import sys

from mpi4py import MPI

world = MPI.COMM_WORLD
rank, size = world.Get_rank(), world.Get_size()
right, left = (rank + 1) % size, (rank - 1) % size
sent = 0
for length in range(0, 2000, 100):
    into = bytearray(4000)
    request = world.Irecv([into, MPI.BYTE], source=left, tag=7)
    world.Send([bytearray(length), MPI.BYTE], dest=right, tag=7)
    request.Wait()
    sent += length
half = world.Split(rank % 2, rank)
half.Barrier()
half.Free()
world.Allreduce([bytearray(16), MPI.BYTE], [bytearray(16), MPI.BYTE], op=MPI.BOR)
told = ["send 20 %d" % sent, "receive 20 %d" % sent, "make 2 0", "barrier 1 0", "all-reduce 1 16", "got 2 16"]
# In one piece, so that the lines of ranks stay apart where nothing is buffered.
sys.stdout.write("".join(f"{rank} {line}\n" for line in told))
