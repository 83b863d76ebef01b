/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * capture_filter.c - which frames a capture keeps, see capture_filter.h.
 */
#include <config.h>

#include "tools/results/capture_filter.h"

#include <string.h>

#define N_OPCODES 256
#define NUMBER_MAX 0xFFFFFF
#define ALLOWED                                                                          \
    "allowed are class=N, qp=N, opcode=NAME, marked and control, alternatives joined "   \
    "by "                                                                                \
    "'|', terms by ',', '!' before a term to turn it round"
#define OPCODES_ALLOWED                                                                  \
    "allowed are send, write, read, read-response, ack, nak, rnr, cnp, pfc and numbers " \
    "from 0 to 255"

/* What frames are called; a word of `opcode`. */
enum group {
    GROUP_SEND,
    GROUP_WRITE,
    GROUP_READ,
    GROUP_READ_RESPONSE,
    GROUP_ACK,
    GROUP_NAK,
    GROUP_RNR,
    GROUP_CNP,
    GROUP_PFC,
    GROUP_OTHER,
};

static const char *const group_words[] = {
    "send", "write", "read", "read-response", "ack", "nak", "rnr", "cnp", "pfc"};

enum term_kind { TERM_CLASS, TERM_QP, TERM_OPCODE, TERM_MARKED, TERM_CONTROL };

static const char *const term_words[] = {"class", "qp", "opcode", "marked", "control"};

struct term {
    enum term_kind kind;
    bool turned;
    uint32_t groups;         /* bit g: frames of group g */
    bool opcodes[N_OPCODES]; /* numbers of BTH.opcode */
    GArray *numbers;         /* owned: uint32_t; classes, QPs */
};

struct capture_filter {
    GArray *terms; /* owned: struct term */
};

GQuark
capture_filter_error_quark(void)
{
    return g_quark_from_static_string("capture-filter-error");
}

static gboolean
fail(GError **error, const char *text, const char *what)
{
    g_set_error(error, CAPTURE_FILTER_ERROR, CAPTURE_FILTER_ERROR_SYNTAX, "'%.40s' %s",
                text, what);
    return FALSE;
}

/* ---- reading -------------------------------------------------------------------------- */

/* Index of 'text' in 'words', or -1. */
static int
word_find(const char *const *words, size_t n, const char *text)
{
    for (size_t i = 0; i < n; i++) {
        if (strcmp(words[i], text) == 0) {
            return (int)i;
        }
    }
    return -1;
}

/* Decimal or hexadecimal, at most 'max'. */
static bool
read_number(const char *text, uint32_t max, uint32_t *value)
{
    bool is_hex = g_str_has_prefix(text, "0x") || g_str_has_prefix(text, "0X");
    const char *digits = is_hex ? text + 2 : text;
    char *end;

    if (!g_ascii_isxdigit(digits[0]) || strlen(digits) > 10) {
        return false;
    }
    guint64 number = g_ascii_strtoull(digits, &end, is_hex ? 16 : 10);

    *value = (uint32_t)number;
    return *end == '\0' && number <= max;
}

static gboolean
read_value(struct term *term, const char *text, GError **error)
{
    uint32_t number;
    int group;

    switch (term->kind) {
    case TERM_CLASS:
        if (!read_number(text, WIRE_CLASSES - 1, &number)) {
            return fail(error, text, "is no class; allowed are 0 to 7");
        }
        g_array_append_val(term->numbers, number);
        return TRUE;
    case TERM_QP:
        if (!read_number(text, NUMBER_MAX, &number)) {
            return fail(error, text, "is no QP number; allowed are 0 to 0xffffff");
        }
        g_array_append_val(term->numbers, number);
        return TRUE;
    case TERM_OPCODE:
        group = word_find(group_words, G_N_ELEMENTS(group_words), text);
        if (group >= 0) {
            term->groups |= 1u << group;
        } else if (read_number(text, N_OPCODES - 1, &number)) {
            term->opcodes[number] = true;
        } else {
            return fail(error, text, "is no opcode; " OPCODES_ALLOWED);
        }
        return TRUE;
    case TERM_MARKED:
    case TERM_CONTROL:
        break;
    }
    return TRUE;
}

static gboolean
read_values(struct term *term, const char *name, const char *values, GError **error)
{
    bool takes =
        term->kind == TERM_CLASS || term->kind == TERM_QP || term->kind == TERM_OPCODE;

    if (!takes) {
        return values == NULL || fail(error, name, "takes no value");
    }
    if (values == NULL) {
        return fail(error, name, "needs a value, such as 'class=3'");
    }
    g_auto(GStrv) list = g_strsplit(values, "|", -1);

    if (list[0] == NULL) {
        return fail(error, name, "needs a value, such as 'class=3'");
    }
    for (char **at = list; *at; at++) {
        if (!read_value(term, g_strstrip(*at), error)) {
            return FALSE;
        }
    }
    return TRUE;
}

static gboolean
read_term(char *text, struct term *term, GError **error)
{
    char *name = g_strstrip(text), *values;
    int kind;

    if (name[0] == '!') {
        term->turned = true;
        name = g_strstrip(name + 1);
    }
    values = strchr(name, '=');
    if (values) {
        *values++ = '\0';
        g_strstrip(name);
    }
    kind = word_find(term_words, G_N_ELEMENTS(term_words), name);
    if (kind < 0) {
        return fail(error, name, "is no term of a filter; " ALLOWED);
    }
    term->kind = (enum term_kind)kind;
    return read_values(term, name, values, error);
}

static void
term_clear(void *data)
{
    struct term *term = data;

    g_array_unref(term->numbers);
}

struct capture_filter *
capture_filter_new(const char *text, GError **error)
{
    g_auto(GStrv) list = g_strsplit(text, ",", -1);
    struct capture_filter *filter;

    if (list[0] == NULL) {
        fail(error, text, "is no term of a filter; " ALLOWED);
        return NULL;
    }
    filter = g_new0(struct capture_filter, 1);
    filter->terms = g_array_new(FALSE, TRUE, sizeof(struct term));
    g_array_set_clear_func(filter->terms, term_clear);
    for (char **at = list; *at; at++) {
        struct term term = {.numbers = g_array_new(FALSE, FALSE, sizeof(uint32_t))};
        gboolean is_fine = read_term(*at, &term, error);

        g_array_append_val(filter->terms, term);
        if (!is_fine) {
            capture_filter_free(filter);
            return NULL;
        }
    }
    return filter;
}

/* ---- passing -------------------------------------------------------------------------- */

static enum group
group_of_answer(uint8_t syndrome)
{
    switch (syndrome & WIRE_SYNDROME_TYPE) {
    case 0:
        return GROUP_ACK;
    case WIRE_RNR:
        return GROUP_RNR;
    default:
        return GROUP_NAK;
    }
}

static enum group
group_of(const struct wire_frame *frame)
{
    if (frame->kind == WIRE_PFC) {
        return GROUP_PFC;
    }
    switch ((enum wire_opcode)frame->bth.opcode) {
    case WIRE_RC_WRITE_FIRST:
    case WIRE_RC_WRITE_MIDDLE:
    case WIRE_RC_WRITE_LAST:
    case WIRE_RC_WRITE_LAST_IMM:
    case WIRE_RC_WRITE_ONLY:
    case WIRE_RC_WRITE_ONLY_IMM:
        return GROUP_WRITE;
    case WIRE_RC_SEND_FIRST:
    case WIRE_RC_SEND_MIDDLE:
    case WIRE_RC_SEND_LAST:
    case WIRE_RC_SEND_LAST_IMM:
    case WIRE_RC_SEND_ONLY:
    case WIRE_RC_SEND_ONLY_IMM:
        return GROUP_SEND;
    case WIRE_RC_READ_REQUEST:
        return GROUP_READ;
    case WIRE_RC_READ_FIRST:
    case WIRE_RC_READ_MIDDLE:
    case WIRE_RC_READ_LAST:
    case WIRE_RC_READ_ONLY:
        return GROUP_READ_RESPONSE;
    case WIRE_RC_ACK:
    case WIRE_SACK:
        return group_of_answer(frame->aeth.syndrome);
    case WIRE_CNP:
        return GROUP_CNP;
    default: /* nothing that a network here sends */
        return GROUP_OTHER;
    }
}

static bool
has_number(const struct term *term, uint32_t number)
{
    for (guint i = 0; i < term->numbers->len; i++) {
        if (g_array_index(term->numbers, uint32_t, i) == number) {
            return true;
        }
    }
    return false;
}

static bool
has_class(const struct term *term, const struct wire_frame *frame, unsigned cls)
{
    if (frame->kind != WIRE_PFC) {
        return has_number(term, cls);
    }
    for (uint32_t c = 0; c < WIRE_CLASSES; c++) {
        if ((frame->pfc.classes >> c & 1) && has_number(term, c)) {
            return true;
        }
    }
    return false;
}

static bool
is_control(enum group group)
{
    return group == GROUP_ACK || group == GROUP_NAK || group == GROUP_RNR ||
           group == GROUP_CNP || group == GROUP_PFC;
}

static bool
holds(const struct term *term, const struct wire_frame *frame, unsigned cls)
{
    bool is_roce = frame->kind != WIRE_PFC;

    switch (term->kind) {
    case TERM_CLASS:
        return has_class(term, frame, cls);
    case TERM_QP:
        return is_roce && has_number(term, frame->bth.dest_qp);
    case TERM_OPCODE:
        return (term->groups >> group_of(frame) & 1) ||
               (is_roce && term->opcodes[frame->bth.opcode]);
    case TERM_MARKED:
        return is_roce && (frame->ip.tos & 3) == 3;
    case TERM_CONTROL:
        return is_control(group_of(frame));
    }
    return false;
}

gboolean
capture_filter_passes(const struct capture_filter *filter, const struct wire_frame *frame,
                      unsigned cls)
{
    for (guint i = 0; i < filter->terms->len; i++) {
        const struct term *term = &g_array_index(filter->terms, struct term, i);

        if (holds(term, frame, cls) == term->turned) {
            return FALSE;
        }
    }
    return TRUE;
}

void
capture_filter_free(struct capture_filter *filter)
{
    if (filter) {
        g_array_unref(filter->terms);
        g_free(filter);
    }
}
