/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * cdf.c - reads and draws from a distribution of flow sizes.
 *
 * Source: traffic_gen, custom_rand.py and its data, of the HPCC simulator (sizes drawn below 1 become
 * 1); examples/PowerTCP/websearch.txt of ns3-datacenter.
 */
#include <config.h>

#include "workloads/cdf.h"

#include <string.h>

#include <jansson.h>

#include "sim/text.h"

/* Largest size, and the whole in the unit of shares as they are read. */
#define BYTES_MAX (INT64_C(1) << 60)
#define SHARE_UNIT INT64_C(1000000000000000)

/* A flow whose number is below 'to' (of 2^64; the last one is 2^64 itself) and not below that of
 * the point before is between the two. */
struct point {
    int64_t bytes;
    int64_t share;           /* as written, times SHARE_UNIT */
    unsigned __int128 until; /* share of 2^64 */
};

struct cdf {
    guint n;
    struct point *points; /* owned */
};

/* Adds a point that was read with 't'. */
static bool
add_point(struct text *t, GArray *points, int64_t bytes, int64_t share)
{
    const struct point *last =
        points->len > 0 ? &g_array_index(points, struct point, points->len - 1) : NULL;
    struct point point = {.bytes = bytes, .share = share};

    if (last != NULL && bytes < last->bytes) {
        return text_fail(t,
                         "bytes fall from %" G_GINT64_FORMAT " to %" G_GINT64_FORMAT
                         "; allowed is the same or more",
                         last->bytes, bytes);
    }
    if (last != NULL && share < last->share) {
        return text_fail(t, "the share falls to %.15g; allowed is %.15g or more",
                         (double)share / (double)SHARE_UNIT,
                         (double)last->share / (double)SHARE_UNIT);
    }
    if (share > 100 * SHARE_UNIT) {
        return text_fail(t, "the share is %.15g; allowed is up to 100 (percent)",
                         (double)share / (double)SHARE_UNIT);
    }
    g_array_append_val(points, point);
    return true;
}

static bool
read_lines(struct text *t, GArray *points)
{
    do {
        int64_t bytes, share;

        if (!text_next_in_line(t) || t->word[0] == '#') {
            continue;
        }
        if (!text_as_integer(t, "bytes", 0, BYTES_MAX, &bytes)) {
            return false;
        }
        if (!text_next_in_line(t)) {
            return text_fail(t, "has one number; needed are two, bytes and their share");
        }
        if (!text_as_decimal(t, "the share", SHARE_UNIT, &share) ||
            !add_point(t, points, bytes, share)) {
            return false;
        }
        if (text_next_in_line(t) && t->word[0] != '#') {
            return text_fail(t,
                             "'%.60s' follows; allowed are two numbers, bytes and their "
                             "share",
                             t->word);
        }
    } while (!t->failed && text_skip_line(t));
    return !t->failed;
}

/* A number of JSON as the shortest decimal that means it, so that 22.93 is just that. */
static bool
read_number(struct text *t, const json_t *json, guint i, const char *what)
{
    if (!json_is_number(json)) {
        return text_fail(t, "points[%u] has no number of %s; allowed is [bytes, share]",
                         i, what);
    }
    if (json_is_integer(json)) {
        g_snprintf(t->word, sizeof t->word, "%" JSON_INTEGER_FORMAT,
                   json_integer_value(json));
    } else {
        g_ascii_formatd(t->word, sizeof t->word, "%.15g", json_real_value(json));
    }
    return true;
}

static bool
read_json(struct text *t, size_t n_bytes, GArray *points)
{
    json_error_t cause;
    json_t *root = json_loadb(t->at, n_bytes, JSON_REJECT_DUPLICATES, &cause);
    json_t *list = json_object_get(root, "points"), *pair;
    bool ok = true;
    size_t i;

    if (root == NULL) {
        t->line = (unsigned)MAX(cause.line, 1);
        return text_fail(t, "no JSON: %s", cause.text);
    }
    if (!json_is_array(list)) {
        ok = text_fail(t, "points is %s; needed is a list of [bytes, share]",
                       list == NULL ? "missing" : "no list");
    }
    json_array_foreach(list, i, pair)
    {
        int64_t bytes, share;

        ok = ok && read_number(t, json_array_get(pair, 0), (guint)i, "bytes") &&
             text_as_integer(t, "bytes of a point", 0, BYTES_MAX, &bytes) &&
             read_number(t, json_array_get(pair, 1), (guint)i, "their share") &&
             text_as_decimal(t, "the share of a point", SHARE_UNIT, &share) &&
             add_point(t, points, bytes, share);
    }
    json_decref(root);
    return ok;
}

/* Percent or fraction, by the last point; fills 'until'. */
static bool
scale_points(struct text *t, GArray *points)
{
    struct point *list = (struct point *)(void *)points->data;
    int64_t whole;

    if (points->len < 2) {
        return text_fail(t, "has %u points; needed are 2 or more", points->len);
    }
    whole = list[points->len - 1].share;
    if (whole != SHARE_UNIT && whole != 100 * SHARE_UNIT) {
        return text_fail(
            t, "the last share is %.15g; needed is 100 (percent) or 1 (fraction)",
            (double)whole / (double)SHARE_UNIT);
    }
    if (list[points->len - 1].bytes < 1) {
        return text_fail(t, "the largest size is 0; needed is 1 or more");
    }
    for (guint i = 0; i < points->len; i++) {
        /* 57 + 64 bits. */
        list[i].until = ((unsigned __int128)list[i].share << 64) / (uint64_t)whole;
    }
    return true;
}

GQuark
cdf_error_quark(void)
{
    return g_quark_from_static_string("cdf-error");
}

struct cdf *
cdf_parse(const char *file, const char *data, size_t n_bytes, GError **error)
{
    g_autoptr(GArray) points = g_array_new(FALSE, FALSE, sizeof(struct point));
    const char *first = data;
    struct text t;
    struct cdf *cdf;
    bool ok;

    text_init(&t, file, data, n_bytes);
    while (first < data + n_bytes && g_ascii_isspace(*first)) {
        first++;
    }
    ok = first < data + n_bytes && *first == '{' ? read_json(&t, n_bytes, points)
                                                 : read_lines(&t, points);
    if (!ok || !scale_points(&t, points)) {
        g_set_error(error, CDF_ERROR, CDF_ERROR_FORM, "%s", t.message);
        return NULL;
    }
    cdf = g_new0(struct cdf, 1);
    cdf->n = points->len;
    cdf->points = g_memdup2(points->data, points->len * sizeof(struct point));
    return cdf;
}

struct cdf *
cdf_load(const char *path, GError **error)
{
    g_autoptr(GError) cause = NULL;
    g_autofree char *data = NULL;
    gsize n_bytes;

    if (!g_file_get_contents(path, &data, &n_bytes, &cause)) {
        g_set_error(error, CDF_ERROR, CDF_ERROR_FILE, "%s: %s", path, cause->message);
        return NULL;
    }
    return cdf_parse(path, data, n_bytes, error);
}

void
cdf_free(struct cdf *cdf)
{
    if (cdf != NULL) {
        g_free(cdf->points);
        g_free(cdf);
    }
}

double
cdf_mean_bytes(const struct cdf *cdf)
{
    const struct point *p = cdf->points;
    double whole = (double)p[cdf->n - 1].share;
    double mean = (double)p[0].bytes * (double)p[0].share / whole;

    for (guint i = 1; i < cdf->n; i++) {
        mean += ((double)p[i].bytes + (double)p[i - 1].bytes) / 2 *
                (double)(p[i].share - p[i - 1].share) / whole;
    }
    return mean;
}

int64_t
cdf_draw(const struct cdf *cdf, uint64_t u64)
{
    const struct point *p = cdf->points;
    guint low = 0, high = cdf->n - 1; /* the first with u64 < until is in [low, high] */

    while (low < high) {
        guint middle = (low + high) / 2;

        if (u64 < p[middle].until) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    if (low == 0) {
        return MAX(p[0].bytes, 1);
    }
    /* 60 + 64 bits. */
    unsigned __int128 part = u64 - p[low - 1].until,
                      width = p[low].until - p[low - 1].until;
    unsigned __int128 rise = (unsigned __int128)(p[low].bytes - p[low - 1].bytes) * part;
    int64_t bytes = p[low - 1].bytes + (int64_t)((rise + width / 2) / width);

    return MAX(bytes, 1);
}
