// What the seeds are made of: inlined calls, loops within loops, a jump table, a call through the linkage table, and one
// function that is chosen when the program starts.
extern "C" int outside(int);
static volatile unsigned sink;
namespace grid {
template <typename T> static inline __attribute__((always_inline)) void innermost(T n) {
  for (T i = 0; i < n; i++) sink += i;
}
static inline __attribute__((always_inline)) void middle(int n) {
  for (int j = 0; j < 3; j++) innermost<unsigned>(n);
}
__attribute__((noinline)) void carrier(int n) { middle(n), sink = sink + 1; }
}
extern "C" int choose(int n) {
  switch (n) {
    case 0: grid::carrier(7); break;
    case 1: return 3;
    case 2: sink = 9; break;
    case 3: return outside(n);
    case 4: return sink * 5;
    case 5: grid::carrier(outside(2)); break;
    case 6: sink = sink + 4; return 8;
  }
  return n;
}
extern "C" int first(int n) { return n; }
extern "C" int (*chosen())(int) { return first; }
extern "C" int indirect(int) __attribute__((ifunc("chosen")));
extern "C" int last(int n) { return indirect(n); }
