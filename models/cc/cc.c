/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * cc.c - the registry of congestion controls and their presets.
 * Set-up code: nothing here runs per packet.
 *
 * A test may put another list in the place of cc_list.def by defining CC_LIST before it
 * includes this file.
 */
#include <config.h>

#include "models/cc/cc.h"

#include <assert.h>
#include <string.h>

#ifndef CC_LIST
#define CC_LIST "models/cc/cc_list.def"
#endif

#define CC(name) extern const struct cc_ops cc_##name##_ops;
#include CC_LIST
#undef CC

const struct cc_ops *const cc_list[] = {
#define CC(name) &cc_##name##_ops,
#include CC_LIST
#undef CC
    NULL,
};

const struct cc_ops *
cc_find(const char *name)
{
    for (const struct cc_ops *const *ops = cc_list; *ops != NULL; ops++) {
        if (strcmp((*ops)->name, name) == 0) {
            return *ops;
        }
    }
    return NULL;
}

const struct cc_preset *
cc_preset_find(const struct cc_ops *ops, const char *name)
{
    if (name == NULL) {
        return &ops->presets[0];
    }
    for (const struct cc_preset *preset = ops->presets; preset->name != NULL; preset++) {
        if (strcmp(preset->name, name) == 0) {
            return preset;
        }
    }
    return NULL;
}

void
cc_params_init(const struct cc_ops *ops, const struct cc_preset *preset, void *params)
{
    if (ops->params_bytes == 0) {
        return;
    }
    memset(params, 0, ops->params_bytes);
    param_set_defaults(ops->params, params);
    for (const struct cc_override *o = preset->overrides; o->name != NULL; o++) {
        const struct param *p = param_find(ops->params, o->name);

        assert(p != NULL);
        param_set(p, params, o->value);
    }
}
