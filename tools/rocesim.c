/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * rocesim.c - the program: main and its sub-commands.
 */
#include <config.h>

#include <stdio.h>
#include <string.h>

static void
print_help(FILE *out)
{
    fprintf(out, "usage: rocesim --version | --help\n"
                 "\n"
                 "  --version   print the version\n"
                 "  --help      print this\n");
}

int
main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "--version") == 0) {
        printf("rocesim %s\n", PACKAGE_VERSION);
        return 0;
    }
    if (argc == 2 && strcmp(argv[1], "--help") == 0) {
        print_help(stdout);
        return 0;
    }
    if (argc < 2) {
        print_help(stderr);
    } else {
        fprintf(stderr, "rocesim: '%s' is no command; allowed are --version and --help\n",
                argv[1]);
    }
    return 2;
}
