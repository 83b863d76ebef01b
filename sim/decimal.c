/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * decimal.c - reads decimal numbers exactly: digits into 128 bits, then one multiplication by
 * the unit and one division by the power of ten.
 */
#include <config.h>

#include "sim/decimal.h"

/* As text, in any locale. */
static bool
is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* "e-3" behind the digits at 'text', if an exponent stands there. */
static const char *
exponent_read(const char *text, struct decimal *d)
{
    enum { EXPONENT_MAX = 1000 };
    int sign = text[1] == '-' ? -1 : 1, exponent = 0;
    bool is_signed = text[1] == '-' || text[1] == '+';

    if ((*text != 'e' && *text != 'E') || !is_digit(text[is_signed ? 2 : 1])) {
        return text;
    }
    for (text += is_signed ? 2 : 1; is_digit(*text); text++) {
        exponent = exponent * 10 + (*text - '0');
        exponent = exponent < EXPONENT_MAX ? exponent : EXPONENT_MAX;
    }
    d->decimals -= sign * exponent;
    return text;
}

unsigned __int128
decimal_power(int n)
{
    unsigned __int128 power = 1;

    while (n-- > 0) {
        power *= 10;
    }
    return power;
}

bool
decimal_read(const char *text, struct decimal *d)
{
    bool any = false, point = false;
    int n_digits = 0;

    *d = (struct decimal){.rest = text};
    if (*text == '-' || *text == '+') {
        d->negative = *text++ == '-';
    }
    for (;; text++) {
        if (*text == '.' && !point) {
            point = true;
            continue;
        }
        if (!is_digit(*text)) {
            break;
        }
        any = true;
        d->decimals += point;
        n_digits += n_digits > 0 || *text != '0';
        if (n_digits > DECIMAL_DIGITS_MAX) {
            return false;
        }
        d->digits = d->digits * 10 + (unsigned)(*text - '0');
    }
    if (!any || text[-1] == '.') {
        return false;
    }
    d->rest = *text == '\0' ? text : exponent_read(text, d);
    return true;
}

enum decimal_fit
decimal_scale(const struct decimal *d, int64_t size, bool rounds, int64_t *value)
{
    int places = d->decimals < 0 ? -d->decimals : d->decimals;
    unsigned __int128 product = d->digits * (unsigned __int128)size;
    unsigned __int128 power =
        decimal_power(places < DECIMAL_POWER_MAX ? places : DECIMAL_POWER_MAX);

    if (d->decimals > DECIMAL_POWER_MAX && product != 0) {
        if (!rounds) {
            return DECIMAL_NOT_WHOLE;
        }
        product = 0;
    } else if (d->decimals >= 0) {
        if (!rounds && product % power != 0) {
            return DECIMAL_NOT_WHOLE;
        }
        product = (product + power / 2) / power;
    } else if (product > (unsigned __int128)INT64_MAX / power) {
        return DECIMAL_TOO_LARGE;
    } else {
        product *= power;
    }
    if (product > (unsigned __int128)INT64_MAX) {
        return DECIMAL_TOO_LARGE;
    }
    *value = (int64_t)product;
    return DECIMAL_FITS;
}
