/* A C program's side of a control loop: it knows fastdyn by a pointer to a function and a workspace only. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

typedef int64_t (*inverse_dynamics)(const double *q, const double *qd, const double *qdd, double *tau, void *workspace);

typedef struct {
    inverse_dynamics function;
    void *workspace;
    int64_t cycles, n;
    const double *q, *qd, *qdd; /* (cycles, n) */
    double *tau;                /* (cycles, n) */
    int64_t status;             /* all statuses, or-ed */
    volatile int done;
} job;

static void cycle(job *j, int64_t k) {
    int64_t at = k * j->n;
    j->status |= j->function(j->q + at, j->qd + at, j->qdd + at, j->tau + at, j->workspace);
}

/* all cycles, one after the other */
int64_t run(job *j) {
    for (int64_t k = 0; k < j->cycles; k++) cycle(j, k);
    j->done = 1;
    return j->status;
}

/* one cycle a period, at absolute times; returns the largest lateness, ns */
int64_t run_timed(job *j, int64_t period) {
    struct timespec due, now;
    int64_t worst = 0;
    clock_gettime(CLOCK_MONOTONIC, &due);
    for (int64_t k = 0; k < j->cycles; k++) {
        due.tv_nsec += period;
        while (due.tv_nsec >= 1000000000) due.tv_nsec -= 1000000000, due.tv_sec++;
        while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &due, NULL)) {}
        clock_gettime(CLOCK_MONOTONIC, &now);
        int64_t late = (now.tv_sec - due.tv_sec) * 1000000000 + now.tv_nsec - due.tv_nsec;
        if (late > worst) worst = late;
        cycle(j, k);
    }
    return worst;
}

static void *work(void *j) {
    run(j);
    return NULL;
}

/* each job in a thread of its own; the caller waits here, for at most 20 s. 0: all done; 1: not in time; 2: no thread */
int run_in_threads(job *jobs, int count) {
    pthread_t *threads = malloc(count * sizeof *threads);
    struct timespec nap = {0, 1000000};
    int done = 0;
    for (int i = 0; i < count; i++) {
        if (pthread_create(threads + i, NULL, work, jobs + i)) return 2;
        pthread_detach(threads[i]);
    }
    free(threads);
    for (int waited = 0; waited < 20000 && done < count; waited++) {
        nanosleep(&nap, NULL);
        done = 0;
        for (int i = 0; i < count; i++) done += jobs[i].done;
    }
    return done == count ? 0 : 1;
}
