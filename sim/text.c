/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * text.c - words and numbers of a text file, and where they stand.
 */
#include <config.h>

#include "sim/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "sim/decimal.h"

static bool
is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}

void
text_init(struct text *t, const char *name, const char *data, size_t n_bytes)
{
    t->name = name;
    t->at = data, t->end = data + n_bytes;
    t->line = t->next_line = 1;
    t->failed = false;
    t->word[0] = t->message[0] = '\0';
}

bool
text_fail(struct text *t, const char *format, ...)
{
    va_list args;
    int n;

    if (t->failed) {
        return false;
    }
    t->failed = true;
    n = snprintf(t->message, sizeof t->message, "%s:%u: ", t->name, t->line);
    if (n < 0 || n > TEXT_MESSAGE_MAX) {
        return false;
    }
    va_start(args, format);
    vsnprintf(t->message + n, sizeof t->message - (size_t)n, format, args);
    va_end(args);
    for (char *c = t->message + n; *c != '\0'; c++) {
        *c = *c >= ' ' && *c <= '~' ? *c : '?';
    }
    return false;
}

bool
text_next_in_line(struct text *t)
{
    size_t n = 0;

    t->word[0] = '\0';
    while (t->at < t->end && is_blank(*t->at)) {
        t->at++;
    }
    t->line = t->next_line;
    if (t->failed || t->at == t->end || *t->at == '\n') {
        return false;
    }
    while (t->at + n < t->end && t->at[n] != '\n' && !is_blank(t->at[n])) {
        if (t->at[n] == '\0') {
            return text_fail(t, "holds a byte 0; allowed is text");
        }
        if (n == TEXT_WORD_MAX) {
            return text_fail(t, "'%.20s...' is longer than %d characters", t->at,
                             TEXT_WORD_MAX);
        }
        t->word[n] = t->at[n];
        n++;
    }
    t->word[n] = '\0';
    t->at += n;
    return true;
}

bool
text_skip_line(struct text *t)
{
    const char *stop = memchr(t->at, '\n', (size_t)(t->end - t->at));

    t->next_line += stop != NULL;
    t->at = stop != NULL ? stop + 1 : t->end;
    return t->at < t->end;
}

bool
text_next(struct text *t)
{
    while (!text_next_in_line(t)) {
        if (t->failed || !text_skip_line(t)) {
            return false;
        }
    }
    return true;
}

bool
text_at_end(const struct text *t)
{
    const char *at = t->at;

    while (at < t->end && (*at == '\n' || is_blank(*at))) {
        at++;
    }
    return at == t->end;
}

bool
text_need(struct text *t, const char *what)
{
    return text_next(t) || text_fail(t, "the file ends where %s is needed", what);
}

bool
text_as_integer(struct text *t, const char *what, int64_t min, int64_t max,
                int64_t *value)
{
    struct decimal d;

    if (t->failed) {
        return false;
    }
    if (!decimal_read(t->word, &d) || *d.rest != '\0' ||
        decimal_scale(&d, 1, false, value) == DECIMAL_NOT_WHOLE) {
        return text_fail(t, "%s is '%.60s'; allowed is a whole number", what, t->word);
    }
    if (decimal_scale(&d, 1, false, value) == DECIMAL_FITS) {
        *value = d.negative ? -*value : *value;
        if (*value >= min && *value <= max) {
            return true;
        }
    }
    return text_fail(t, "%s is %.60s; allowed is %lld to %lld", what, t->word,
                     (long long)min, (long long)max);
}

bool
text_as_decimal(struct text *t, const char *what, int64_t size, int64_t *value)
{
    struct decimal d;

    if (t->failed) {
        return false;
    }
    if (!decimal_read(t->word, &d) || *d.rest != '\0') {
        return text_fail(t, "%s is '%.60s'; allowed is a number", what, t->word);
    }
    if (d.negative && d.digits != 0) {
        return text_fail(t, "%s is %.60s; allowed is 0 or more", what, t->word);
    }
    return decimal_scale(&d, size, true, value) == DECIMAL_FITS ||
           text_fail(t, "%s is %.60s, which is too large", what, t->word);
}

bool
text_integer(struct text *t, const char *what, int64_t min, int64_t max, int64_t *value)
{
    return text_need(t, what) && text_as_integer(t, what, min, max, value);
}

bool
text_decimal(struct text *t, const char *what, int64_t size, int64_t *value)
{
    return text_need(t, what) && text_as_decimal(t, what, size, value);
}
