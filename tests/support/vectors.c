/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * vectors.c - frames with their ICRC: "name | len N | icrc(wire bytes) HEX | HEX...".
 */
#include <config.h>

#include "tests/support/vectors.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>
#include <glib.h>

#include "tests/support/data.h"

static void
read_line(const char *line, struct vector *vector)
{
    g_auto(GStrv) part = g_strsplit(line, " | ", 0);
    const char *hex = part[0] && part[1] && part[2] ? part[3] : NULL;

    assert_non_null(hex);
    g_strlcpy(vector->name, part[0], sizeof vector->name);
    vector->n_bytes = strlen(hex) / 2;
    assert_in_range(vector->n_bytes, 60, VECTOR_MAX_BYTES);
    for (size_t i = 0; i < vector->n_bytes; i++) {
        vector->bytes[i] = (uint8_t)(g_ascii_xdigit_value(hex[2 * i]) << 4 |
                                     g_ascii_xdigit_value(hex[2 * i + 1]));
    }
    assert_int_equal(g_ascii_strtoull(part[1] + strlen("len "), NULL, 10),
                     vector->n_bytes);
    vector->icrc =
        (uint32_t)g_ascii_strtoull(part[2] + strlen("icrc(wire bytes) "), NULL, 16);
}

struct vector *
vectors_read(size_t *n)
{
    static const char *const files[] = {"tests/data/icrc/icrc-vectors.txt",
                                        "tests/data/icrc/published.txt"};
    GArray *all = g_array_new(FALSE, TRUE, sizeof(struct vector));

    for (size_t f = 0; f < G_N_ELEMENTS(files); f++) {
        g_autofree char *path = data_path(files[f]), *text = NULL;

        assert_true(g_file_get_contents(path, &text, NULL, NULL));
        g_auto(GStrv) lines = g_strsplit(text, "\n", 0);

        for (char **line = lines; *line; line++) {
            struct vector vector = {.icrc = 0};

            if (**line) {
                read_line(*line, &vector);
                g_array_append_val(all, vector);
            }
        }
    }
    *n = all->len;
    return (struct vector *)(void *)g_array_free(all, FALSE);
}

const struct vector *
vectors_find(const struct vector *vectors, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++) {
        if (g_str_has_prefix(vectors[i].name, name)) {
            return &vectors[i];
        }
    }
    fail_msg("no vector '%s'", name);
    return NULL;
}
