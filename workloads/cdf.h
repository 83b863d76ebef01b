/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * cdf.h - distributions of flow sizes, as files of other simulators give them: points (bytes,
 * share of the flows that are no larger), a straight line between them.
 *
 * Two forms, told apart by their first character:
 *   text  a line `bytes share` a point, `#` begins a comment; shares go up to 100 (percent,
 *         HPCC and ConWeave) or to 1 (fraction, ns3-datacenter), which the last one decides
 *   JSON  {"points": [[bytes, share]...], ...}, other keys are ignored; likewise
 * Neither column may fall.  A first point with a share above 0 is that share of flows of just
 * that size.
 */
#ifndef ROCESIM_WORKLOADS_CDF_H
#define ROCESIM_WORKLOADS_CDF_H

#include <stddef.h>
#include <stdint.h>

#include <glib.h>

struct cdf;

#define CDF_ERROR cdf_error_quark()
GQuark cdf_error_quark(void);

enum cdf_error {
    CDF_ERROR_FILE, /* cannot be read, is empty */
    CDF_ERROR_FORM, /* a line, number or order that cannot be */
};

/* The distribution in the file 'path'; NULL with one line "FILE:LINE: ..." on error. */
struct cdf *cdf_load(const char *path, GError **error);

/* The same from memory; 'file' is for messages. */
struct cdf *cdf_parse(const char *file, const char *data, size_t n_bytes, GError **error);

void cdf_free(struct cdf *cdf); /* accepts NULL */

/* Mean size, of the straight lines before sizes are rounded. */
double cdf_mean_bytes(const struct cdf *cdf);

/* The size, >= 1, below which the share 'u64' / 2^64 of flows is; rounded to nearest.  A
 * uniform 'u64' makes a draw.  O(log points). */
int64_t cdf_draw(const struct cdf *cdf, uint64_t u64);

#endif
