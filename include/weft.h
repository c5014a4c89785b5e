/* Weft for C (C99), and by iso_c_binding for Fortran: the task model of <weft/weft.hpp>, without templates.
 *
 *   static void square(void* argument, void** data) { double* x = data[0]; *x *= *x; }
 *   ...
 *   weft_runtime* rt = weft_runtime_create(NULL);
 *   double x = 3;
 *   weft_handle* h = weft_handle_create(&x);
 *   weft_access a[] = {weft_write(h)};
 *   weft_task t = {.size = sizeof t, .body = square, .accesses = a, .access_count = 1};
 *   weft_submit(rt, &t);
 *   weft_wait(rt);                                              x is 9
 *   weft_handle_destroy(h);
 *   weft_runtime_destroy(rt);
 *
 * Structs. 0 in a field means "not said": zero the struct, set `size` to its sizeof, then what you mean. Fields may be
 * added at the end in later versions; programs compiled before go on working, because `size` tells what they know. A
 * program that sets a field which an older library does not have is refused, not misunderstood.
 * Errors. Functions that return int return a weft_status; those that return a pointer return NULL on error. Then
 * weft_last_error() says in words what was wrong. Arguments are checked: NULL gives an error, not a crash. A pointer to
 * what is destroyed, or to something else, cannot be found out.
 * Exceptions never come out of these functions. Bodies may be C++ and throw: that counts as weft_fail().
 * Threads. Any thread may call anything unless stated otherwise. A runtime on a modelled machine is used only by the
 * thread that made it (and by tasks); all its other callers get an error.
 * Cost: calls are not inlined and check what they are given; the record of a task is that of C++, where the closure
 * takes 32 bytes, a pointer per access, and the copied argument.
 */
#ifndef WEFT_H
#define WEFT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* --- errors */

enum weft_status {
  WEFT_OK = 0,
  WEFT_MISUSE = 1, /* a call or an option that cannot be meant, or a program that can make no progress */
  WEFT_NO_MEMORY = 2,
  WEFT_TASK_FAILED = 3 /* a wait: a task that was waited for called weft_fail(), or threw */
};

/* What went wrong in the last call of this thread that failed, at most 2047 bytes; "" if none has. A task may continue
 * on another thread after a wait, so read this before the next wait. Valid until the next call on this thread fails. */
const char* weft_last_error(void);

/* The running task fails, with this message (copied), when its body returns: what it would have written is poisoned,
 * tasks that name poisoned handles are skipped, and the wait for them returns WEFT_TASK_FAILED with the message that is
 * first in order of submission. Of several calls in one body the first counts. NULL: without words.
 * Who: bodies submitted by weft_submit. Errors: WEFT_MISUSE elsewhere. */
int weft_fail(const char* message);

/* --- the runtime */

typedef struct weft_runtime weft_runtime;

/* Each option may also be given in the environment as WEFT_<NAME> (WEFT_WORKERS=8). What is set here wins
 * over the environment, the environment over the default. Strings are needed only during weft_runtime_create. */
typedef struct weft_options {
  size_t size;             /* sizeof(weft_options) */
  uint64_t seed;           /* of everything random; default 1 */
  uint64_t window;         /* live tasks at most, 64 to 2^40; default 2^20. A submitter that meets it sleeps */
  uint64_t stack_kib;      /* stack of a body, 64 to 4194304; default 1024 */
  const char* machine;     /* "host" (default) or "virtual"; weft_machines() lists them */
  const char* policy;      /* "local" (default), "random", "central"; weft_policies() lists them */
  const char* schedule;    /* modelled machines: "time" (default) or "random" */
  uint32_t workers;        /* 1 to 1024; default weft_usable_cpus() on real cores, 1 on a modelled machine */
  int32_t paused;          /* not 0: no task runs until weft_start() or a wait outside of tasks */
  int32_t no_pin;          /* not 0: worker threads are not bound to cores (WEFT_PIN=0) */
  int32_t reserved;        /* 0 */
  const char* trace;       /* file to record a trace in (an SQLite database); NULL: none */
  const char* counters;    /* to read around each task, "cycles,instructions"; needs trace, real cores only */
  uint64_t trace_mib;      /* memory that recording may use, in MiB; default 1024 */
  const char* creation;    /* "inline" (default), or "decoupled": one worker creates what all submit */
  uint32_t creator;        /* that worker, 1 to workers-1; default the last */
  uint32_t core;           /* modelled machines: the core that worker 0 sits on, from 0 */
  const char* mode;        /* modelled machines: "fine" (default) or "coarse" */
  const char* body;        /* modelled machines: "declared" (default) or "measured" */
  double body_scale;       /* of measured bodies; default 1 */
} weft_options;

/* Makes a runtime; the caller becomes its worker 0, which runs tasks while it waits. options: NULL for the defaults.
 * Errors: NULL for an option that cannot be meant. Fewer threads than asked for is none: it says so on stderr. */
weft_runtime* weft_runtime_create(const weft_options* options);

/* Waits for all tasks, then ends the workers. The runtime is gone afterwards, also if a task failed that nobody waited
 * for, which is what the result then says. NULL is fine. Who: the thread that made it, outside of the runtime's tasks.
 * Errors: WEFT_MISUSE, and nothing is destroyed, for any other caller. */
int weft_runtime_destroy(weft_runtime* rt);

/* What the runtime is. Errors: 0 or NULL if rt is NULL. */
uint32_t weft_runtime_workers(const weft_runtime* rt);
const char* weft_runtime_machine(const weft_runtime* rt);
const char* weft_runtime_policy(const weft_runtime* rt);
uint64_t weft_runtime_seed(const weft_runtime* rt);

/* Time on the runtime's machine in nanoseconds: a steady clock, or virtual time since it was made. Errors: -1. */
double weft_now_ns(const weft_runtime* rt);

/* Writes what is recorded so far, after weft_wait() best; the end of the runtime writes it too, and can report errors
 * on stderr only. Who: the thread that made the runtime, outside of tasks.
 * Errors: WEFT_MISUSE if the file cannot be written, or if no trace is recorded. */
int weft_write_trace(weft_runtime* rt);
/* The file it goes to; NULL if none is recorded (no error), or if rt is NULL. */
const char* weft_runtime_trace_path(const weft_runtime* rt);

/* Counts since the runtime was made. */
typedef struct weft_counts {
  size_t size;       /* sizeof(weft_counts) */
  uint64_t tasks;    /* tasks taken to run, those skipped after a failure included */
  uint64_t steals;   /* tasks taken from another worker */
  uint64_t sleeps;   /* times a worker went to sleep */
  uint64_t suspends; /* waits that set a task or the main thread aside */
  uint64_t pushed;   /* of the tasks, those that a policy has pushed to another worker, */
  uint64_t refused;  /* and those that it would have: the other had no room */
  /* Of modelled machines; 0 on real ones. */
  uint64_t transfers;    /* cache lines of the scheduler's own that moved between cores */
  uint64_t cached_bytes; /* data of handles with a size: what bodies found in caches, */
  uint64_t local_bytes;  /* in their own memory node, */
  uint64_t remote_bytes; /* and in others */
  double joules;         /* of cores and memory, all together; -1 if the machine's file has no [energy] */
} weft_counts;

/* Fills what *counts has room for, by counts->size. Who: the thread that made the runtime, after a wait. */
int weft_statistics(const weft_runtime* rt, weft_counts* counts);

/* --- handles: data under the runtime's care, known by their versions */

typedef struct weft_handle weft_handle;

/* A handle over memory of yours that lives as long as the handle; NULL: it carries no data and only orders tasks.
 * Cost: one allocation of 128 bytes. Errors: NULL without memory. */
weft_handle* weft_handle_create(void* data);

/* How parts of a reduction are made and put together. `context` is handed to each function. The operation must be
 * associative and commutative as far as you care. The functions run inside of tasks and may not submit or wait. */
typedef struct weft_reduction {
  size_t size;         /* sizeof(weft_reduction) */
  size_t buffer_bytes; /* of a part; at least 1. Buffers are aligned to 64 bytes */
  void* context;
  /* Makes *buffer neutral; may look at the shape of the target, not at its values. NULL: the bytes become 0. */
  void (*create)(void* context, void* buffer, const void* target);
  /* Adds `from` to `into`; `from` is destroyed next. Must be given. */
  void (*merge)(void* context, void* into, void* from);
  /* Adds `from` to the datum; `from` is destroyed next. NULL: the datum is a buffer itself. Then merge does it, and a
   * task that finds the datum free adds to it directly. */
  void (*apply)(void* context, void* target, void* from);
  /* Frees what create took; NULL: nothing. The buffer's own memory is not its affair. */
  void (*destroy)(void* context, void* buffer);
} weft_reduction;

/* A handle that tasks may add to at the same time (WEFT_REDUCE), each into a part of its own. The parts are put
 * together before anyone can look: a task with another kind of access, or a wait. Other kinds work as on any handle.
 * Errors: NULL if data or reduction->merge is NULL or buffer_bytes is 0. */
weft_handle* weft_reduction_create(void* data, const weft_reduction* reduction);

/* A counting resource: tasks that use it (WEFT_USE) run when so many units are free. Errors: NULL if units is 0. */
weft_handle* weft_resource_create(uint32_t units);

/* Waits for the tasks that use h, then destroys it. NULL is fine. A runtime may be destroyed before its handles.
 * Errors: WEFT_MISUSE, and it lives on, if the running task uses h itself: it would wait for itself. */
int weft_handle_destroy(weft_handle* h);

/* Name in reports; copied. NULL: none. Who: one thread, before tasks use h. */
int weft_handle_set_name(weft_handle* h, const char* name);
const char* weft_handle_name(const weft_handle* h); /* NULL: none */

/* How large the data is, in bytes, at most 2^40: what moving it takes on a modelled machine. 0: nothing. Who: as
 * above. */
int weft_handle_set_bytes(weft_handle* h, uint64_t bytes);

/* How a range of addresses lies on the memory nodes of a modelled machine; real ones accept it and move nothing. */
enum weft_placement {
  WEFT_FIRST_TOUCH = 0, /* with whoever uses them first: nothing is known; right before the memory is freed */
  WEFT_ON_NODE = 1,     /* all on node `value`, from 0 */
  WEFT_INTERLEAVED = 2, /* chunk after chunk on the next node */
  WEFT_BLOCKED = 3,     /* as many equal blocks as nodes */
  WEFT_BLOCK_CYCLIC = 4 /* blocks of `value` bytes on the nodes in turn */
};

/* Says so, in the place of what was said before of ranges that overlap it. value: 0 where the kind has none.
 * Errors: WEFT_MISUSE if the range is none, or for what `placement` and `value` cannot mean. */
int weft_place_memory(const void* begin, uint64_t bytes, uint32_t placement, uint64_t value);

/* The data of h are these bytes: as weft_handle_set_bytes, and they lie as weft_place_memory was told; first touch
 * outside of all such ranges. Errors: also if only a part of them is in such a range. */
int weft_handle_lies_at(weft_handle* h, const void* begin, uint64_t bytes);

/* The memory given to create. For a look at the data after weft_wait or weft_wait_handle. */
void* weft_handle_data(const weft_handle* h);

/* Finished accesses so far: a hint while tasks run, exact after a wait. */
uint64_t weft_handle_version(const weft_handle* h);

/* 1 if no submitted task uses h and nobody submits one now, else 0: whoever writes anew may take this buffer and needs
 * not wait (renaming, SuperGlue 4.4). What its tasks wrote is visible then. Errors: 0. */
int weft_handle_idle(const weft_handle* h);

/* --- tasks */

/* argument: see weft_task. data[i]: the datum of access i, for WEFT_REDUCE a part to add to; NULL for handles without
 * data and for resources. What was declared as read must not be written: here the compiler cannot tell. Must return:
 * no longjmp out of it, no pthread_exit. */
typedef void (*weft_body)(void* argument, void** data);

/* What a task does with a datum. Tasks on one handle run in order of submission, except within a row of one kind: */
enum weft_kind {
  WEFT_READ = 3,       /* reads run together */
  WEFT_WRITE = 4,      /* alone; may also read */
  WEFT_ADD = 6,        /* one at a time, in any order */
  WEFT_CONCURRENT = 2, /* together; you synchronise */
  WEFT_REDUCE = 18,    /* together, each into its part; for handles of weft_reduction_create */
  WEFT_USE = 32        /* units of a handle of weft_resource_create */
};

/* Kinds of your own, number 1 to 24, made of flags. Kinds with different numbers never share a row. */
enum weft_access_flag {
  WEFT_READONLY = 1,
  WEFT_COMMUTATIVE = 2, /* in any order; without it, in order of submission and exclusive */
  WEFT_EXCLUSIVE = 4    /* not at the same time */
};
#define WEFT_ACCESS_TYPE(number, flags) ((number)*256u + (flags))

typedef struct weft_access {
  weft_handle* handle;
  uint32_t kind;  /* weft_kind or WEFT_ACCESS_TYPE(...) */
  uint32_t units; /* WEFT_USE: units; 0 means 1. Otherwise 0 */
} weft_access;

enum weft_task_flag {
  WEFT_PINNED = 1,  /* `worker` says which worker runs the body */
  WEFT_SUBTASKS = 2 /* done only when the tasks that its body submits are done; nobody waits meanwhile */
};

typedef struct weft_task {
  size_t size; /* sizeof(weft_task) */
  weft_body body;
  /* Handed to the body as it is; or, if argument_bytes > 0, that many bytes are copied into the task and the body gets
   * the copy, aligned to 16, its own to change. */
  void* argument;
  size_t argument_bytes;
  /* Copied. One handle twice: only with the same kind, and then it counts once. Hundreds are fine. */
  const weft_access* accesses;
  size_t access_count;
  const char* name;  /* in reports; not copied: a literal, or weft_intern() */
  double cost_ns;    /* how long the body takes on a modelled machine; 0: the machine's default (1 us) */
  int32_t priority;  /* 0 or 1, which goes first, by any worker that becomes free */
  uint32_t flags;    /* weft_task_flag */
  uint32_t worker;   /* WEFT_PINNED: 0 to workers - 1; worker 0 is the thread that made the runtime, while it waits */
  uint32_t reserved; /* 0 */
} weft_task;

/* Submits a task. *task and the accesses are read during the call only. Inside a task: the new one is its child.
 * Cost: a record from the worker's pool; beyond 640 bytes (about 20 accesses) an allocation. Tasks of more than 1 MiB
 * (about 43 000 accesses) are refused.
 * Errors: WEFT_MISUSE as said at the fields, or if a handle is in use by another runtime; nothing is submitted then. */
int weft_submit(weft_runtime* rt, const weft_task* task);

/* Outside of tasks: returns when all tasks are done. Inside: when the children of the running task are. The task is set
 * aside meanwhile, its worker goes on, and it may continue on another thread.
 * Errors: WEFT_TASK_FAILED with the first failure in order of submission; outside of tasks, all handles are healed
 * then. WEFT_NO_MEMORY if that was std::bad_alloc. WEFT_MISUSE if the tasks that are left can never run. */
int weft_wait(weft_runtime* rt);

/* Returns when the accesses to h that are submitted so far are done. Errors: as weft_wait, if h is poisoned (and it
 * stays so); WEFT_MISUSE if the running task uses h itself. */
int weft_wait_handle(weft_runtime* rt, weft_handle* h);

/* No worker takes another task until weft_start(); bodies that run go on. A wait outside of tasks starts, too. */
int weft_pause(weft_runtime* rt);
int weft_start(weft_runtime* rt);

/* --- inside of tasks */

/* The number of the worker that the calling thread is at the moment; -1 if it is none. */
int weft_worker_id(void);

/* Scratch memory of the calling worker, aligned to 64, valid until the body returns or waits; contents are whatever the
 * last user left. Who: bodies. Errors: NULL outside of a body, or without memory. */
void* weft_workspace(size_t bytes);

/* Modelled machine: adds the time to the running body, in place of the default cost, in addition to cost_ns. Does
 * nothing elsewhere. */
void weft_charge(double nanoseconds);

/* --- what there is */

const char* weft_version(void);            /* of the library, "major.minor.patch" */
uint32_t weft_usable_cpus(void);           /* affinity limited by the cgroup quota, at least 1 */
const char* weft_usable_cpus_reason(void); /* how that was found, in words */

typedef struct weft_choice {
  const char* name;
  const char* what;
} weft_choice;
/* What options.machine and options.policy accept, the default first. Errors: NULL if count is NULL. */
const weft_choice* weft_machines(size_t* count);
const weft_choice* weft_policies(size_t* count);

/* A copy of the text that lives as long as the process, the same for equal texts: for names that are no literals.
 * Errors: NULL if text is NULL, or without memory. */
const char* weft_intern(const char* text);

#ifdef __cplusplus
}
#endif

/* --- accesses, in short: weft_access a[] = {weft_read(x), weft_write(y)}; */

static inline weft_access weft_with_access(weft_handle* h, uint32_t kind, uint32_t units) {
  weft_access a;
  a.handle = h;
  a.kind = kind;
  a.units = units;
  return a;
}
static inline weft_access weft_read(weft_handle* h) { return weft_with_access(h, WEFT_READ, 0); }
static inline weft_access weft_write(weft_handle* h) { return weft_with_access(h, WEFT_WRITE, 0); }
static inline weft_access weft_add(weft_handle* h) { return weft_with_access(h, WEFT_ADD, 0); }
static inline weft_access weft_concurrent(weft_handle* h) { return weft_with_access(h, WEFT_CONCURRENT, 0); }
static inline weft_access weft_reduce(weft_handle* h) { return weft_with_access(h, WEFT_REDUCE, 0); }
static inline weft_access weft_use(weft_handle* h, uint32_t units) { return weft_with_access(h, WEFT_USE, units); }

#endif
