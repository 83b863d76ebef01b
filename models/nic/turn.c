/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * turn.c - what a queue pair sends next that has more than plain requests: READs, responses
 * to READs of its peer, packets of a selective repeat that are to go again.
 * Called by send.c for QPs with 'special' only.
 *
 * The two roles of a QP are two engines in a NIC.  Where both have something they take
 * turns packet by packet; the pace of the QP holds for both together, since its rate is
 * that of what it puts on the wire.  What is to be sent again goes before what is new.
 */
#include <config.h>

#include "models/nic/inner.h"
#include "models/nic/window.h"

/* When the requester could send, the pace aside. */
static int64_t
request_ready_ps(const struct qp *qp)
{
    if (qp->halted) {
        return TIME_NEVER_PS;
    }
    if (qp->special & QP_LOST) {
        return 0;
    }
    if (!qp->cur ||
        !(qp->cur->verb == QP_READ ? nic_may_read(qp) : nic_window_is_open(qp))) {
        return TIME_NEVER_PS;
    }
    return qp->cur->ready_ps;
}

/* When the responder could.  Its first answer is a READ: others do not wait. */
static int64_t
response_ready_ps(const struct qp *qp)
{
    return qp->failed || !qp->answers.head ? TIME_NEVER_PS : qp->answers.head->ready_ps;
}

int64_t
nic_turn_ready_ps(const struct qp *qp)
{
    int64_t request_ps = request_ready_ps(qp);
    int64_t response_ps = response_ready_ps(qp);

    return request_ps < response_ps ? request_ps : response_ps;
}

struct packet *
nic_turn_make(struct lp *lp, struct qp *qp, int64_t start_ps)
{
    bool may_request = request_ready_ps(qp) <= start_ps;
    bool may_respond = response_ready_ps(qp) <= start_ps;

    qp->answered_last = may_respond && !(may_request && qp->answered_last);
    if (qp->answered_last) {
        return nic_make_response(lp, qp);
    }
    if (qp->special & QP_LOST) {
        return nic_sr_make_again(lp, qp);
    }
    return qp->cur->verb == QP_READ ? nic_make_next_read(lp, qp) : nic_make_data(lp, qp);
}
