/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * nccl_line.c - reads single lines of an NCCL debug log (nccl_line.h).
 * No regular expressions, no copies: a log has millions of lines.
 */
#include <config.h>

#include "workloads/trace/nccl_line.h"

#include <string.h>

enum {
    MAX_PREFIX = 96, /* a launcher's prefix is shorter; guess */
    MAX_HOST = 64,   /* HOST_NAME_MAX of Linux */
};

struct text {
    const char *at, *end;
};

struct name_of_kind {
    const char *name;
    enum trace_kind kind;
};

/* Spellings over the versions; src/collectives.cc. */
static const struct name_of_kind kind_names[] = {
    {"AllReduce", TRACE_ALL_REDUCE},
    {"AllGather", TRACE_ALL_GATHER},
    {"ReduceScatter", TRACE_REDUCE_SCATTER},
    {"Broadcast", TRACE_BROADCAST},
    {"Bcast", TRACE_BROADCAST},
    {"Reduce", TRACE_REDUCE},
    {"AlltoAll", TRACE_ALL_TO_ALL},
    {"AllToAll", TRACE_ALL_TO_ALL},
    {"Gather", TRACE_GATHER},
    {"Scatter", TRACE_SCATTER},
    {"Send", TRACE_SEND},
    {"Recv", TRACE_RECV},
};

/* ncclAlgoStr and ncclProtoStr, in the order of their numbers. */
static const char *const algo_names[TRACE_N_ALGOS] = {
    "TREE", "RING", "COLLNET_DIRECT", "COLLNET_CHAIN", "NVLS", "NVLS_TREE", "PAT"};
static const char *const proto_names[TRACE_N_PROTOS] = {"LL", "LL128", "SIMPLE"};

static bool
is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static int
hex_value(char c)
{
    if (is_digit(c)) {
        return c - '0';
    }
    if (c >= 'a' && c <= 'f') {
        return c - 'a' + 10;
    }
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* ---- forwards ---------------------------------------------------------------------- */

static void
skip_spaces(struct text *text)
{
    while (text->at < text->end && *text->at == ' ') {
        text->at++;
    }
}

/* Takes 'word'; CUT if the text ends before it does. */
static enum nccl_parse
take(struct text *text, const char *word)
{
    for (; *word != '\0'; word++, text->at++) {
        if (text->at == text->end) {
            return NCCL_CUT;
        }
        if (*text->at != *word) {
            return NCCL_OTHER;
        }
    }
    return NCCL_WHOLE;
}

/* Takes a number, which the text must go on after: its end is not known otherwise.
 * Saturates at UINT64_MAX. */
static enum nccl_parse
take_number(struct text *text, unsigned base, uint64_t *value)
{
    const char *begin = text->at;

    *value = 0;
    while (text->at < text->end) {
        const int digit = hex_value(*text->at);
        if (digit < 0 || (unsigned)digit >= base) {
            break;
        }
        if (__builtin_mul_overflow(*value, base, value) ||
            __builtin_add_overflow(*value, (uint64_t)digit, value)) {
            *value = UINT64_MAX;
            while (text->at < text->end && hex_value(*text->at) >= 0) {
                text->at++;
            }
            break;
        }
        text->at++;
    }
    if (text->at == text->end) {
        return NCCL_CUT;
    }
    return text->at > begin ? NCCL_WHOLE : NCCL_OTHER;
}

/* Takes "0x.." or "(nil)". */
static enum nccl_parse
take_pointer(struct text *text, uint64_t *value)
{
    if (text->at < text->end && *text->at == '(') {
        *value = 0;
        return take(text, "(nil)");
    }
    const enum nccl_parse prefix = take(text, "0x");
    return prefix == NCCL_WHOLE ? take_number(text, 16, value) : prefix;
}

/* Takes a number up to UINT32_MAX - 1 at the end of the text or before a space. */
static bool
take_index(struct text *text, uint32_t *value)
{
    const char *begin = text->at;
    uint64_t wide;
    const enum nccl_parse found = take_number(text, 10, &wide);

    *value = wide < UINT32_MAX ? (uint32_t)wide : UINT32_MAX;
    return found != NCCL_OTHER && text->at > begin && *value != UINT32_MAX;
}

/* One word up to a space or the end. */
static struct text
take_word(struct text *text)
{
    skip_spaces(text);
    struct text word = {text->at, text->at};

    while (word.end < text->end && *word.end != ' ') {
        word.end++;
    }
    text->at = word.end;
    return word;
}

static bool
word_is(struct text word, const char *name)
{
    const size_t n = strlen(name);

    return (size_t)(word.end - word.at) == n && memcmp(word.at, name, n) == 0;
}

/* A whole word as a number of 'base', with "0x" if 16; -1 if it is none or
 * above INT64_MAX. */
static int64_t
word_number(struct text word, unsigned base)
{
    uint64_t value = 0;
    bool good;

    if (base == 16 && take(&word, "0x") != NCCL_WHOLE) {
        return -1;
    }
    const char *begin = word.at;
    good = take_number(&word, base, &value) == NCCL_CUT && word.at > begin;
    return good && value <= INT64_MAX ? (int64_t)value : -1;
}

static enum trace_kind
find_kind(const char *name, size_t n)
{
    for (size_t i = 0; i < G_N_ELEMENTS(kind_names); i++) {
        if (strlen(kind_names[i].name) == n && memcmp(kind_names[i].name, name, n) == 0) {
            return kind_names[i].kind;
        }
    }
    return TRACE_N_KINDS;
}

/* True if 'name' may be the beginning of an operation's. */
static bool
begins_kind(const char *name, size_t n)
{
    for (size_t i = 0; i < G_N_ELEMENTS(kind_names); i++) {
        if (strlen(kind_names[i].name) >= n && memcmp(kind_names[i].name, name, n) == 0) {
            return true;
        }
    }
    return false;
}

/* A word of 'names[n]' or its number. */
static size_t
find_name(struct text word, const char *const names[], size_t n)
{
    const int64_t number = word_number(word, 10);

    for (size_t i = 0; i < n; i++) {
        if (number == (int64_t)i ||
            ((size_t)(word.end - word.at) == strlen(names[i]) &&
             g_ascii_strncasecmp(word.at, names[i], strlen(names[i])) == 0)) {
            return i;
        }
    }
    return n;
}

/* ---- backwards, from HOST:PID:TID to the beginning of the line --------------------- */

/* Reads the digits that end at 'at', not before 'line'; moves '*at' to the first. */
static bool
back_number(const char *line, const char **at, uint64_t *value)
{
    const char *end = *at;
    uint64_t scale = 1;

    *value = 0;
    while (*at > line && is_digit((*at)[-1]) && end - *at < 18) {
        (*at)--;
        *value += scale * (uint64_t)(**at - '0');
        scale *= 10;
    }
    return *at < end && (*at == line || !is_digit((*at)[-1]));
}

static const char *
back_spaces(const char *line, const char *at)
{
    while (at > line && at[-1] == ' ') {
        at--;
    }
    return at;
}

static bool
is_host_char(char c)
{
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' ||
           c == '.' || c == '_';
}

/* Reads 'n' digits with the limits given; moves '*at' past them. */
static bool
take_field(const char **at, const char *end, int n, int64_t low, int64_t high,
           int64_t *value)
{
    *value = 0;
    for (int i = 0; i < n; i++, (*at)++) {
        if (*at == end || !is_digit(**at)) {
            return false;
        }
        *value = *value * 10 + (**at - '0');
    }
    return *value >= low && *value <= high;
}

static bool
take_char(const char **at, const char *end, const char *allowed)
{
    if (*at == end || **at == '\0' || strchr(allowed, **at) == NULL) {
        return false;
    }
    (*at)++;
    return true;
}

/* Days from 1970-01-01 to a date of the Gregorian calendar after year 0.  Counts from the
 * first of March, so that the leap day is the last of the year. */
static int64_t
days_from_date(int64_t year, int64_t month, int64_t day)
{
    const int64_t y = month <= 2 ? year - 1 : year;
    const int64_t m = month <= 2 ? month + 9 : month - 3;

    return y * 365 + y / 4 - y / 100 + y / 400 + (m * 153 + 2) / 5 + day - 1 - 719468;
}

/* "[2025-03-01 12:34:56.789] " or without brackets, all of [at, end). */
static bool
parse_time(const char *at, const char *end, struct nccl_head *head)
{
    int64_t year, month, day, hour, minute, second, fraction_ns = 0, step_ns = 1000000000;

    take_char(&at, end, "[");
    if (!take_field(&at, end, 4, 1970, 2200, &year) || !take_char(&at, end, "-/") ||
        !take_field(&at, end, 2, 1, 12, &month) || !take_char(&at, end, "-/") ||
        !take_field(&at, end, 2, 1, 31, &day) || !take_char(&at, end, " T_") ||
        !take_field(&at, end, 2, 0, 23, &hour) || !take_char(&at, end, ":") ||
        !take_field(&at, end, 2, 0, 59, &minute) || !take_char(&at, end, ":") ||
        !take_field(&at, end, 2, 0, 60, &second)) {
        return false;
    }
    if (take_char(&at, end, ".,")) {
        while (at < end && is_digit(*at) && step_ns > 1) {
            step_ns /= 10;
            fraction_ns += step_ns * (*at++ - '0');
        }
    }
    take_char(&at, end, "]");
    while (at < end && *at == ' ') {
        at++;
    }
    if (at != end) {
        return false;
    }
    const int64_t days = days_from_date(year, month, day);
    head->has_time = true;
    head->time_ns =
        (((days * 24 + hour) * 60 + minute) * 60 + second) * 1000000000 + fraction_ns;
    head->time_step_ps = step_ns * 1000;
    return true;
}

/* Looks for a time stamp that ends where the prefix begins. */
static void
back_time(const char *line, struct nccl_head *head)
{
    const char *at = head->start;

    head->has_time = false;
    if (at == line || (at[-1] != ' ' && at[-1] != ']')) {
        return;
    }
    while (at > line && head->start - at < 40 &&
           (is_digit(at[-1]) || strchr("-/:.,T_[] ", at[-1]) != NULL) && at[-1] != '\0') {
        at--;
    }
    for (; head->start - at >= 19; at++) { /* "YYYY-MM-DD HH:MM:SS" */
        if (parse_time(at, head->start, head)) {
            head->start = at;
            return;
        }
    }
}

/* "[1,7]<stdout>:", "[prterun-host-1@1,7]<stdout>: ", "[rank7]:" or "7: " before the
 * prefix. */
static void
back_launcher(const char *line, struct nccl_head *head)
{
    const char *at = back_spaces(line, head->start);
    uint64_t value;

    head->launch_rank = -1;
    if (at == line || at[-1] != ':') {
        return;
    }
    at--;
    const bool has_stream = at > line && at[-1] == '>';
    while (has_stream && at > line && head->start - at < MAX_PREFIX && *at != '<') {
        at--;
    }
    if (at > line && at[-1] == ']') {
        at--;
        if (!back_number(line, &at, &value) || value > INT32_MAX) {
            return;
        }
        const bool is_rank = at - line >= 5 && memcmp(at - 5, "[rank", 5) == 0;
        if (!is_rank && (at == line || at[-1] != ',')) {
            return;
        }
        const char *open = at;
        while (open > line && *open != '[' && at - open < MAX_PREFIX) {
            open--;
        }
        if (*open == '[') {
            head->launch_rank = (int64_t)value;
            head->start = open;
        }
        return;
    }
    if (!has_stream && back_number(line, &at, &value) && value <= INT32_MAX &&
        back_spaces(line, at) == line) {
        head->launch_rank = (int64_t)value;
        head->start = line;
    }
}

bool
nccl_head_parse(const char *line, const char *mark, struct nccl_head *head)
{
    const char *at = back_spaces(line, mark);
    uint64_t device;

    *head = (struct nccl_head){.device = -1, .launch_rank = -1};
    if (at > line && at[-1] == ']') {
        const char *inside = at - 1;
        if (!back_number(line, &inside, &device) || device > INT32_MAX ||
            inside == line || inside[-1] != '[') {
            return false;
        }
        head->device = (int64_t)device;
        at = back_spaces(line, inside - 1);
    }
    if (!back_number(line, &at, &head->tid) || at == line || *--at != ':' ||
        !back_number(line, &at, &head->pid) || at == line || *--at != ':') {
        return false;
    }
    const char *host_end = at;
    while (at > line && host_end - at < MAX_HOST && is_host_char(at[-1])) {
        at--;
    }
    head->host = at;
    head->n_host = (size_t)(host_end - at);
    head->start = at;
    if (head->n_host == 0) {
        return false;
    }
    back_time(line, head);
    back_launcher(line, head);
    return true;
}

const char *
nccl_skip_launcher(const char *text, const char *end)
{
    const size_t n = MIN((size_t)(end - text), (size_t)MAX_PREFIX);
    struct text rest = {text, end};

    if (n > 0 && *text == '[') {
        const char *stream = memmem(text, n, "]<std", 5);
        const char *close =
            stream == NULL ? NULL : memchr(stream, '>', (size_t)(end - stream));
        if (close != NULL && end - close >= 2 && close[1] == ':') {
            return close + 2;
        }
        return text;
    }
    skip_spaces(&rest);
    while (rest.at < end && is_digit(*rest.at)) {
        rest.at++;
    }
    return rest.at > text && end - rest.at >= 2 && rest.at[0] == ':' && rest.at[1] == ' '
               ? rest.at + 2
               : text;
}

enum nccl_parse
nccl_coll_parse(const char *text, const char *end, struct nccl_coll *coll)
{
    struct text rest = {text, end};
    uint64_t ignored;

    *coll = (struct nccl_coll){.kind = TRACE_N_KINDS, .name = text, .n_ranks = -1};
    while (rest.at < end && rest.at - text < 24 && *rest.at != ':' && *rest.at != ' ') {
        rest.at++;
    }
    coll->n_name = (size_t)(rest.at - text);
    if (rest.at == end) {
        return begins_kind(text, coll->n_name) ? NCCL_CUT : NCCL_OTHER;
    }
    if (*rest.at != ':' || coll->n_name == 0) {
        return NCCL_OTHER;
    }
    const enum nccl_parse begins = take(&rest, ": opCount ");
    const enum trace_kind kind = find_kind(text, coll->n_name);
    if (begins == NCCL_OTHER || (begins == NCCL_CUT && kind == TRACE_N_KINDS)) {
        return NCCL_OTHER;
    }
    coll->kind = kind;
    if (begins == NCCL_CUT || take_number(&rest, 16, &coll->seq) != NCCL_WHOLE) {
        return NCCL_CUT;
    }
    coll->has_seq = *rest.at == ' ';
    if (take(&rest, " sendbuff ") != NCCL_WHOLE ||
        take_pointer(&rest, &ignored) != NCCL_WHOLE ||
        take(&rest, " recvbuff ") != NCCL_WHOLE ||
        take_pointer(&rest, &ignored) != NCCL_WHOLE ||
        take(&rest, " count ") != NCCL_WHOLE ||
        take_number(&rest, 10, &coll->count) != NCCL_WHOLE ||
        take(&rest, " datatype ") != NCCL_WHOLE ||
        take_number(&rest, 10, &coll->type) != NCCL_WHOLE ||
        take(&rest, " op ") != NCCL_WHOLE ||
        take_number(&rest, 10, &coll->redop) != NCCL_WHOLE ||
        take(&rest, " root ") != NCCL_WHOLE ||
        take_number(&rest, 10, &coll->root) != NCCL_WHOLE ||
        take(&rest, " comm ") != NCCL_WHOLE ||
        take_pointer(&rest, &coll->comm) != NCCL_WHOLE || *rest.at != ' ') {
        return NCCL_CUT;
    }
    /* The rest is not needed where INIT lines tell the number of ranks. */
    uint64_t n_ranks;
    if (take(&rest, " [nranks=") == NCCL_WHOLE &&
        take_number(&rest, 10, &n_ranks) == NCCL_WHOLE && *rest.at == ']') {
        coll->n_ranks = n_ranks <= INT32_MAX ? (int64_t)n_ranks : INT32_MAX;
    }
    return NCCL_WHOLE;
}

enum nccl_parse
nccl_init_parse(const char *text, const char *end, struct nccl_init *init)
{
    struct text rest = {text, end};
    int64_t comm = -1;

    *init = (struct nccl_init){
        .rank = -1, .n_ranks = -1, .cuda_device = -1, .nvml_device = -1};
    if (end - text > 6 && memcmp(text, "[Rank ", 6) == 0) {
        while (rest.at < end && *rest.at != ']') {
            rest.at++;
        }
        rest.at += rest.at < end;
    }
    struct text word = take_word(&rest);
    if (word.end - word.at > 4 && memcmp(word.at, "nccl", 4) == 0) {
        word = take_word(&rest);
    }
    if (!word_is(word, "comm")) {
        return NCCL_OTHER;
    }
    comm = word_number(take_word(&rest), 16);
    while (rest.at < end) {
        word = take_word(&rest);
        if (word_is(word, "rank")) {
            init->rank = word_number(take_word(&rest), 10);
        } else if (word_is(word, "nranks")) {
            init->n_ranks = word_number(take_word(&rest), 10);
        } else if (word_is(word, "cudaDev")) {
            init->cuda_device = word_number(take_word(&rest), 10);
        } else if (word_is(word, "nvmlDev")) {
            init->nvml_device = word_number(take_word(&rest), 10);
        } else if (word_is(word, "commId")) {
            struct text id = take_word(&rest);
            init->has_id = take(&id, "0x") == NCCL_WHOLE &&
                           take_number(&id, 16, &init->id) == NCCL_CUT;
        } else if (word_is(word, "Init")) {
            word = take_word(&rest);
            init->is_complete = word_is(word, "COMPLETE");
            init->comm = (uint64_t)comm;
            return (init->is_complete || word_is(word, "START")) && comm >= 0 &&
                           init->rank >= 0 && init->n_ranks >= 1 && init->cuda_device >= 0
                       ? NCCL_WHOLE
                       : NCCL_CUT;
        }
    }
    return NCCL_CUT;
}

bool
nccl_numbers_parse(const char *text, const char *end, GArray *order)
{
    struct text rest = {text, end};
    const guint before = order->len;

    for (skip_spaces(&rest); rest.at < end; skip_spaces(&rest)) {
        uint32_t value;
        if (!take_index(&rest, &value) || (rest.at < end && *rest.at != ' ') ||
            order->len >= TRACE_MAX_RANKS) {
            g_array_set_size(order, before);
            return false;
        }
        g_array_append_val(order, value);
    }
    return order->len > before;
}

enum nccl_parse
nccl_channel_parse(const char *text, const char *end, uint32_t *channel,
                   uint32_t *n_channels, GArray *order)
{
    struct text rest = {text, end};

    *n_channels = 0;
    g_array_set_size(order, 0);
    if (take(&rest, "Channel ") != NCCL_WHOLE || !take_index(&rest, channel)) {
        return NCCL_OTHER;
    }
    if (rest.at < end && *rest.at == '/') {
        rest.at++;
        if (!take_index(&rest, n_channels)) {
            return NCCL_OTHER;
        }
    }
    skip_spaces(&rest);
    return take(&rest, ":") == NCCL_WHOLE && nccl_numbers_parse(rest.at, end, order)
               ? NCCL_WHOLE
               : NCCL_OTHER;
}

bool
nccl_ring_parse(const char *text, const char *end, uint32_t *channel, uint32_t *rank,
                uint32_t *next)
{
    struct text rest = {text, end};
    uint32_t prev;

    return take(&rest, "Ring ") == NCCL_WHOLE && take_index(&rest, channel) &&
           take(&rest, " : ") == NCCL_WHOLE && take_index(&rest, &prev) &&
           take(&rest, " -> ") == NCCL_WHOLE && take_index(&rest, rank) &&
           take(&rest, " -> ") == NCCL_WHOLE && take_index(&rest, next) &&
           (rest.at == end || *rest.at == ' ');
}

uint32_t
nccl_n_channels_parse(const char *text, const char *end)
{
    struct text rest = {text, end};
    uint32_t value;

    return take_index(&rest, &value) && take(&rest, " coll channels,") == NCCL_WHOLE
               ? value
               : 0;
}

bool
nccl_tuning_parse(const char *text, const char *end, struct nccl_tuning *tuning)
{
    struct text rest = {text, end};
    const char *colon = memchr(text, ':', MIN((size_t)(end - text), 24));

    *tuning = (struct nccl_tuning){.channel_lo = -1, .channel_hi = -1};
    if (colon == NULL) {
        return false;
    }
    tuning->kind = find_kind(text, (size_t)(colon - text));
    rest.at = colon;
    if (tuning->kind == TRACE_N_KINDS || take(&rest, ": ") != NCCL_WHOLE ||
        take_number(&rest, 10, &tuning->bytes) != NCCL_WHOLE ||
        take(&rest, " Bytes -> Algo ") != NCCL_WHOLE) {
        return false;
    }
    tuning->algo =
        (enum trace_algo)find_name(take_word(&rest), algo_names, TRACE_N_ALGOS);
    if (take(&rest, " proto ") != NCCL_WHOLE) {
        return false;
    }
    tuning->proto =
        (enum trace_proto)find_name(take_word(&rest), proto_names, TRACE_N_PROTOS);
    uint32_t lo, hi;
    if (take(&rest, " channel{Lo..Hi}={") == NCCL_WHOLE && take_index(&rest, &lo) &&
        take(&rest, "..") == NCCL_WHOLE && take_index(&rest, &hi) &&
        take(&rest, "}") == NCCL_WHOLE) {
        tuning->channel_lo = lo;
        tuning->channel_hi = hi;
    }
    return true;
}
