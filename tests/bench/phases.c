/* A program of four phases whose work is split among PMI_SIZE processes: phases SECONDS [PERCENT]
   SECONDS is about what all of them compute together. With PERCENT, `assemble` computes that much of the whole run more
   where two or more processes share the work. */
#include <stdio.h>
#include <stdlib.h>

/* Rounds of `spin` that take about a second of a processor at 3 GHz. */
static const double ROUNDS = 600e6;
static volatile double sink;

static void spin(double rounds) {
    double x = 1.0;
    for (long i = 0; i < (long)rounds; i++) x = x * 1.0000001 + 1e-9;
    sink += x;
}

__attribute__((noinline)) static void assemble(double rounds) { spin(rounds); sink += 1; }
__attribute__((noinline)) static void solve(double rounds) { spin(rounds); sink += 2; }
__attribute__((noinline)) static void update(double rounds) { spin(rounds); sink += 3; }
__attribute__((noinline)) static void output(double rounds) { spin(rounds); sink += 4; }

__attribute__((noinline)) static void step(double whole, double planted) {
    assemble((0.25 + planted) * whole);
    solve(0.50 * whole);
    update(0.15 * whole);
    output(0.10 * whole);
}

int main(int argc, char **argv) {
    const char *size = getenv("PMI_SIZE");
    int processes = size ? atoi(size) : 1;
    double whole = ROUNDS * atof(argc > 1 ? argv[1] : "1") / processes;
    double planted = argc > 2 && processes > 1 ? atof(argv[2]) / 100 : 0;
    enum { STEPS = 20 };
    for (int i = 0; i < STEPS; i++) step(whole / STEPS, planted);
    return 0;
}
