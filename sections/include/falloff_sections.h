/* Marks sections of a parallel program for falloff: phases whose time and balance it reports and whose share of the run
 * bounds the speed-up. For C99 and C++11 and later, with GCC, Clang and compatible compilers.
 *
 * Nothing is linked: the functions are looked for in the running program, once for each source file, and do nothing where
 * it is not profiled. With a C library older than glibc 2.34 link with -ldl, or they are never found.
 *
 * Include it behind mpi.h for the functions that take a communicator:
 *
 *     MPIX_Section_enter(MPI_COMM_WORLD, "HALO");
 *     exchange(field);
 *     MPIX_Section_exit(MPI_COMM_WORLD, "HALO");
 *
 * All members of the communicator make the same calls in the same order; no message is sent and nobody waits. Sections are
 * nested. Threads and programs without MPI use falloff_section_enter("HALO") and falloff_section_exit("HALO").
 *
 * A label has 1 to 63 bytes. All functions give 0.
 */
#ifndef FALLOFF_SECTIONS_H
#define FALLOFF_SECTIONS_H

#ifdef __cplusplus
extern "C" {
#endif

/* dlsym under a name of our own: <dlfcn.h> may declare it as well. Weak, so that a static program can be linked. */
extern void *falloff_sections_dlsym(void *, const char *) __asm__("dlsym") __attribute__((weak));

typedef int (*falloff_section_function)(const char *label);

static inline int falloff_section_nothing(const char *label)
{
    (void)label;
    return 0;
}

/* The function of this name, kept in `known`; one that does nothing if there is none. */
static inline falloff_section_function falloff_section_find(falloff_section_function *known, const char *name)
{
    falloff_section_function function = __atomic_load_n(known, __ATOMIC_RELAXED);
    if (__builtin_expect(!function, 0)) {
        void *found = falloff_sections_dlsym ? falloff_sections_dlsym((void *)0, name) : (void *)0;
        function = falloff_section_nothing;
        if (found)
            __builtin_memcpy(&function, &found, sizeof function);
        __atomic_store_n(known, function, __ATOMIC_RELAXED);
    }
    return function;
}

/* Enters a section of the calling thread. */
static inline int falloff_section_enter(const char *label)
{
    static falloff_section_function known;
    return falloff_section_find(&known, "falloff_section_enter")(label);
}

/* Leaves it. */
static inline int falloff_section_exit(const char *label)
{
    static falloff_section_function known;
    return falloff_section_find(&known, "falloff_section_exit")(label);
}

#ifdef __cplusplus
}

/* A section as long as it lives. */
class falloff_section {
    const char *label_;

public:
    explicit falloff_section(const char *label) : label_(label) { falloff_section_enter(label_); }
    ~falloff_section() { falloff_section_exit(label_); }
    falloff_section(const falloff_section &) = delete;
    falloff_section &operator=(const falloff_section &) = delete;
};

extern "C" {
#endif

/* The interface of MPI_Section, where mpi.h has been included. */
#ifdef MPI_VERSION
typedef int (*falloff_mpix_section_function)(MPI_Comm comm, const char *label);

static inline int falloff_mpix_section_call(falloff_section_function *known, const char *name, MPI_Comm comm,
                                            const char *label)
{
    falloff_section_function found = falloff_section_find(known, name);
    falloff_mpix_section_function function;
    if (found == falloff_section_nothing)
        return 0;
    __builtin_memcpy(&function, &found, sizeof function);
    return function(comm, label);
}

static inline int falloff_mpix_section_enter(MPI_Comm comm, const char *label)
{
    static falloff_section_function known;
    return falloff_mpix_section_call(&known, "MPIX_Section_enter", comm, label);
}

static inline int falloff_mpix_section_exit(MPI_Comm comm, const char *label)
{
    static falloff_section_function known;
    return falloff_mpix_section_call(&known, "MPIX_Section_exit", comm, label);
}

/* An MPI library may declare functions of these names. */
#define MPIX_Section_enter(comm, label) falloff_mpix_section_enter(comm, label)
#define MPIX_Section_exit(comm, label) falloff_mpix_section_exit(comm, label)

/* Another tool that hears of sections defines these. `data` is kept for it from the entry to the exit. */
int MPIX_Section_enter_cb(MPI_Comm comm, const char *label, char data[32]);
int MPIX_Section_leave_cb(MPI_Comm comm, const char *label, char data[32]);
#endif

#ifdef __cplusplus
}
#endif

#endif
