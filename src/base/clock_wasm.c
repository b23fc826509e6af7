/* clock_wasm.c - the clock of whoever loaded the module. */
#include "base/clock.h"

__attribute__((import_module("hologram"), import_name("clock"))) extern double
hg_clock_import(void);

double hg_clock_seconds(void)
{
    return hg_clock_import();
}
