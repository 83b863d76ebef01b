/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * signals.c - SIGINT, SIGTERM and SIGUSR1 as something one asks about, see signals.h.
 */
#include <config.h>

#include "tools/signals.h"

#include <pthread.h>
#include <sys/signalfd.h>
#include <unistd.h>

void
signals_open(struct signals *signals)
{
    sigset_t wanted;

    *signals = (struct signals){.fd = -1};
    sigemptyset(&wanted);
    sigaddset(&wanted, SIGINT);
    sigaddset(&wanted, SIGTERM);
    sigaddset(&wanted, SIGUSR1);
    signals->fd = signalfd(-1, &wanted, SFD_NONBLOCK | SFD_CLOEXEC);
    if (signals->fd >= 0) {
        pthread_sigmask(SIG_BLOCK, &wanted, &signals->old);
    }
}

void
signals_poll(struct signals *signals)
{
    struct signalfd_siginfo info;

    while (signals->fd >= 0 && read(signals->fd, &info, sizeof info) == sizeof info) {
        if (info.ssi_signo == SIGUSR1) {
            signals->state = true;
        } else {
            signals->stop = true;
        }
    }
}

void
signals_close(struct signals *signals)
{
    if (signals->fd >= 0) {
        /* What came meanwhile has been heard or comes too late. */
        signals_poll(signals);
        close(signals->fd);
        signals->fd = -1;
        pthread_sigmask(SIG_SETMASK, &signals->old, NULL);
    }
}
