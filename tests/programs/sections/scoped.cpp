// Sections as long as a scope, left by an exception.
#include <mpi.h>
#include <cstdio>
#include <stdexcept>
#include "falloff_sections.h"

static void fails()
{
    falloff_section section("FAILS");
    throw std::runtime_error("expected");
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPIX_Section_enter(MPI_COMM_WORLD, "SCOPED");
    try {
        fails();
    } catch (const std::runtime_error &error) {
        std::puts(error.what());
    }
    MPIX_Section_exit(MPI_COMM_WORLD, "SCOPED");
    MPI_Finalize();
}
