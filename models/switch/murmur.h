/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * murmur.h - MurmurHash3, the 32-bit one, over a flow's addresses and ports: `switch.hash`.
 *
 * The seed goes in before the first word, so nothing can be hashed ahead for all switches.
 *
 * Source: A. Appleby, MurmurHash3 (public domain), x86_32; the key as the HPCC ns-3
 * simulator makes it (switch-node.cc): source and destination address, then source port
 * with the destination port above it, each a native word.
 */
#ifndef ROCESIM_MODELS_SWITCH_MURMUR_H
#define ROCESIM_MODELS_SWITCH_MURMUR_H

#include <stdint.h>

#define MURMUR_KEY_WORDS 3

/* What a packet is hashed by. */
struct murmur_key {
    uint32_t word[MURMUR_KEY_WORDS];
};

static inline struct murmur_key
murmur_key(uint32_t src_ip, uint32_t dst_ip, uint16_t src_port, uint16_t dst_port)
{
    return (struct murmur_key){{src_ip, dst_ip, src_port | (uint32_t)dst_port << 16}};
}

/* The address that the HPCC simulator gives node 'id': 11.(id / 256).(id % 256).1. */
static inline uint32_t
murmur_ip(uint32_t id)
{
    return 0x0b000001u + ((id / 256) << 16) + ((id % 256) << 8);
}

static inline uint32_t
murmur_hash(const struct murmur_key *key, uint32_t seed)
{
    uint32_t h = seed;

    for (unsigned i = 0; i < MURMUR_KEY_WORDS; i++) {
        uint32_t k = key->word[i] * 0xcc9e2d51u;

        k = (k << 15 | k >> 17) * 0x1b873593u;
        h ^= k;
        h = (h << 13 | h >> 19) * 5 + 0xe6546b64u;
    }
    h ^= (uint32_t)sizeof key->word;
    h ^= h >> 16;
    h *= 0x85ebca6bu;
    h ^= h >> 13;
    h *= 0xc2b2ae35u;
    return h ^ h >> 16;
}

#endif
