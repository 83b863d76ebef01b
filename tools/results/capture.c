/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * capture.c - frames of a run as pcap files, see capture.h.
 * Format: what libpcap calls a savefile, magic 0xa1b23c4d; man 5 pcap-savefile.
 */
#include <config.h>

#include "tools/results/capture.h"

#include <pcap/pcap.h>

#include "models/net_wire.h"
#include "tools/results/capture_filter.h"
#include "tools/results/text.h"

/* Of a savefile and of each frame in it. */
#define FILE_HEADER_BYTES 24
#define FRAME_HEADER_BYTES 16
/* What savefiles that are not cut say. */
#define SNAP_WHOLE 65535

struct output {
    const struct capture_file *file; /* borrowed */
    struct capture_filter *filter;   /* owned; NULL: everything */
    pcap_t *pcap;                    /* owned */
    pcap_dumper_t *dumper;           /* owned; NULL once it is closed */
    int64_t snap_bytes, n_bytes, n_frames;
    int64_t full_ps; /* time of the first frame that was left out; -1: none was */
};

struct capture {
    const struct outdir *dir; /* borrowed */
    const struct net *net;    /* borrowed */
    struct output *outputs;   /* owned: n_outputs */
    guint n_outputs;
    GArray **by_port; /* owned: indices into outputs; NULL: none */
    gboolean failed;
};

void
capture_file_clear(void *file)
{
    g_clear_pointer(&((struct capture_file *)file)->name, g_free);
}

static bool
is_full(const struct output *output, int64_t n_more)
{
    int64_t max_bytes = output->file->max_bytes;

    return output->full_ps >= 0 ||
           (max_bytes >= 0 && output->n_bytes + n_more > max_bytes);
}

static void
write_frame(struct capture *capture, struct output *output, int64_t time_ps,
            const struct wire_frame *frame)
{
    uint8_t bytes[WIRE_FRAME_MAX];
    int64_t length = (int64_t)wire_bytes(frame);
    int64_t kept = MIN(length, output->snap_bytes);
    struct pcap_pkthdr header = {.len = (bpf_u_int32)length, .caplen = (bpf_u_int32)kept};

    if (is_full(output, FRAME_HEADER_BYTES + kept)) {
        output->full_ps = output->full_ps < 0 ? time_ps : output->full_ps;
        return;
    }
    /* With nanosecond precision tv_usec holds nanoseconds. */
    header.ts.tv_sec = time_ps / PS_PER_S;
    header.ts.tv_usec = time_ps % PS_PER_S / PS_PER_NS;
    wire_encode(frame, bytes, (size_t)kept);
    pcap_dump((u_char *)output->dumper, &header, bytes);
    output->n_bytes += FRAME_HEADER_BYTES + kept;
    output->n_frames++;
    if (ferror(pcap_dump_file(output->dumper))) {
        capture->failed = TRUE;
    }
}

static void
on_frame(void *ctx, const struct tap_record *record)
{
    struct capture *capture = ctx;
    const GArray *indices = capture->by_port[record->port];
    uint32_t from =
        record->dir == TAP_OUT ? record->port : capture->net->ports[record->port].peer;
    struct wire_frame frame;

    if (!indices) {
        return;
    }
    net_wire_frame(capture->net, from, &record->pkt, &frame);
    for (guint i = 0; i < indices->len; i++) {
        struct output *output = &capture->outputs[g_array_index(indices, guint, i)];

        if ((output->file->dirs & record->dir) &&
            (!output->filter ||
             capture_filter_passes(output->filter, &frame, record->pkt.cls))) {
            write_frame(capture, output, record->time_ps, &frame);
        }
    }
}

static gboolean
cannot_write(const struct capture *capture, const struct output *output, GError **error)
{
    g_set_error(error, OUTDIR_ERROR, OUTDIR_ERROR_WRITE, "%s/%s: cannot be written",
                capture->dir->path, output->file->name);
    return FALSE;
}

static gboolean
output_open(struct capture *capture, struct output *output,
            const struct capture_file *file, GError **error)
{
    FILE *stream;

    *output = (struct output){.file = file,
                              .n_bytes = FILE_HEADER_BYTES,
                              .full_ps = -1,
                              .snap_bytes =
                                  file->snap_bytes < 0 ? SNAP_WHOLE : file->snap_bytes};
    if (file->filter) {
        output->filter = capture_filter_new(file->filter, error);
        if (!output->filter) {
            return FALSE;
        }
    }
    stream = outdir_open(capture->dir, file->name, error);
    if (!stream) {
        return FALSE;
    }
    output->pcap = pcap_open_dead_with_tstamp_precision(
        DLT_EN10MB, (int)output->snap_bytes, PCAP_TSTAMP_PRECISION_NANO);
    output->dumper = output->pcap ? pcap_dump_fopen(output->pcap, stream) : NULL;
    if (!output->dumper) {
        fclose(stream);
        return cannot_write(capture, output, error);
    }
    return TRUE;
}

static void
index_ports(struct capture *capture, guint index, const struct capture_file *file)
{
    for (uint32_t p = file->first_port; p < file->first_port + file->n_ports; p++) {
        if (!capture->by_port[p]) {
            capture->by_port[p] = g_array_new(FALSE, FALSE, sizeof(guint));
        }
        g_array_append_val(capture->by_port[p], index);
    }
}

struct capture *
capture_new(const struct outdir *dir, const struct net *net, const GArray *files,
            GError **error)
{
    struct capture *capture = g_new0(struct capture, 1);

    capture->dir = dir;
    capture->net = net;
    capture->outputs = g_new0(struct output, MAX(files->len, 1));
    capture->by_port = g_new0(GArray *, MAX(net->n_ports, 1));
    for (guint i = 0; i < files->len; i++) {
        const struct capture_file *file = &g_array_index(files, struct capture_file, i);

        capture->n_outputs++;
        index_ports(capture, i, file);
        if (!output_open(capture, &capture->outputs[i], file, error)) {
            capture_free(capture);
            return NULL;
        }
    }
    return capture;
}

struct tap_sink
capture_sink(struct capture *capture)
{
    return (struct tap_sink){.on_frame = capture->n_outputs ? on_frame : NULL,
                             .ctx = capture};
}

gboolean
capture_has_failed(const struct capture *capture)
{
    return capture->failed;
}

static void
note_full(const struct output *output, GPtrArray *notes)
{
    GString *line = g_string_new(NULL);

    g_string_printf(line,
                    "%s is not whole: it has reached %" G_GINT64_FORMAT
                    " bytes and left out all from ",
                    output->file->name, output->file->max_bytes);
    text_us(line, output->full_ps);
    g_string_append_printf(line, " us on, after %" G_GINT64_FORMAT " frames",
                           output->n_frames);
    g_ptr_array_add(notes, g_string_free(line, FALSE));
}

gboolean
capture_finish(struct capture *capture, GPtrArray *notes, GError **error)
{
    for (guint i = 0; i < capture->n_outputs; i++) {
        struct output *output = &capture->outputs[i];
        bool is_written = pcap_dump_flush(output->dumper) == 0 &&
                          !ferror(pcap_dump_file(output->dumper));

        pcap_dump_close(output->dumper);
        output->dumper = NULL;
        if (!is_written) {
            return cannot_write(capture, output, error);
        }
        if (output->full_ps >= 0) {
            note_full(output, notes);
        }
    }
    return TRUE;
}

void
capture_free(struct capture *capture)
{
    if (!capture) {
        return;
    }
    for (guint i = 0; i < capture->n_outputs; i++) {
        struct output *output = &capture->outputs[i];

        if (output->dumper) {
            pcap_dump_close(output->dumper);
        }
        if (output->pcap) {
            pcap_close(output->pcap);
        }
        capture_filter_free(output->filter);
    }
    for (uint32_t p = 0; p < capture->net->n_ports; p++) {
        g_clear_pointer(&capture->by_port[p], g_array_unref);
    }
    g_free(capture->by_port);
    g_free(capture->outputs);
    g_free(capture);
}
