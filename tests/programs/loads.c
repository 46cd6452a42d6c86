/* loads SECONDS: two threads load, call and unload a plugin each while two others start short threads, so that
   every look at the list of modules meets an unload somewhere. Built with -DPLUGIN it is the plugin. */
#include "burn.h"

NOINLINE void plugin_work(void) { BURN(0.02); }

#ifdef PLUGIN
void plugin(void) { plugin_work(); __asm__ volatile("" ::: "memory"); }
#else
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static atomic_int stop;
static atomic_long loads, threads;

static void *loader(void *name) {
  while (!stop) {
    void *library = dlopen(name, RTLD_NOW);
    if (!library) { puts(dlerror()); exit(3); }
    void (*plugin)(void) = (void (*)(void))dlsym(library, "plugin");
    plugin();
    dlclose(library);
    loads++;
  }
  return 0;
}

static void *brief(void *argument) { BURN(0.1); return argument; }

static void *starter(void *argument) {
  while (!stop) {
    pthread_t thread;
    if (!pthread_create(&thread, 0, brief, 0)) pthread_join(thread, 0);
    threads++;
  }
  return argument;
}

int main(int argc, char **argv) {
  pthread_t all[4];
  pthread_create(&all[0], 0, loader, "./plug_a.so");
  pthread_create(&all[1], 0, loader, "./plug_b.so");
  pthread_create(&all[2], 0, starter, 0);
  pthread_create(&all[3], 0, starter, 0);
  sleep(argc > 1 ? atoi(argv[1]) : 1);
  stop = 1;
  for (int i = 0; i < 4; i++) pthread_join(all[i], 0);
  puts(loads > 100 && threads > 100 ? "many of both" : "few");
  return 0;
}
#endif
