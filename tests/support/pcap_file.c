/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * pcap_file.c - captures that tests read.
 */
#include <config.h>

#include "tests/support/pcap_file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <cmocka.h>
#include <glib.h>
#include <pcap/pcap.h>

struct pcap_file *
pcap_file_read(const char *path)
{
    char error[PCAP_ERRBUF_SIZE];
    pcap_t *pcap =
        pcap_open_offline_with_tstamp_precision(path, PCAP_TSTAMP_PRECISION_NANO, error);
    struct pcap_file *file = g_new0(struct pcap_file, 1);
    GArray *frames = g_array_new(FALSE, FALSE, sizeof(struct pcap_file_frame));
    struct pcap_pkthdr *header;
    const u_char *bytes;
    int status;

    if (!pcap) {
        fail_msg("%s", error);
    }
    assert_int_equal(pcap_datalink(pcap), DLT_EN10MB);
    while ((status = pcap_next_ex(pcap, &header, &bytes)) == 1) {
        struct pcap_file_frame frame = {
            .time_ns = header->ts.tv_sec * INT64_C(1000000000) + header->ts.tv_usec,
            .length = header->len,
            .kept = header->caplen,
            .bytes = g_memdup2(bytes, header->caplen)};

        g_array_append_val(frames, frame);
    }
    assert_int_equal(status, PCAP_ERROR_BREAK); /* the end, not a half frame */
    file->snap_bytes = pcap_snapshot(pcap);
    pcap_close(pcap);
    file->n = frames->len;
    file->frames = (struct pcap_file_frame *)(void *)g_array_free(frames, FALSE);
    return file;
}

void
pcap_file_free(struct pcap_file *file)
{
    for (size_t i = 0; i < file->n; i++) {
        g_free((void *)file->frames[i].bytes);
    }
    g_free(file->frames);
    g_free(file);
}
