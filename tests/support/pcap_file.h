/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * pcap_file.h - captures that tests read: frames one after the other, by libpcap.
 */
#ifndef ROCESIM_TESTS_SUPPORT_PCAP_FILE_H
#define ROCESIM_TESTS_SUPPORT_PCAP_FILE_H

#include <stddef.h>
#include <stdint.h>

/* One frame of a file. */
struct pcap_file_frame {
    int64_t time_ns;
    size_t length;        /* on the wire */
    size_t kept;          /* in the file */
    const uint8_t *bytes; /* 'kept' of them */
};

/* All frames of the Ethernet capture 'path'; fails the test when it cannot be read.  Owned
 * by the caller: pcap_file_free(). */
struct pcap_file {
    struct pcap_file_frame *frames; /* owned, with their bytes */
    size_t n;
    int snap_bytes;
};

struct pcap_file *pcap_file_read(const char *path);
void pcap_file_free(struct pcap_file *file);

#endif
