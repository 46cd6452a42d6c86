/* Threads that enter a section themselves, threads that work in that of the main thread, and a forked child in it. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "falloff_sections.h"

static double cpu_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return t.tv_sec + t.tv_nsec * 1e-9;
}

__attribute__((noinline)) void *burn(void *unused)
{
    volatile double sum = 0;
    for (double end = cpu_s() + 0.3; cpu_s() < end;)
        for (int i = 1; i < 1000; i++)
            sum += 1.0 / i;
    return unused;
}

static void *in_own(void *unused)
{
    for (int i = 0; i < 3; i++) {
        falloff_section_enter("OWN");
        falloff_section_enter("INNER");
        falloff_section_exit("INNER");
        falloff_section_exit("OWN");
    }
    return unused;
}

static void together(void *(*run)(void *))
{
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], 0, run, 0);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], 0);
}

int main(void)
{
    falloff_section_enter("ALL");
    together(in_own);
    falloff_section_enter("WORK");
    together(burn);
    pid_t child = fork();
    if (child == 0) {
        burn(0);
        falloff_section_enter("CHILD");
        falloff_section_exit("CHILD");
        _exit(0);
    }
    int status;
    waitpid(child, &status, 0);
    falloff_section_exit("WORK");
    printf("child %d\n", status);
    for (int i = 0; i < 70; i++)
        falloff_section_enter("DEEP");
    for (int i = 0; i < 70; i++)
        falloff_section_exit("DEEP");
    falloff_section_exit("ALL");
    return 0;
}
