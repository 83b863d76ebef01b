/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * known.h - expected values of the known answers K1, K2, ...: tests/data/known-answers.json.
 *
 * That file holds one object for each, sorted, with numbers by name and their "source".
 */
#ifndef ROCESIM_TESTS_SUPPORT_KNOWN_H
#define ROCESIM_TESTS_SUPPORT_KNOWN_H

/* The number 'name' of known answer 'id' ("K46").  Fails the test when it is not there. */
double known(const char *id, const char *name);

#endif
