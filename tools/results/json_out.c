/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * json_out.c - JSON as text, see json_out.h.
 */
#include <config.h>

#include "tools/results/json_out.h"

#include "sim/units.h"
#include "tools/results/text.h"

static void
append_string(GString *text, const char *value)
{
    g_string_append_c(text, '"');
    for (const unsigned char *p = (const unsigned char *)value; *p; p++) {
        if (*p == '"' || *p == '\\') {
            g_string_append_c(text, '\\');
            g_string_append_c(text, (char)*p);
        } else if (*p < 0x20) {
            g_string_append_printf(text, "\\u%04x", *p);
        } else {
            g_string_append_c(text, (char)*p);
        }
    }
    g_string_append_c(text, '"');
}

static void
new_line(struct json_out *json)
{
    g_string_append_c(json->text, '\n');
    for (unsigned i = 0; i < json->depth; i++) {
        g_string_append(json->text, "  ");
    }
}

static void
begin_value(struct json_out *json, const char *key)
{
    if (json->depth == 0) {
        return;
    }
    if (json->some) {
        g_string_append_c(json->text, ',');
    }
    if (!json->flat) {
        new_line(json);
    } else if (json->some) {
        g_string_append_c(json->text, ' ');
    }
    json->some = true;
    if (key) {
        append_string(json->text, key);
        g_string_append(json->text, ": ");
    }
}

void
json_out_init(struct json_out *json, GString *text)
{
    *json = (struct json_out){.text = text};
}

void
json_out_open(struct json_out *json, const char *key, char bracket, bool flat)
{
    begin_value(json, key);
    g_string_append_c(json->text, bracket);
    json->depth++;
    json->some = false;
    json->flat = flat;
}

void
json_out_close(struct json_out *json, char bracket)
{
    json->depth--;
    if (json->some && !json->flat) {
        new_line(json);
    }
    g_string_append_c(json->text, bracket);
    json->some = true;
    json->flat = false;
    if (json->depth == 0) {
        g_string_append_c(json->text, '\n');
    }
}

void
json_out_text(struct json_out *json, const char *key, const char *value)
{
    g_autofree char *valid = g_utf8_make_valid(value, -1);

    begin_value(json, key);
    append_string(json->text, valid);
}

void
json_out_int(struct json_out *json, const char *key, int64_t value)
{
    begin_value(json, key);
    text_int(json->text, value);
}

void
json_out_bool(struct json_out *json, const char *key, bool value)
{
    begin_value(json, key);
    g_string_append(json->text, value ? "true" : "false");
}

void
json_out_null(struct json_out *json, const char *key)
{
    begin_value(json, key);
    g_string_append(json->text, "null");
}

void
json_out_us(struct json_out *json, const char *key, int64_t time_ps)
{
    if (time_ps == TIME_NEVER_PS) {
        json_out_null(json, key);
        return;
    }
    begin_value(json, key);
    text_us(json->text, time_ps);
}

void
json_out_quotient(struct json_out *json, const char *key, __int128 num, __int128 den)
{
    if (den == 0) {
        json_out_null(json, key);
        return;
    }
    begin_value(json, key);
    text_quotient(json->text, num, den, 6);
}

void
json_out_double(struct json_out *json, const char *key, double value, unsigned decimals)
{
    begin_value(json, key);
    text_double(json->text, value, decimals);
}
