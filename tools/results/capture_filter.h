/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * capture_filter.h - which frames a capture keeps: "class=3,opcode=cnp|ack,!marked".
 *
 *     filter  = term {"," term}           all must hold
 *     term    = ["!"] (name | name "=" value {"|" value})
 *     class   0 to 7; of a pause frame each class it speaks to
 *     qp      destination QP number, decimal or 0x...
 *     opcode  send write read read-response ack nak rnr cnp pfc, or the number of a BTH
 *             opcode
 *     marked  ECN says CE
 *     control ACK, NAK, RNR NAK, CNP, PFC
 */
#ifndef ROCESIM_TOOLS_RESULTS_CAPTURE_FILTER_H
#define ROCESIM_TOOLS_RESULTS_CAPTURE_FILTER_H

#include <glib.h>

#include "models/wire.h"

#define CAPTURE_FILTER_ERROR capture_filter_error_quark()
GQuark capture_filter_error_quark(void);

enum capture_filter_error {
    CAPTURE_FILTER_ERROR_SYNTAX,
};

struct capture_filter;

/* Reads 'text'; the message of 'error' says what is wrong and what is allowed.  Owned by the
 * caller. */
struct capture_filter *capture_filter_new(const char *text, GError **error);

/* Does a frame of traffic class 'cls' pass? */
gboolean capture_filter_passes(const struct capture_filter *filter,
                               const struct wire_frame *frame, unsigned cls);

void capture_filter_free(struct capture_filter *filter); /* accepts NULL */

#endif
