/* extra.c - libhologram_ext, loaded when a model may need it: its codecs bring a dozen libraries,
 * which would take longer to load at every start than everything else. */
#include "cli/model.h"

#include <dlfcn.h>
#include <string.h>

/* Beside the program as it is built, where it is installed, where the system has its libraries. */
static const char *const extra_paths[] = {"$ORIGIN/" HG_EXT_FILE,
                                          "$ORIGIN/" HG_EXT_INSTALLED "/" HG_EXT_FILE, HG_EXT_FILE};

const holo_kernels *hg_cli_extra(void)
{
    const holo_kernels *(*table)(void) = NULL;
    for (size_t i = 0; i < HG_COUNT(extra_paths) && table == NULL; i++) {
        void *library = dlopen(extra_paths[i], RTLD_NOW | RTLD_LOCAL); /* never closed: it is run */
        void *call = library != NULL ? dlsym(library, "holo_kernels_ext") : NULL;
        memcpy(&table, &call, sizeof table);
    }
    return table != NULL ? table() : NULL;
}
