/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * text.c - numbers as text, see text.h.
 */
#include <config.h>

#include "tools/results/text.h"

#include <string.h>

static __int128
power_of_ten(unsigned n)
{
    __int128 p = 1;

    while (n--) {
        p *= 10;
    }
    return p;
}

static void
append_u128(GString *out, unsigned __int128 value)
{
    char digits[40];
    unsigned n = 0;

    do {
        digits[n++] = (char)('0' + (int)(value % 10));
        value /= 10;
    } while (value);
    while (n) {
        g_string_append_c(out, digits[--n]);
    }
}

void
text_quotient_fixed(GString *out, __int128 num, __int128 den, unsigned decimals)
{
    __int128 scale = power_of_ten(decimals);
    __int128 size = num < 0 ? -num : num;
    /* Whole part first: the product then stays below den x 10^9. */
    __int128 whole = size / den;
    __int128 part = ((size % den) * scale + den / 2) / den;

    if (part >= scale) {
        whole++;
        part -= scale;
    }
    if (num < 0 && (whole || part)) {
        g_string_append_c(out, '-');
    }
    append_u128(out, (unsigned __int128)whole);
    if (decimals == 0) {
        return;
    }
    g_string_append_c(out, '.');
    for (__int128 p = scale / 10; p; p /= 10) {
        g_string_append_c(out, (char)('0' + (int)(part / p % 10)));
    }
}

void
text_quotient(GString *out, __int128 num, __int128 den, unsigned decimals)
{
    text_quotient_fixed(out, num, den, decimals);
    if (decimals == 0) {
        return;
    }
    while (out->str[out->len - 1] == '0') {
        g_string_truncate(out, out->len - 1);
    }
    if (out->str[out->len - 1] == '.') {
        g_string_truncate(out, out->len - 1);
    }
}

void
text_int(GString *out, int64_t value)
{
    text_quotient_fixed(out, value, 1, 0);
}

void
text_us(GString *out, int64_t time_ps)
{
    text_quotient(out, time_ps, 1000000, 6);
}

void
text_double(GString *out, double value, unsigned decimals)
{
    double scaled = value;

    for (unsigned i = 0; i < decimals; i++) {
        scaled *= 10;
    }
    if (!(scaled > -9e18 && scaled < 9e18)) {
        g_string_append(out, "0");
        return;
    }
    text_quotient(out, (int64_t)(scaled < 0 ? scaled - 0.5 : scaled + 0.5),
                  power_of_ten(decimals), decimals);
}

void
text_time(GString *out, int64_t time_ps)
{
    static const char *const units[] = {"ns", "us", "ms", "s"};
    int64_t per = 1000;
    unsigned u = 0;
    int64_t size = time_ps < 0 ? -time_ps : time_ps;

    while (u < 3 && size >= per * 1000) {
        per *= 1000;
        u++;
    }
    text_quotient_fixed(out, time_ps, per,
                        size >= per * 100  ? 1
                        : size >= per * 10 ? 2
                                           : 3);
    g_string_append_printf(out, " %s", units[u]);
}

void
text_count(GString *out, double value)
{
    static const char units[] = " kMGT";
    unsigned u = 0;

    while (u < 4 && value >= 999.5) {
        value /= 1000;
        u++;
    }
    text_double(out, value, u == 0 || value >= 100 ? 0 : value >= 10 ? 1 : 2);
    if (u) {
        g_string_append_printf(out, " %c", units[u]);
    }
}

void
text_size(GString *out, int64_t bytes)
{
    static const char *const binary[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    static const char *const decimal[] = {"B", "kB", "MB", "GB", "TB"};
    unsigned u = 0;
    int64_t per = 1;

    while (u < 4 && bytes && bytes % (per * 1024) == 0) {
        per *= 1024;
        u++;
    }
    if (u && bytes / per < 10000) {
        g_string_append_printf(out, "%" G_GINT64_FORMAT " %s", bytes / per, binary[u]);
        return;
    }
    per = 1;
    u = 0;
    while (u < 4 && bytes >= per * 1000) {
        per *= 1000;
        u++;
    }
    text_quotient(out, bytes, per, u ? 2 : 0);
    g_string_append_printf(out, " %s", decimal[u]);
}

void
text_csv(GString *out, const char *field)
{
    if (!strpbrk(field, ",\"\r\n")) {
        g_string_append(out, field);
        return;
    }
    g_string_append_c(out, '"');
    for (const char *p = field; *p; p++) {
        if (*p == '"') {
            g_string_append_c(out, '"');
        }
        g_string_append_c(out, *p);
    }
    g_string_append_c(out, '"');
}
