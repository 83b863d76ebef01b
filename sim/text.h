/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * text.h - text files of words and numbers, read word by word: readers of other programs'
 * files say what was expected, this says where.  A word is what stands between blanks.
 *
 *     text_init(&t, "flow.txt", data, n_bytes);
 *     if (!text_integer(&t, "the number of flows", 0, MAX, &n)) ... t.message says why
 *
 * The first failure stays: what is called after it fails, too, without a new message.
 */
#ifndef ROCESIM_SIM_TEXT_H
#define ROCESIM_SIM_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TEXT_WORD_MAX = 255, TEXT_MESSAGE_MAX = 1023 };

struct text {
    const char *name;     /* borrowed: of the file, for messages */
    const char *at, *end; /* borrowed: what is still to be read */
    unsigned line;        /* of 'word', from 1 */
    unsigned next_line;   /* of 'at' */
    bool failed;
    char word[TEXT_WORD_MAX + 1];       /* the last one read; "": none */
    char message[TEXT_MESSAGE_MAX + 1]; /* "NAME:LINE: ...", once 'failed' */
};

/* Begins to read 'n_bytes' of 'data', both borrowed. */
void text_init(struct text *t, const char *name, const char *data, size_t n_bytes);

/* Sets "NAME:LINE: ..." with the line of the last word; what is not printable becomes '?'.
 * Returns false. */
bool text_fail(struct text *t, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Takes the next word, of this line or another.  False at the end of the text and, with a
 * message, at a word that is too long or holds a NUL. */
bool text_next(struct text *t);

/* The same, of the line that 'at' is in: false at its end, which stays. */
bool text_next_in_line(struct text *t);

/* Goes to the start of the next line.  False at the end of the text. */
bool text_skip_line(struct text *t);

/* Is there no word any more? */
bool text_at_end(const struct text *t);

/* Takes a word that must be there: 'what' ("the source of flow 3") is missing otherwise. */
bool text_need(struct text *t, const char *what);

/* Takes a whole number, which may be written "5", "5.0" or "5e3". */
bool text_integer(struct text *t, const char *what, int64_t min, int64_t max,
                  int64_t *value);

/* Takes a number without a sign, times 'size' (1 to 10^18), rounded to nearest: "0.2" with
 * size 10^9 is 200000000. */
bool text_decimal(struct text *t, const char *what, int64_t size, int64_t *value);

/* The same of the last word. */
bool text_as_integer(struct text *t, const char *what, int64_t min, int64_t max,
                     int64_t *value);
bool text_as_decimal(struct text *t, const char *what, int64_t size, int64_t *value);

#endif
