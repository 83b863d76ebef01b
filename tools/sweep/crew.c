/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * crew.c - processes for the runs of a sweep, see crew.h.
 *
 * A process holds the write end of a pipe as long as it lives, so that poll() tells its end and
 * a signal alike.
 */
#include <config.h>

#include "tools/sweep/crew.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tools/command.h"
#include "tools/progress.h"
#include "tools/signals.h"
#include "tools/sweep/record.h"

/* Between two lines, seconds; a line on a terminal is renewed more often. */
#define LINE_SECONDS 10.0
#define BAR_SECONDS 0.5

/* A place for a process. */
struct slot {
    pid_t pid; /* 0: empty */
    int fd;    /* owned: read end */
    uint32_t index;
};

struct crew {
    const struct sweep *sweep;
    const uint32_t *runs;
    const char *folder;
    struct crew_end *ends;
    struct slot *slots; /* owned */
    uint32_t n, n_slots, n_next, n_running, n_done;
    struct signals signals;
    bool quiet, terminal, stopping, failed;
    double begin_s, next_s;
};

/* ---- progress ------------------------------------------------------------------------- */

static void
print_state(const struct crew *crew, const char *before, const char *after)
{
    double spent_s = progress_clock() - crew->begin_s;
    g_autoptr(GString) line = g_string_new(before);

    g_string_append_printf(line, "%u of %u runs done, %u under way", crew->n_done,
                           crew->n, crew->n_running);
    if (crew->n_done > 0 && crew->n_done < crew->n) {
        double left_s = spent_s * (crew->n - crew->n_done) / crew->n_done;

        if (left_s >= 100) {
            g_string_append_printf(line, ", about %.0f min left", left_s / 60);
        } else {
            g_string_append_printf(line, ", about %.0f s left", left_s);
        }
    }
    g_string_append(line, after);
    fputs(line->str, stderr);
    fflush(stderr);
}

static void
show(struct crew *crew)
{
    double now_s = progress_clock();

    if (crew->quiet || now_s < crew->next_s) {
        return;
    }
    crew->next_s = now_s + (crew->terminal ? BAR_SECONDS : LINE_SECONDS);
    print_state(crew,
                crew->terminal ? "\r" : "rocesim: ", crew->terminal ? "\033[K" : "\n");
}

/* ---- processes ------------------------------------------------------------------------ */

static G_GNUC_NORETURN void
be_child(const struct crew *crew, uint32_t index)
{
    g_autofree char *name = sweep_run_name(crew->sweep, crew->runs[index]);
    g_autofree char *path = g_build_filename(crew->folder, name, NULL);

    /* No run outlives its sweep. */
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    _exit(sweep_record_make(crew->sweep, crew->runs[index], path));
}

/* Starts the next run in 'slot'. */
static void
start(struct crew *crew, struct slot *slot)
{
    int fds[2];
    pid_t pid = -1;

    if (pipe2(fds, O_CLOEXEC) == 0) {
        fflush(NULL);
        pid = fork();
        if (pid == 0) {
            be_child(crew, crew->n_next);
        }
        close(fds[1]);
        if (pid < 0) {
            close(fds[0]);
        }
    }
    if (pid < 0) {
        fprintf(stderr, "rocesim: no process for a run: %s\n", g_strerror(errno));
        crew->stopping = crew->failed = true;
        return;
    }
    *slot = (struct slot){.pid = pid, .fd = fds[0], .index = crew->n_next++};
    crew->n_running++;
}

/* The process of 'slot' has ended. */
static void
reap(struct crew *crew, struct slot *slot)
{
    struct crew_end *end = &crew->ends[slot->index];
    int state = 0;

    while (waitpid(slot->pid, &state, 0) < 0 && errno == EINTR) {
    }
    *end = (struct crew_end){.is_there = true,
                             .crashed = !WIFEXITED(state),
                             .status = WIFEXITED(state) ? WEXITSTATUS(state) : 0};
    close(slot->fd);
    slot->pid = 0;
    crew->n_running--;
    crew->n_done++;
    if (!end->crashed && end->status == STATUS_OUTPUT) {
        crew->stopping = crew->failed = true; /* a full disk will not get better */
    }
    if (!end->crashed && end->status == STATUS_INTERRUPTED) {
        crew->stopping = true;
    }
}

static void
stop_all(struct crew *crew)
{
    for (uint32_t i = 0; i < crew->n_slots; i++) {
        if (crew->slots[i].pid) {
            kill(crew->slots[i].pid, SIGTERM);
        }
    }
}

/* Waits until a process has ended, a signal has come, or it is time for a line. */
static void
wait_for_any(struct crew *crew, struct pollfd fds[])
{
    nfds_t n = 0;

    for (uint32_t i = 0; i < crew->n_slots; i++) {
        fds[i] = (struct pollfd){.fd = crew->slots[i].pid ? crew->slots[i].fd : -1,
                                 .events = POLLIN};
    }
    n = crew->n_slots;
    fds[n] = (struct pollfd){.fd = crew->signals.fd, .events = POLLIN};
    poll(fds, n + 1, 500);
    for (uint32_t i = 0; i < crew->n_slots; i++) {
        if (fds[i].fd >= 0 && fds[i].revents) {
            reap(crew, &crew->slots[i]);
        }
    }
    signals_poll(&crew->signals);
    if (crew->signals.state) {
        crew->signals.state = false;
        print_state(crew, "rocesim: ", "\n");
    }
}

enum crew_outcome
crew_run(const struct sweep *sweep, const uint32_t runs[], uint32_t n, uint32_t n_at_once,
         const char *folder, bool quiet, struct crew_end ends[])
{
    struct crew crew = {.sweep = sweep,
                        .runs = runs,
                        .folder = folder,
                        .ends = ends,
                        .n = n,
                        .n_slots = MIN(n_at_once, MAX(n, 1)),
                        .quiet = quiet,
                        .terminal = isatty(STDERR_FILENO),
                        .begin_s = progress_clock()};
    g_autofree struct slot *slots = g_new0(struct slot, crew.n_slots);
    g_autofree struct pollfd *fds = g_new(struct pollfd, crew.n_slots + 1);
    bool told = false;

    crew.slots = slots;
    crew.next_s = crew.begin_s + (crew.terminal ? 0 : LINE_SECONDS);
    signals_open(&crew.signals);
    while (crew.n_running > 0 || (crew.n_next < n && !crew.stopping)) {
        for (uint32_t i = 0; i < crew.n_slots && crew.n_next < n && !crew.stopping; i++) {
            if (!slots[i].pid) {
                start(&crew, &slots[i]);
            }
        }
        show(&crew);
        wait_for_any(&crew, fds);
        crew.stopping = crew.stopping || crew.signals.stop;
        if (crew.stopping && !told) {
            told = true;
            stop_all(&crew);
        }
    }
    if (crew.terminal && !quiet) {
        fputs("\r\033[K", stderr);
    }
    signals_close(&crew.signals);
    return crew.failed ? CREW_FAILED : crew.stopping ? CREW_INTERRUPTED : CREW_DONE;
}
