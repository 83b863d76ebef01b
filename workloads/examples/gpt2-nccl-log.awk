# SPDX-License-Identifier: GPL-3.0-or-later
#
# gpt2-nccl-log.awk - writes gpt2-64ranks-nccl.log: what mpirun shows of 8 hosts with 8 GPUs
# that train GPT-2 small with data parallelism under NCCL_DEBUG=INFO and
# NCCL_DEBUG_SUBSYS=INIT,GRAPH,NET,COLL.  Synthetic: no such run took place; the forms of
# the lines are those of NCCL 2.26 (src/debug.cc, init.cc, enqueue.cc, graph/rings.cc).
#
#   awk -f gpt2-nccl-log.awk > gpt2-64ranks-nccl.log
#
# Variables (-v): hosts 8, gpus 8 (a host), channels 16, iterations 2, layers 12, and
# stamps 1 for time stamps as NCCL_DEBUG_TIMESTAMP_LEVELS=INFO with the format
# "[%F %T.%6f] " writes them.
#
# The gradients are cut into buckets as PyTorch's DistributedDataParallel does it
# (reducer.cpp, compute_bucket_assignment_by_size): parameters in reverse order, a bucket is
# closed once it has reached its limit, 1 MiB for the first and 25 MiB for the others.
# Shapes: GPT-2 small, 124,439,808 parameters (Radford et al. 2019, table 2), bf16.
# Only integers below 2^53 are used, so every awk writes the same bytes.

# Text that a rank prints, to be shown among that of the others.
function say(rank, text) {
    queue[rank, n_queue[rank]++] = text
}

# A number below 'n', from a generator of our own (MINSTD): the same in every awk.
function draw(n) {
    seed = (seed * 16807) % 2147483647
    return seed % n
}

function hex(value, width,    digits, text) {
    digits = "0123456789abcdef"
    text = ""
    do {
        text = substr(digits, value % 16 + 1, 1) text
        value = int(value / 16)
    } while (value > 0)
    while (length(text) < width)
        text = "0" text
    return text
}

# Time of day 'us' after 09:00:00.
function stamp(us,    s) {
    s = int(us / 1000000)
    return sprintf("[2025-03-18 %02d:%02d:%02d.%06d] ", 9 + int(s / 3600), int(s / 60) % 60,
                   s % 60, us % 1000000)
}

function info(rank, text) {
    say(rank, (stamps ? stamp(clock + draw(40)) : "") prefix[rank] "NCCL INFO " text)
}

# Shows all that is waiting, ranks taking turns at random, each in its own order: as much of
# a rank's text at a time as a pipe happened to hold.
function show(    waiting, n, i, r, burst) {
    n = 0
    for (r = 0; r < ranks; r++)
        if (n_queue[r] > 0)
            waiting[n++] = r
    while (n > 0) {
        i = draw(n)
        r = waiting[i]
        for (burst = 1 + draw(4); burst > 0 && shown[r] < n_queue[r]; burst--) {
            print "[1," r "]<stdout>:" queue[r, shown[r]]
            delete queue[r, shown[r]++]
        }
        if (shown[r] == n_queue[r]) {
            n_queue[r] = shown[r] = 0
            waiting[i] = waiting[--n]
        }
    }
}

# Rank at place 'i' of the ring of channel 'c': hosts in order; inside a host channel c
# enters at GPU c mod gpus (the NIC next to it) and goes round from there.
function ring(c, i,    host) {
    host = int(i / gpus)
    return host * gpus + (i + c) % gpus
}

# The place of rank 'r' in the ring of channel 'c'.
function place(c, r,    host) {
    host = int(r / gpus)
    return host * gpus + (r - c % gpus + gpus) % gpus
}

# The list begins at rank 0; NCCL cuts the line at 127 characters.
function ring_line(c,    line, i, at) {
    line = sprintf("Channel %02d/%02d :", c, channels)
    at = place(c, 0)
    for (i = 0; i < ranks; i++)
        line = line sprintf(" %3d", ring(c, (at + i) % ranks))
    return substr(line, 1, 127)
}

function all_reduce(count, type,    r, buffer) {
    buffer = 100663296 + 2097152 * draw(512)
    for (r = 0; r < ranks; r++)
        info(r, "AllReduce: opCount " hex(ops, 1) " sendbuff 0x7f" pointer[r] hex(buffer, 8) \
             " recvbuff 0x7f" pointer[r] hex(buffer, 8) " count " count " datatype " type \
             " op 0 root 0 comm 0x" comm[r] " [nranks=" ranks "] stream 0x" \
             stream[r])
    ops++
}

# One parameter of 'n' elements, last one first.
function parameter(n) {
    sizes[n_sizes++] = n
}

function layer() {
    parameter(768); parameter(768)               # ln_1 weight, bias
    parameter(768 * 2304); parameter(2304)       # attn.c_attn
    parameter(768 * 768); parameter(768)         # attn.c_proj
    parameter(768); parameter(768)               # ln_2
    parameter(768 * 3072); parameter(3072)       # mlp.c_fc
    parameter(3072 * 768); parameter(768)        # mlp.c_proj
}

function make_buckets(    i, sum, limit) {
    parameter(50257 * 768); parameter(1024 * 768) # wte (tied with the head), wpe
    for (i = 0; i < layers; i++)
        layer()
    parameter(768); parameter(768)               # ln_f
    limit = 1048576
    sum = 0
    for (i = n_sizes - 1; i >= 0; i--) {
        sum += sizes[i]
        if (sum * 2 >= limit || i == 0) {
            buckets[n_buckets++] = sum
            sum = 0
            limit = 26214400
        }
    }
}

function start(    h, g, r) {
    for (h = 0; h < hosts; h++)
        for (g = 0; g < gpus; g++) {
            r = h * gpus + g
            host[r] = sprintf("gpu-a%02d", h + 1)
            pid[r] = 41200 + 137 * h + 3 * g
            prefix[r] = host[r] ":" pid[r] ":" pid[r] " [" g "] "
            comm[r] = "55" hex(draw(16777216), 6) hex(4096 * draw(16) + 1984, 4)
            pointer[r] = hex(16 + draw(240), 2)
            stream[r] = "55" hex(draw(16777216), 6) hex(16 * draw(4096), 4)
            n_queue[r] = shown[r] = 0
        }
}

function init(    r, h, g, c, k, text, init_prefix, fields) {
    for (r = 0; r < ranks; r++) {
        h = int(r / gpus)
        g = r % gpus
        info(r, "Bootstrap: Using eth0:10.20.0." (11 + h) "<0>")
        info(r, "cudaDriverVersion 12080")
        info(r, "NCCL version 2.26.2+cuda12.8")
    }
    show()
    for (r = 0; r < ranks; r++) {
        h = int(r / gpus)
        g = r % gpus
        init_prefix = prefix[r]
        prefix[r] = host[r] ":" pid[r] ":" (pid[r] + 900 + g) " [" g "] "
        info(r, "NET/Plugin: Could not find: libnccl-net.so. Using internal net plugin.")
        text = "NET/IB : Using"
        for (k = 0; k < gpus; k++)
            text = text " [" k "]mlx5_" k ":1/RoCE"
        info(r, text " [RO]; OOB eth0:10.20.0." (11 + h) "<0>")
        info(r, "Using network IB")
        fields = "comm 0x" comm[r] " rank " r " nranks " ranks " cudaDev " g " nvmlDev " g \
                 " busId " bus[g % 8] " commId 0x8d3f7a1c5be90426"
        info(r, "ncclCommInitRankConfig " fields " - Init START")
        info(r, "comm 0x" comm[r] " rank " r " nRanks " ranks " nNodes " hosts " localRanks " \
             gpus " localRank " g " MNNVL 0")
        if (r == 0)
            for (c = 0; c < channels; c++)
                info(r, ring_line(c))
        for (c = 0; c < channels; c++) {
            k = place(c, r)
            info(r, sprintf("Ring %02d : %d -> %d -> %d", c, ring(c, (k + ranks - 1) % ranks), r,
                            ring(c, (k + 1) % ranks)))
        }
        text = "Trees"
        for (c = 0; c < channels; c++)
            text = text " [" c "] " tree(c, r)
        info(r, text)
        info(r, "P2P Chunksize set to 131072")
        info(r, "Connected all rings, use ring PXN 0 GDR 1")
        info(r, "Connected all trees")
        info(r, "threadThresholds 8/8/64 | " (8 * ranks) "/8/64 | 512 | 512")
        info(r, channels " coll channels, 0 collnet channels, 0 nvls channels, " channels \
             " p2p channels, 2 p2p channels per peer")
        info(r, "ncclCommInitRankConfig " fields " - Init COMPLETE")
        prefix[r] = init_prefix
    }
    show()
}

# Children and parent of rank 'r' in the tree of channel 'c', "d0/d1/d2->rank->up": a chain
# inside the host from the GPU where the channel enters; over the hosts NCCL's double binary
# tree (graph/trees.cc, ncclGetDtree): channels of the second half take the tree of the hosts
# counted from the other end (or, if their number is odd, from the next host).
function tree(c, r,    h, i, next_local) {
    h = int(r / gpus)
    i = (r - c % gpus + gpus) % gpus
    next_local = i + 1 < gpus ? h * gpus + (i + 1 + c) % gpus : -1
    if (i > 0)
        return next_local "/-1/-1->" r "->" (h * gpus + (i - 1 + c) % gpus)
    btree(turned(h, c))
    return next_local "/" head(d0, c) "/" head(d1, c) "->" r "->" head(up, c)
}

# Sets 'up', 'd0', 'd1' of 'h' in a binary tree over the hosts.
function btree(h,    bit, low) {
    bit = 1
    while (bit < hosts && int(h / bit) % 2 == 0)
        bit *= 2
    if (h == 0) {
        up = d0 = -1
        d1 = hosts > 1 ? bit / 2 : -1
        return
    }
    up = int(h / bit) % 4 == 3 || h + bit >= hosts ? h - bit : h + bit
    d0 = bit == 1 ? -1 : h - bit / 2
    for (low = bit / 2; low >= 1 && h + low >= hosts; low = int(low / 2))
        ;
    d1 = low >= 1 ? h + low : -1
}

# A host as the tree of channel 'c' counts them.
function turned(h, c) {
    if (c < channels / 2)
        return h
    return hosts % 2 ? (h - 1 + hosts) % hosts : hosts - 1 - h
}

# The GPU where channel 'c' enters the host that its tree calls 'h'.
function head(h, c) {
    if (h < 0)
        return -1
    if (c >= channels / 2)
        h = hosts % 2 ? (h + 1) % hosts : hosts - 1 - h
    return h * gpus + c % gpus
}

# Iterations: the backward pass fills buckets one after the other, then the loss.
function train(    i, b) {
    clock += 2100000
    all_reduce(1, 7) # the barrier before training
    show()
    for (i = 0; i < iterations; i++) {
        clock += 61000
        for (b = 0; b < n_buckets; b++) {
            clock += 400 + int(buckets[b] / 1100) # backward pass: guess, about 0.11 s
            all_reduce(buckets[b], 9)
            if (b % 3 == 2)
                show()
        }
        clock += 3000
        all_reduce(1, 7)
        show()
    }
}

BEGIN {
    hosts = hosts ? hosts : 8
    gpus = gpus ? gpus : 8
    channels = channels ? channels : 16
    iterations = iterations ? iterations : 2
    layers = layers ? layers : 12
    ranks = hosts * gpus
    seed = 20250318
    clock = 0
    ops = 0
    split("1b000 43000 52000 61000 9d000 c3000 d1000 df000", names, " ")
    for (i = 0; i < 8; i++)
        bus[i] = names[i + 1]
    make_buckets()
    start()
    init()
    train()
}
