/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * known.h - the known answers K1, K2, ...: expected values, comparison, and the record
 * from which docs/validation.md is made.
 *
 * tests/data/known-answers.json holds one object for each, sorted: "title", "source", and
 * numbers by name, the unit in the name.  The tolerance of number x is the first there is
 * of "x_tolerance" (absolute), "x_tolerance_share" (of the expected value), "tolerance",
 * "tolerance_share"; without any the comparison fails.
 *
 * When environment variable VALIDATION_OUT names a file, each comparison appends a line
 * to it; tests/validate/table makes the page of those lines.
 */
#ifndef ROCESIM_TESTS_SUPPORT_KNOWN_H
#define ROCESIM_TESTS_SUPPORT_KNOWN_H

/* The number 'name' of known answer 'id' ("K46").  Fails the test when it
 * is not there. */
double known(const char *id, const char *name);

/* Compares 'obtained' with number 'name' of 'id': records, then fails the test when they
 * differ by more than the tolerance. */
void known_equals(const char *id, const char *name, double obtained);

/* The same with a tolerance (absolute) that the test has worked out, such as 3 sigma. */
void known_near(const char *id, const char *name, double obtained, double tolerance);

/* 'obtained' must not be below, above number 'name' of 'id'; no tolerance. */
void known_at_least(const char *id, const char *name, double obtained);
void known_at_most(const char *id, const char *name, double obtained);

/* Of values that differ by chance. */
struct known_mean {
    double n, sum, squares;
};

void known_mean_add(struct known_mean *mean, double x);

/* Compares a mean with number 'name' of 'id', within the sigmas of K46, which must be
 * narrow enough to say something. */
void known_mean_equals(const char *id, const char *name, const struct known_mean *mean);

/* Records only: a value that is printed and not gated. */
void known_print(const char *id, const char *name, double obtained);

#endif
