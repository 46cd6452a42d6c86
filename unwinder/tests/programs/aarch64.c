/* Prints what a walker sees, and what it should find: registers and stack at a fault in a leaf function below frames of
 * several kinds, and again from inside the signal handler. Each function notes its own return address. */
#include <alloca.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline, noclone))
#define NOTE() (truth[depth++] = (uint64_t)__builtin_extract_return_addr(__builtin_return_address(0)))

static uint64_t truth[64];
static int depth;
static uint64_t *stack_end;
volatile uint64_t sink;

static void print(const char *name, const uint64_t *words, size_t count) {
    printf("%s", name);
    for (size_t i = 0; i < count; i++)
        printf(" %lx", (unsigned long)words[i]);
    printf("\n");
}

static void print_stack(uint64_t sp) {
    print("at", &sp, 1);
    print("stack", (uint64_t *)sp, (size_t)(stack_end - (uint64_t *)sp));
}

NOINLINE static void from_inside(uint64_t trampoline) {
    uint64_t registers[33] = {0};
    __asm__ volatile("adr %0, .\n\tmov %1, sp\n\tmov %2, x29\n\tmov %3, x30"
                     : "=r"(registers[32]), "=r"(registers[31]), "=r"(registers[29]), "=r"(registers[30]));
    print("registers", registers, 33);
    print_stack(registers[31]);
    print("trampoline", &trampoline, 1);
    print("code", (uint64_t *)trampoline, 1);
    print("truth", truth, depth);
    fflush(stdout);
    _exit(0);
}

static void handler(int number, siginfo_t *info, void *context) {
    (void)number, (void)info;
    const mcontext_t *machine = &((ucontext_t *)context)->uc_mcontext;
    uint64_t registers[33];
    for (int i = 0; i < 31; i++)
        registers[i] = machine->regs[i];
    registers[31] = machine->sp;
    registers[32] = machine->pc;
    print("registers", registers, 33);
    print_stack(machine->sp);
    print("truth", truth, depth);
    from_inside((uint64_t)__builtin_extract_return_addr(__builtin_return_address(0)));
}

/* No frame: the return address is in the link register. */
NOINLINE static uint64_t leaf(volatile uint64_t *where, uint64_t value) {
    NOTE();
    return *where = value;
}

NOINLINE static uint64_t variable(uint64_t value) {
    NOTE();
    uint64_t *room = alloca(16 * (value % 5 + 1));
    memset(room, 1, 16);
    return leaf((volatile uint64_t *)(value - value), value) + room[0];
}

NOINLINE static uint64_t large(uint64_t value) {
    NOTE();
    volatile uint64_t room[9000];
    room[value % 9000] = value;
    return variable(value + 1) + room[3];
}

/* Needs all registers that a call leaves alone. */
NOINLINE static uint64_t busy(uint64_t value) {
    NOTE();
    uint64_t a = sink, b = sink, c = sink, d = sink, e = sink, f = sink, g = sink, h = sink, i = sink, j = sink;
    double x = (double)sink, y = (double)sink;
    uint64_t result = large(value + 1);
    sink = a + b + c + d + e + f + g + h + i + j + (uint64_t)(x + y);
    return result + a * b;
}

NOINLINE static uint64_t recursive(uint64_t level) {
    NOTE();
    uint64_t result = level == 0 ? busy(sink + 3) : recursive(level - 1);
    sink = result; /* so that it does not become a loop */
    return result + level;
}

NOINLINE static int compare(const void *left, const void *right) {
    NOTE();
    sink = recursive(6);
    return *(const int *)left - *(const int *)right;
}

int main(void) {
    uint64_t here = 0;
    stack_end = &here + 64;
    NOTE();
    struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO};
    sigaction(SIGSEGV, &action, NULL);
    int numbers[2] = {2, 1};
    compare(&numbers[0], &numbers[1]);
    return numbers[0];
}
