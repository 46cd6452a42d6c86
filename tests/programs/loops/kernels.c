// Loops as people write them, for compilers to turn over. A mark at a loop's line gives it a name, and a line above a
// function says which loops it has: nested ones in parentheses, the names of inlined functions before those of their loops.
//
// Kernels are run in turn and timed. The program prints, as JSON, the seconds in the outermost loop of each.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define KERNEL __attribute__((noinline, noclone))
enum { SIDE = 192, LENGTH = 20000 };

static double a[SIDE][SIDE], b[SIDE][SIDE], c[SIDE][SIDE];
static double x[LENGTH], y[LENGTH], z[LENGTH];
static int keys[LENGTH];
static unsigned char text[LENGTH];

// loops triple: i(j(k))
KERNEL void triple(int n) {
  for (int i = 0; i < n; i++) {      // @i
    for (int j = 0; j < n; j++) {    // @j
      double sum = c[i][j];
      for (int k = 0; k < n; k++) {  // @k
        sum += a[i][k] * b[k][j];
      }
      c[i][j] = sum;
    }
  }
}

// loops fused: both
KERNEL double fused(int n) {
  double sum = 0, square = 0;
  for (int i = 0; i < n; i++) {  // @both
    double v = x[i];
    sum += v;
    square += v * v;
    y[i] = v + sum;
  }
  return sum + square;
}

// loops unrolled: eight
KERNEL double unrolled(const double *p, int n) {
  double product = 1;
#pragma GCC unroll 8
  for (int i = 0; i < n; i++) {  // @eight
    product = product * 0.5 + p[i];
  }
  return product;
}

// loops vectorised: sweep(saxpy) total
KERNEL float vectorised(float *restrict p, const float *restrict q, int n, int times) {
  for (int t = 0; t < times; t++) {  // @sweep
    for (int i = 0; i < n; i++) {    // @saxpy
      p[i] += 0.5f * q[i];
    }
  }
  int total = 0;
  for (int i = 0; i < n; i++) {  // @total
    total += keys[i];
  }
  return p[n / 2] + total;
}

static inline double dot(const double *p, const double *q, int n) {
  double sum = 0;
  for (int i = 0; i < n; i++) {  // @dot
    sum += p[i] * q[i];
  }
  return sum;
}

static inline double clamp(double v) {
  if (v > 1e6) {
    v = 1e6;
  }
  return v < -1e6 ? -1e6 : v;
}

// loops inlined: rows(dot.dot)
KERNEL double inlined(int n) {
  double sum = 0;
  for (int i = 0; i < n; i++) {  // @rows
    sum += dot(a[i], b[i], n);
  }
  return sum;
}

// loops clamped: columns
KERNEL double clamped(void) {
  double sum = 0;
  for (int i = 0; i < LENGTH; i++) {  // @columns
    sum = clamp(sum * 0.75 + x[i]);
  }
  return sum;
}

// loops early: outer(search) forever again
KERNEL int early(int n, int key) {
  int found = 0;
  for (int round = 0; round < n; round++) {  // @outer
    for (int i = 0; i < LENGTH; i++) {       // @search
      if (keys[i] == key) {
        break;
      }
      if (keys[i] < 0) {
        return -1;
      }
      found += keys[i] & round;
    }
  }
  int rest = found;
  for (;;) {
    rest = rest / 3 + 1;  // @forever
    if (rest < 5) {
      break;
    }
    found += rest;
  }
  do {
    found = found * 5 + 1;  // @again
    x[0] += found;
  } while (found % 127 != 0);
  return found;
}

// loops split: turns(long short)
KERNEL double split(int turns) {
  double v = 1, w = 1;
  for (int t = 0; t < turns; t++) {   // @turns
    for (int i = 0; i < 3000; i++) {  // @long
      v = v * 0.5 + x[i];
    }
    for (int i = 0; i < 1000; i++) {  // @short
      w = w * 0.5 + x[i];
    }
  }
  return v + w;
}

// loops skipping: lines(letters)
KERNEL int skipping(const unsigned char *p, int n) {
  int words = 0, i = 0;
  while (i < n) {  // @lines
    if (p[i] == ' ') {
      i++;
      continue;
    }
    while (i < n && p[i] != ' ') {  // @letters
      i++;
    }
    words++;
  }
  return words;
}

// loops machine: steps
KERNEL int machine(const unsigned char *code, int n) {
  int value = 0;
  for (int i = 0; i < n; i++) {  // @steps
    switch (code[i] & 7) {
    case 0: value += i; break;
    case 1: value ^= 0x55; break;
    case 2: value = value * 3 + 1; break;
    case 3: value -= code[i]; break;
    case 4: if (value < 0) value = -value; break;
    case 5: value = value >> 1 | value << 31; break;
    case 6: value += keys[i]; break;
    default: value--; break;
    }
  }
  return value;
}

KERNEL double leaf(double v) {
  return v * 1.5 + 1;
}

// loops calls: each
KERNEL double calls(int n) {
  double v = 0;
  for (int i = 0; i < n; i++) {  // @each
    v = leaf(v) - leaf(x[i]);
  }
  return v;
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return t.tv_sec + 1e-9 * t.tv_nsec;
}

static double sink, limit;

// Runs a kernel for its part of the time.
#define RUN(mark, share, call)                                       \
  do {                                                               \
    double start = now();                                            \
    while (now() - start < (share) * limit) {                        \
      for (int times = 0; times < 20; times++) sink += (call);       \
    }                                                                \
    printf("%s\"%s\": %.6f", comma, mark, now() - start);            \
    comma = ", ";                                                    \
  } while (0)

int main(int argc, char **argv) {
  const char *comma = "{";
  limit = argc > 1 ? atof(argv[1]) : 1;
  for (int i = 0; i < LENGTH; i++) {
    x[i] = y[i] = z[i] = i * 1e-5;
    keys[i] = i * 7 % 1000;
    text[i] = i % 6 == 0 ? ' ' : i % 251;
  }
  for (int i = 0; i < SIDE * SIDE; i++) {
    a[i / SIDE][i % SIDE] = b[i / SIDE][i % SIDE] = i % 17;
  }
  RUN("both", 0.2, fused(LENGTH));
  RUN("turns", 0.2, split(10));
  RUN("rows", 0.15, inlined(SIDE));
  RUN("lines", 0.15, skipping(text, LENGTH));
  RUN("steps", 0.1, machine(text, LENGTH));
  RUN("each", 0.1, calls(LENGTH));
  RUN("eight", 0.1, unrolled(x, LENGTH));
  sink += early(3, 999) + clamped() + vectorised((float *)y, (const float *)z, LENGTH, 2);
  triple(SIDE);
  printf("}\n");
  return sink == 0.25 && memchr(text, 0, sizeof text) != NULL;
}
