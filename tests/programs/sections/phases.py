"""mpi4py, which loads MPI by dlopen: MPI_MAIN, a section on a communicator, one without."""
import ctypes

from mpi4py import MPI

program = ctypes.CDLL(None)


def section(name, label):
    function = getattr(program, name, None)
    if function is not None:
        function(label)


section("falloff_section_enter", b"SUM")
total = MPI.COMM_WORLD.allreduce(MPI.COMM_WORLD.rank)
section("falloff_section_exit", b"SUM")
print(f"rank {MPI.COMM_WORLD.rank} has {total}")
