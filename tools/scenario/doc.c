/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * doc.c - JSON documents as a whole: reading files, bases, --set.  Values: doc_value.c.
 */
#include <config.h>

#include "tools/scenario/doc.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/scenario/profile.h"

/* A chain of bases longer than this is a mistake. */
enum { BASES_MAX = 32 };

static gboolean
fail_file(GError **error, const char *path, const char *why)
{
    g_autofree char *shown = doc_one_line(path);

    g_set_error(error, SCENARIO_ERROR, SCENARIO_ERROR_FILE, "%s: %s", shown, why);
    return FALSE;
}

/* Appends what can be read of 'fd' to 'text'. */
static gboolean
read_all(const char *path, int fd, GString *text, GError **error)
{
    char block[65536];
    ssize_t n;

    while ((n = read(fd, block, sizeof block)) != 0) {
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n < 0) {
            return fail_file(error, path, g_strerror(errno));
        }
        if (text->len + (size_t)n > DOC_MAX_BYTES) {
            return fail_file(error, path, "is larger than 64 MiB, the most that is read");
        }
        g_string_append_len(text, block, n);
    }
    return TRUE;
}

char *
doc_read_file(const char *path, size_t *n_bytes, GError **error)
{
    g_autoptr(GString) text = g_string_new(NULL);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat st;
    gboolean ok;

    if (fd < 0) {
        fail_file(error, path, g_strerror(errno));
        return NULL;
    }
    if (fstat(fd, &st) == 0 && S_ISDIR(st.st_mode)) {
        close(fd);
        fail_file(error, path, "is a folder; allowed is a file");
        return NULL;
    }
    ok = read_all(path, fd, text, error);
    close(fd);
    if (!ok) {
        return NULL;
    }
    if (text->len == 0) {
        fail_file(error, path, "is empty");
        return NULL;
    }
    /* Some editors and spreadsheets begin a file with a byte order mark: it says nothing. */
    if (g_str_has_prefix(text->str, "\xef\xbb\xbf")) {
        g_string_erase(text, 0, 3);
    }
    *n_bytes = text->len;
    return g_string_free(g_steal_pointer(&text), FALSE);
}

/* What the library says of a file that is no JSON, in the words of the one who wrote it. */
static const char *
syntax_text(const json_error_t *syntax)
{
    switch (json_error_code(syntax)) {
    case json_error_numeric_overflow:
        return g_str_has_prefix(syntax->text, "too big")
                   ? "a number is too large; allowed is up to 9223372036854775807"
                   : syntax->text;
    case json_error_null_character:
    case json_error_null_byte_in_key:
        return "a text holds \\u0000, which is not allowed";
    case json_error_stack_overflow:
        return "lists and objects are nested too deep; allowed are 2048 levels";
    default:
        return syntax->text;
    }
}

json_t *
doc_parse(const char *file, const char *data, size_t n_bytes, GError **error)
{
    json_error_t syntax;
    json_t *root = json_loadb(data, n_bytes, JSON_REJECT_DUPLICATES, &syntax);
    struct doc_at at = doc_root(file, root);

    if (root == NULL) {
        /* The library counts lines from 1; an error before the first has -1. */
        g_autofree char *where =
            g_strdup_printf("%s:%d", file, syntax.line < 1 ? 1 : syntax.line);
        at.file = where;
        doc_fail(&at, SCENARIO_ERROR_SYNTAX, error, "%s", syntax_text(&syntax));
        return NULL;
    }
    if (!json_is_object(root)) {
        doc_fail(&at, SCENARIO_ERROR_TYPE, error, "holds no object; allowed is {...}");
        json_decref(root);
        return NULL;
    }
    return root;
}

/* Absolute; of what is no file the current one. */
static char *
folder_of(const char *file)
{
    g_autofree char *full = g_canonicalize_filename(file, NULL);

    return g_path_get_dirname(full);
}

/* The text 'key' of 'object', if it is there, as a full path seen from 'folder'. */
static void
make_absolute(json_t *object, const char *key, const char *folder)
{
    json_t *path = json_object_get(object, key);

    if (json_string_length(path) > 0) {
        g_autofree char *full = g_canonicalize_filename(json_string_value(path), folder);

        json_string_set(path, full);
    }
}

/* Makes paths of files absolute, as seen from the folder of 'file': a document based on this
 * one may stand elsewhere. */
static void
make_paths_absolute(const char *file, json_t *root)
{
    g_autofree char *folder = folder_of(file);
    json_t *works = json_object_get(root, "workload"), *work;
    size_t i;

    make_absolute(json_object_get(root, "topology"), "path", folder);
    json_array_foreach(works, i, work)
    {
        json_t *element;
        const char *cdf = json_string_value(json_object_get(work, "cdf"));
        size_t k;

        make_absolute(work, "path", folder);
        json_array_foreach(json_object_get(work, "path"), k, element)
        {
            if (json_string_length(element) > 0) {
                g_autofree char *full =
                    g_canonicalize_filename(json_string_value(element), folder);
                json_string_set(element, full);
            }
        }
        if (cdf != NULL && profile_is_cdf_path(cdf)) {
            make_absolute(work, "cdf", folder);
        }
    }
}

/* 'over' over 'under': objects are merged, all else of 'over' replaces.  Changes 'under'. */
static void
merge(json_t *under, json_t *over)
{
    const char *key;
    json_t *value;

    json_object_foreach(over, key, value)
    {
        json_t *old = json_object_get(under, key);

        if (json_is_object(old) && json_is_object(value)) {
            merge(old, value);
        } else {
            json_object_set(under, key, value);
        }
    }
}

/* Loads 'path', one file of a chain of bases. */
static json_t *
load_one(const char *path, GError **error)
{
    g_autofree char *data = NULL;
    size_t n_bytes;

    data = doc_read_file(path, &n_bytes, error);
    return data == NULL ? NULL : doc_parse(path, data, n_bytes, error);
}

/* Takes "base" out of 'root', as the full path it means; '*path' NULL: there is none. */
static gboolean
take_base(const char *file, json_t *root, char **path, GError **error)
{
    struct doc_at at = doc_root(file, root), base = doc_key(&at, "base");
    g_autofree char *folder = folder_of(file);
    const char *text;

    *path = NULL;
    if (base.json == NULL) {
        return TRUE;
    }
    if (!doc_text(&base, &text, error)) {
        return FALSE;
    }
    *path = g_canonicalize_filename(text, folder);
    json_object_del(root, "base");
    return TRUE;
}

json_t *
doc_resolve_base(const char *file, json_t *root, GError **error)
{
    g_autoptr(GPtrArray) chain = g_ptr_array_new_with_free_func(g_free);

    g_ptr_array_add(chain, g_canonicalize_filename(file, NULL));
    make_paths_absolute(file, root);
    for (;;) {
        const char *current = chain->pdata[chain->len - 1];
        char *next;
        json_t *under;

        if (!take_base(chain->len == 1 ? file : current, root, &next, error)) {
            break;
        }
        if (next == NULL) {
            return root;
        }
        if (g_ptr_array_find_with_equal_func(chain, next, g_str_equal, NULL) ||
            chain->len == BASES_MAX) {
            struct doc_at at = doc_root(current, root);

            doc_fail_key(&at, "base", SCENARIO_ERROR_VALUE, error,
                         "is '%s', which is based on this file again", next);
            g_free(next);
            break;
        }
        g_ptr_array_add(chain, next);
        under = load_one(next, error);
        if (under == NULL) {
            break;
        }
        make_paths_absolute(next, under);
        merge(under, root);
        json_decref(root);
        root = under;
    }
    json_decref(root);
    return NULL;
}

json_t *
doc_load(const char *path, GError **error)
{
    json_t *root = load_one(path, error);

    return root == NULL ? NULL : doc_resolve_base(path, root, error);
}

/* ---- --set ---------------------------------------------------------------------------- */

/* One step of a path: a key, or an index when 'key' is NULL. */
struct step {
    char *key; /* owned */
    size_t index;
};

static void
step_clear(void *data)
{
    g_free(((struct step *)data)->key);
}

/* Reads "[3]" at '*text' and goes past it. */
static bool
read_index(const char **text, size_t *index)
{
    const char *at = *text + 1;
    uint64_t value = 0;

    if (!g_ascii_isdigit(*at)) {
        return false;
    }
    for (; g_ascii_isdigit(*at); at++) {
        value = MIN(value * 10 + (uint64_t)(*at - '0'), UINT32_MAX);
    }
    *index = value;
    *text = at + 1;
    return *at == ']';
}

/* Reads a key, bare or between double quotes, at '*text' and goes past it. */
static bool
read_key(const char **text, char **key)
{
    const char *from = *text;
    size_t n;

    if (*from == '"') {
        n = strcspn(++from, "\"");
        if (from[n] != '"') {
            return false;
        }
        *text = from + n + 1;
    } else {
        n = strcspn(from, ".[]=\"");
        *text = from + n;
    }
    *key = g_strndup(from, n);
    return n > 0;
}

/* Reads steps up to '='; returns what follows it, or NULL. */
static const char *
read_steps(const char *text, GArray *steps)
{
    for (;;) {
        struct step step = {NULL, 0};
        bool good;

        if (*text == '[' && steps->len > 0) {
            good = read_index(&text, &step.index);
        } else {
            text += *text == '.' && steps->len > 0;
            good = read_key(&text, &step.key);
        }
        g_array_append_val(steps, step);
        if (!good || strchr(".[=", *text) == NULL || *text == '\0') {
            return NULL;
        }
        if (*text == '=') {
            return text + 1;
        }
    }
}

/* An object or array, whichever 'next' goes into. */
static json_t *
new_container(const struct step *next)
{
    return next->key != NULL ? json_object() : json_array();
}

/* Puts 'value' (steals it) where 'step' of 'into' leads. */
static gboolean
put_step(const struct doc_at *into, const struct step *step, json_t *value,
         GError **error)
{
    if (step->key != NULL && json_is_object(into->json)) {
        if (json_object_set_new(into->json, step->key, value) != 0) {
            return doc_fail(into, SCENARIO_ERROR_VALUE, error,
                            "a key of --set is no UTF-8");
        }
        return TRUE;
    }
    if (step->key == NULL && json_is_array(into->json)) {
        size_t n = json_array_size(into->json);

        if (step->index < n) {
            json_array_set_new(into->json, step->index, value);
            return TRUE;
        }
        if (step->index == n) {
            json_array_append_new(into->json, value);
            return TRUE;
        }
        json_decref(value);
        return doc_fail(into, SCENARIO_ERROR_VALUE, error,
                        "--set of element [%zu]: there are %zu; allowed is [0] to [%zu]",
                        step->index, n, n);
    }
    json_decref(value);
    return doc_fail(
        into, SCENARIO_ERROR_TYPE, error, "--set goes into it by %s, but it holds no %s",
        step->key != NULL ? "a key" : "an index", step->key != NULL ? "object" : "array");
}

/* Walks 'steps' from 'at' on and puts 'value' (steals it) at their end. */
static gboolean
put_at(const struct doc_at *at, const GArray *steps, guint depth, json_t *value,
       GError **error)
{
    const struct step *step = &g_array_index(steps, struct step, depth);
    struct doc_at next;

    if (depth + 1 == steps->len) {
        return put_step(at, step, value, error);
    }
    next = step->key != NULL ? doc_key(at, step->key) : doc_index(at, step->index);
    if (next.json == NULL) {
        json_t *made = new_container(&g_array_index(steps, struct step, depth + 1));

        if (!put_step(at, step, made, error)) {
            json_decref(value);
            return FALSE;
        }
        next.json = made;
    }
    return put_at(&next, steps, depth + 1, value, error);
}

gboolean
doc_set(const char *file, json_t *root, const char *assignment, GError **error)
{
    enum { DEPTH_MAX = 32, SHOWN_MAX = 100 };
    g_autoptr(GArray) steps = g_array_new(FALSE, FALSE, sizeof(struct step));
    struct doc_at at = doc_root(file, root);
    const char *text;
    json_t *value;

    g_array_set_clear_func(steps, step_clear);
    text = read_steps(assignment, steps);
    if (text == NULL || steps->len > DEPTH_MAX) {
        g_autofree char *start = g_strndup(assignment, SHOWN_MAX);
        g_autofree char *shown = doc_one_line(start);

        g_set_error(error, SCENARIO_ERROR, SCENARIO_ERROR_SYNTAX,
                    "--set '%s': allowed is PATH=VALUE, for example "
                    "topology.host_link.rate=100G or workload[0].bytes=1MiB",
                    shown);
        return FALSE;
    }
    if (g_strcmp0(g_array_index(steps, struct step, 0).key, "base") == 0) {
        return doc_fail_key(&at, "base", SCENARIO_ERROR_KEY, error,
                            "cannot be set; allowed is only in a file");
    }
    value = json_loads(text, JSON_DECODE_ANY | JSON_REJECT_DUPLICATES, NULL);
    if (value == NULL) {
        value = json_string(text);
    }
    if (value == NULL) {
        return doc_fail(&at, SCENARIO_ERROR_VALUE, error, "a value of --set is no UTF-8");
    }
    return put_at(&at, steps, 0, value, error);
}
