"""Messages by mpi4py, whose MPI is loaded by dlopen. Prints what it has done as tally.h does."""

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
print(f"{rank} send 20 {sent}")
print(f"{rank} receive 20 {sent}")
print(f"{rank} make 2 0")
print(f"{rank} barrier 1 0")
print(f"{rank} all-reduce 1 16")
print(f"{rank} got 2 16", flush=True)
