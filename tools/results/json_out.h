/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * json_out.h - JSON as text, keys in the order they are given, numbers by text.h.
 *
 * Every value takes its key first; NULL inside an array.
 */
#ifndef ROCESIM_TOOLS_RESULTS_JSON_OUT_H
#define ROCESIM_TOOLS_RESULTS_JSON_OUT_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

struct json_out {
    GString *text; /* borrowed */
    unsigned depth;
    bool some; /* the open object or array has an entry */
    bool flat; /* what is open stands on one line */
};

void json_out_init(struct json_out *json, GString *text);

/* Opens an object '{' or array '['; 'flat': on one line, and nothing is opened in it. */
void json_out_open(struct json_out *json, const char *key, char bracket, bool flat);
/* Closes it with '}' or ']'. */
void json_out_close(struct json_out *json, char bracket);

void json_out_text(struct json_out *json, const char *key, const char *value);
void json_out_int(struct json_out *json, const char *key, int64_t value);
void json_out_bool(struct json_out *json, const char *key, bool value);
void json_out_null(struct json_out *json, const char *key);
/* Microseconds of 'time_ps'; null when that is TIME_NEVER_PS. */
void json_out_us(struct json_out *json, const char *key, int64_t time_ps);
/* 'num' / 'den' with at most six places; null when 'den' is 0. */
void json_out_quotient(struct json_out *json, const char *key, __int128 num,
                       __int128 den);
/* A measured value. */
void json_out_double(struct json_out *json, const char *key, double value,
                     unsigned decimals);

#endif
