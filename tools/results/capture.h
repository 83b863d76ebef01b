/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * capture.h - frames of a run as captures: one nanosecond pcap file a tap, written by
 * libpcap while the run goes on.
 *
 * Frames come merged and in order from the network's taps (net.tapped).  A file's frames
 * are in order of time, then port, then in before out.  They have no FCS, as those of real
 * captures; times are simulated time and those of a frame's last bit.
 */
#ifndef ROCESIM_TOOLS_RESULTS_CAPTURE_H
#define ROCESIM_TOOLS_RESULTS_CAPTURE_H

#include "models/net.h"
#include "tools/results/outdir.h"

/* Files one run may write; a guess at what stays below a process's limit of open ones. */
#define CAPTURE_MAX_FILES 256

/* A file to be written. */
struct capture_file {
    char *name;                   /* owned: "leaf0-1.pcap" */
    uint32_t first_port, n_ports; /* dense ids */
    unsigned dirs;                /* bits of enum tap_dir */
    const char *filter;           /* borrowed; well-formed; NULL: everything */
    int64_t snap_bytes;           /* of a frame; -1: whole */
    int64_t max_bytes;            /* of the file; -1: no limit */
};

/* Frees what a capture_file owns; for g_array_set_clear_func(). */
void capture_file_clear(void *file);

struct capture;

/* Opens 'files' (struct capture_file, borrowed) in 'dir' (borrowed) for 'net' (borrowed).
 * Owned by the caller. */
struct capture *capture_new(const struct outdir *dir, const struct net *net,
                            const GArray *files, GError **error);

/* For net_watch.frames. */
struct tap_sink capture_sink(struct capture *capture);

/* Could something not be written? */
gboolean capture_has_failed(const struct capture *capture);

/* Ends all files.  'notes' (owned strings) gets a line for each that is not whole. */
gboolean capture_finish(struct capture *capture, GPtrArray *notes, GError **error);

void capture_free(struct capture *capture); /* accepts NULL */

#endif
