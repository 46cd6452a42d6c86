#include <pthread.h>
#include <time.h>
#include <unistd.h>
static volatile double sink;
static inline __attribute__((always_inline)) void kernel(int n) {
    for (int i = 0; i < n; i++)
        sink += i * 0.5;
}
__attribute__((noinline)) void compute(int ms) {
    struct timespec t0, t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t0);
    do {
        kernel(20000);
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    } while ((t.tv_sec - t0.tv_sec) * 1000 + (t.tv_nsec - t0.tv_nsec) / 1000000 < ms);
}
__attribute__((noinline)) void pause_a_little(void) { usleep(30000); }
static void *worker(void *arg) {
    compute(40);
    return arg;
}
int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, worker, 0);
    compute(80);
    pause_a_little();
    pthread_join(thread, 0);
    return 0;
}
