/* Parallel regions with known shares: that of `light` does 1 unit of work in every thread, that of `heavy` 4, and that of
 * `spread`, which both call, 1 for `light` and 9 for `heavy`. In all 15: `light` 2, `heavy` 13. */
#include <stdio.h>
#include <stdlib.h>

/* After a call, so that it is no jump. */
#define STAY __asm__ volatile("")

__attribute__((noinline)) static double burn(long rounds)
{
    volatile double sum = 0;
    for (long i = 0; i < rounds; i++)
        sum += i * 0.5;
    return sum;
}

__attribute__((noinline)) static void spread(long rounds)
{
#pragma omp parallel
    {
        burn(rounds);
        STAY;
    }
    STAY;
}

__attribute__((noinline)) static void light(long rounds)
{
#pragma omp parallel
    {
        burn(rounds);
        STAY;
    }
    spread(rounds);
    STAY;
}

__attribute__((noinline)) static void heavy(long rounds)
{
#pragma omp parallel
    {
        burn(4 * rounds);
        STAY;
    }
    spread(9 * rounds);
    STAY;
}

int main(int argc, char **argv)
{
    long rounds = argc > 1 ? atol(argv[1]) : 20000000;
    for (int i = 0; i < 4; i++) {
        light(rounds);
        heavy(rounds);
    }
    puts("done");
    return 0;
}
