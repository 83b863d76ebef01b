/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * signals.h - SIGINT, SIGTERM and SIGUSR1 as something one asks about.
 *
 * They are blocked and read from a descriptor, so there is no handler and no global state.
 * Open before any thread is made.
 */
#ifndef ROCESIM_TOOLS_SIGNALS_H
#define ROCESIM_TOOLS_SIGNALS_H

#include <signal.h>
#include <stdbool.h>

struct signals {
    int fd;       /* owned; -1: signals do what they always do */
    sigset_t old; /* the mask before */
    bool stop;    /* SIGINT or SIGTERM has come */
    bool state;   /* SIGUSR1 has come: print the state, then clear this */
};

void signals_open(struct signals *signals);

/* Takes in what has come since. */
void signals_poll(struct signals *signals);

void signals_close(struct signals *signals);

#endif
