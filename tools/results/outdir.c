/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * outdir.c - a folder of results that appears whole or not at all, see outdir.h.
 *
 * renameat2(2) exchanges two folders in one step where the file system can; elsewhere the
 * old one is moved aside first, for the moment between two renames.
 */
#include <config.h>

#include "tools/results/outdir.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <glib/gstdio.h>

#define SUMMARY_NAME "summary.json"
#define MOST_TRIES 1000
#define DIR_MODE 0777 /* less the umask */

GQuark
outdir_error_quark(void)
{
    return g_quark_from_static_string("outdir-error");
}

static void
set_write_error(GError **error, const char *path, const char *what, int code)
{
    g_set_error(error, OUTDIR_ERROR, OUTDIR_ERROR_WRITE, "%s: %s: %s", path, what,
                g_strerror(code));
}

static gboolean
is_empty(const char *path)
{
    GDir *dir = g_dir_open(path, 0, NULL);
    gboolean empty = dir && g_dir_read_name(dir) == NULL;

    if (dir) {
        g_dir_close(dir);
    }
    return empty;
}

static gboolean
is_results(const char *path)
{
    g_autofree char *summary = g_build_filename(path, SUMMARY_NAME, NULL);

    return g_file_test(summary, G_FILE_TEST_IS_REGULAR) || is_empty(path);
}

gboolean
outdir_check(const char *path, gboolean force, GError **error)
{
    struct stat st;

    if (*path == '\0') {
        g_set_error(error, OUTDIR_ERROR, OUTDIR_ERROR_EXISTS,
                    "--out: an empty name; give a folder that does not exist yet");
        return FALSE;
    }
    if (lstat(path, &st) != 0) {
        return TRUE;
    }
    if (!force) {
        g_set_error(error, OUTDIR_ERROR, OUTDIR_ERROR_EXISTS,
                    "%s: exists already; --force replaces it, --out names another folder",
                    path);
        return FALSE;
    }
    if (!S_ISDIR(st.st_mode) || !is_results(path)) {
        g_set_error(error, OUTDIR_ERROR, OUTDIR_ERROR_EXISTS,
                    "%s: is no folder of results (it holds no %s), so --force does not "
                    "replace it; --out names another folder",
                    path, SUMMARY_NAME);
        return FALSE;
    }
    return TRUE;
}

/* ---- removing ------------------------------------------------------------------------- */

/* Removes what 'name' in the folder 'at' is, folders with all they hold; links are not
 * followed. */
static void
remove_tree_at(int at, const char *name)
{
    int fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;

    if (!dir) {
        if (fd >= 0) {
            close(fd);
        }
        unlinkat(at, name, 0);
        return;
    }
    for (const struct dirent *entry; (entry = readdir(dir)) != NULL;) {
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0) {
            remove_tree_at(dirfd(dir), entry->d_name);
        }
    }
    closedir(dir);
    unlinkat(at, name, AT_REMOVEDIR);
}

static void
outdir_free(struct outdir *dir)
{
    g_free(dir->path);
    g_free(dir->temp);
    g_ptr_array_unref(dir->made);
    g_free(dir);
}

void
outdir_discard(struct outdir *dir)
{
    if (!dir) {
        return;
    }
    if (dir->temp) {
        remove_tree_at(AT_FDCWD, dir->temp);
    }
    for (guint i = dir->made->len; i-- > 0;) {
        /* Only if nobody else has put something there meanwhile. */
        g_rmdir(g_ptr_array_index(dir->made, i));
    }
    outdir_free(dir);
}

/* ---- making --------------------------------------------------------------------------- */

/* Makes 'path' and its parents as far as they are missing, noted in 'made'. */
static gboolean
make_parents(const char *path, GPtrArray *made, GError **error)
{
    if (g_file_test(path, G_FILE_TEST_IS_DIR)) {
        return TRUE;
    }
    g_autofree char *parent = g_path_get_dirname(path);

    if (strcmp(parent, path) != 0 && !make_parents(parent, made, error)) {
        return FALSE;
    }
    if (g_mkdir(path, DIR_MODE) != 0 && errno != EEXIST) {
        set_write_error(error, path, "cannot make the folder", errno);
        return FALSE;
    }
    g_ptr_array_add(made, g_strdup(path));
    return TRUE;
}

/* A new folder ".NAME.WHAT-N" in 'parent'; NULL, and errno is set. */
static char *
make_hidden(const char *parent, const char *name, const char *what)
{
    for (unsigned i = 0; i < MOST_TRIES; i++) {
        g_autofree char *hidden =
            g_strdup_printf("%s/.%s.%s-%d-%u", parent, name, what, (int)getpid(), i);

        if (g_mkdir(hidden, DIR_MODE) == 0) {
            return g_steal_pointer(&hidden);
        }
        if (errno != EEXIST) {
            break;
        }
    }
    return NULL;
}

/* 'path' without slashes at its end. */
static char *
plain_path(const char *path)
{
    size_t n = strlen(path);

    while (n > 1 && path[n - 1] == '/') {
        n--;
    }
    return g_strndup(path, n);
}

struct outdir *
outdir_new(const char *path, gboolean force, GError **error)
{
    if (!outdir_check(path, force, error)) {
        return NULL;
    }
    struct outdir *dir = g_new0(struct outdir, 1);

    dir->path = plain_path(path);
    dir->made = g_ptr_array_new_with_free_func(g_free);
    dir->force = force;

    g_autofree char *parent = g_path_get_dirname(dir->path);
    g_autofree char *name = g_path_get_basename(dir->path);

    if (make_parents(parent, dir->made, error)) {
        dir->temp = make_hidden(parent, name, "part");
        if (dir->temp) {
            return dir;
        }
        set_write_error(error, dir->path, "cannot make the folder", errno);
    }
    outdir_discard(dir);
    return NULL;
}

/* ---- files ---------------------------------------------------------------------------- */

static void
set_file_error(const struct outdir *dir, const char *name, int code, GError **error)
{
    g_autofree char *path = g_build_filename(dir->path, name, NULL);

    set_write_error(error, path, "cannot be written", code);
}

FILE *
outdir_open(const struct outdir *dir, const char *name, GError **error)
{
    g_autofree char *path = g_build_filename(dir->temp, name, NULL);
    FILE *file = g_fopen(path, "wbxe");

    if (!file) {
        set_file_error(dir, name, errno, error);
    }
    return file;
}

gboolean
outdir_close(const struct outdir *dir, const char *name, FILE *file, GError **error)
{
    int code = 0;

    errno = 0;
    if (fflush(file) != 0 || ferror(file)) {
        /* An earlier write has failed and its reason is gone: a full disk mostly. */
        code = errno ? errno : ENOSPC;
    }
    if (fclose(file) != 0 && !code) {
        code = errno;
    }
    if (code) {
        set_file_error(dir, name, code, error);
    }
    return code == 0;
}

gboolean
outdir_write(const struct outdir *dir, const char *name, const char *text, GError **error)
{
    FILE *file = outdir_open(dir, name, error);

    if (!file) {
        return FALSE;
    }
    fputs(text, file);
    return outdir_close(dir, name, file, error);
}

void
outdir_remove(const struct outdir *dir, const char *name)
{
    g_autofree char *path = g_build_filename(dir->temp, name, NULL);

    g_unlink(path);
}

void
outdir_erase(const char *path)
{
    if (is_results(path)) {
        remove_tree_at(AT_FDCWD, path);
    }
}

/* ---- the end -------------------------------------------------------------------------- */

static gboolean
cannot_exchange(int code)
{
    return code == EINVAL || code == ENOSYS || code == ENOTSUP;
}

/* Moves 'temp' to 'path' where nothing is. */
static int
place_new(const char *temp, const char *path)
{
    if (renameat2(AT_FDCWD, temp, AT_FDCWD, path, RENAME_NOREPLACE) == 0) {
        return 0;
    }
    return cannot_exchange(errno) ? rename(temp, path) : -1;
}

/* Puts 'temp' in the place of the folder 'path', which then is at 'temp'. */
static int
exchange(const char *temp, const char *path)
{
    if (renameat2(AT_FDCWD, temp, AT_FDCWD, path, RENAME_EXCHANGE) == 0) {
        return 0;
    }
    if (!cannot_exchange(errno)) {
        return -1;
    }
    g_autofree char *aside = g_strdup_printf("%s.old", temp);

    if (rename(path, aside) != 0) {
        return -1;
    }
    if (rename(temp, path) != 0) {
        int code = errno;

        rename(aside, path);
        errno = code;
        return -1;
    }
    return rename(aside, temp);
}

gboolean
outdir_commit(struct outdir *dir, GError **error)
{
    struct stat st;
    gboolean is_there = lstat(dir->path, &st) == 0;
    int failed = is_there && dir->force ? exchange(dir->temp, dir->path)
                                        : place_new(dir->temp, dir->path);

    if (failed) {
        set_write_error(error, dir->path, "cannot be given its name", errno);
        outdir_discard(dir);
        return FALSE;
    }
    if (is_there) {
        remove_tree_at(AT_FDCWD, dir->temp);
    }
    outdir_free(dir);
    return TRUE;
}
