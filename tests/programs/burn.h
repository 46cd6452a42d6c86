/* Work of a known size: `meg` million steps that the compiler can neither shorten nor spread. */
#ifndef BURN_H
#define BURN_H
static volatile unsigned long burnt;
#define NOINLINE __attribute__((noinline, noclone))
#define BURN(meg)                                                                                  \
  do {                                                                                             \
    unsigned long x_ = 1;                                                                          \
    for (unsigned long i_ = 0; i_ < (unsigned long)((meg) * 1e6); i_++) {                          \
      x_ = x_ * 6364136223846793005UL + 1442695040888963407UL;                                     \
      __asm__ volatile("" : "+r"(x_));                                                             \
    }                                                                                              \
    burnt += x_;                                                                                   \
  } while (0)
#endif
