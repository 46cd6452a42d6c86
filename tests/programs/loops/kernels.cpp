// Loops of C++: iterators, lambdas, templates and exceptions. The marks are explained in kernels.c.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <numeric>
#include <stdexcept>
#include <vector>

#define KERNEL __attribute__((noinline, noclone))

// loops range_for: element
KERNEL double range_for(const std::vector<double> &values) {
  double sum = 0;
  for (double v : values) {  // @element
    sum += v * v;
  }
  return sum;
}

template <class T>
struct Matrix {
  std::vector<T> cells;
  int side;
  T &at(int row, int column) { return cells[row * side + column]; }
};

// loops product: row(column(inner))
KERNEL void product(Matrix<double> &out, Matrix<double> &left, Matrix<double> &right) {
  for (int i = 0; i < out.side; i++) {      // @row
    for (int j = 0; j < out.side; j++) {    // @column
      double sum = 0;
      for (int k = 0; k < out.side; k++) {  // @inner
        sum += left.at(i, k) * right.at(k, j);
      }
      out.at(i, j) = sum;
    }
  }
}

template <class F>
static inline void each(std::vector<double> &values, F f) {
  for (auto &v : values) {  // @each
    f(v);
  }
}

// loops lambda: rounds(each.each)
KERNEL double lambda(std::vector<double> &values, int rounds) {
  double carry = 0;
  for (int r = 0; r < rounds; r++) {  // @rounds
    each(values, [&](double &v) {
      v = v * 0.5 + carry;
      carry = v * 0.25;
    });
  }
  return carry;
}

// loops first_of: scan
KERNEL int first_of(const std::vector<int> &values, int wanted) {
  int seen = 0;
  for (std::size_t i = 0; i < values.size(); i++) {  // @scan
    if (values[i] == wanted) {
      return seen;
    }
    if (values[i] % 13 == 5) {
      continue;
    }
    seen += values[i] ^ wanted;
  }
  return -seen;
}

KERNEL int parse(int v) {
  if (v % 1000 == 999) {
    throw std::runtime_error("not this one");
  }
  return v / 3;
}

// loops guarded: tries
KERNEL int guarded(int n) {
  int bad = 0;
  for (int i = 0; i < n; i++) {  // @tries
    try {
      bad += parse(i);
    } catch (const std::runtime_error &) {
      bad = -bad;
    }
  }
  return bad;
}

static double now() {
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return t.tv_sec + 1e-9 * t.tv_nsec;
}

static double sink, limit;
static const char *comma = "{";

// Runs a kernel for its part of the time.
template <class F>
static void run(const char *loop, double share, F kernel) {
  double start = now();
  while (now() - start < share * limit) {
    for (int times = 0; times < 20; times++) {
      sink += kernel();
    }
  }
  std::printf("%s\"%s\": %.6f", comma, loop, now() - start);
  comma = ", ";
}

int main(int argc, char **argv) {
  limit = argc > 1 ? std::atof(argv[1]) : 1;
  std::vector<double> values(20000);
  std::iota(values.begin(), values.end(), 0.0);
  std::vector<int> keys(20000);
  std::iota(keys.begin(), keys.end(), 1);
  Matrix<double> a{std::vector<double>(64 * 64, 1), 64}, b = a, c = a;
  run("element", 0.3, [&] { return range_for(values); });
  run("rounds", 0.25, [&] { return lambda(values, 3); });
  run("scan", 0.2, [&] { return first_of(keys, -1); });
  run("row", 0.25, [&] { product(c, a, b); return c.at(1, 1); });
  run("tries", 0.0, [&] { return guarded(990); });
  sink += guarded(5000);
  std::printf("}\n");
  return sink == 0.25;
}
