/* conv_pwdw.h - what every variant of "conv.pwdw" shares. */
#ifndef HG_KERNEL_CONV_PWDW_H
#define HG_KERNEL_CONV_PWDW_H

#include "kernel/conv.h"
#include "kernel/epilogue.h"

enum {
    HG_CONV_PWDW_ACT = 8,       /* number of the parameter; its numbers follow */
    HG_CONV_PWDW_COLUMNS = 3,   /* first of the inputs that have one value for each channel */
    HG_CONV_PWDW_N_COLUMNS = 4, /* bias, slope, gain, lift */
    HG_CONV_PWDW_FIRST_EXTRA = HG_CONV_PWDW_COLUMNS + HG_CONV_PWDW_N_COLUMNS,
    HG_CONV_PWDW_PARAMS = 17
};

/* Checked arguments only. What happens between the two convolutions. */
hg_epilogue_simple hg_conv_pwdw_middle(const hg_args *a);
holo_status hg_conv_pwdw_check(const hg_args *a, holo_error *e);
void hg_conv_pwdw_cost(const hg_args *a, hg_cost *cost);

#endif
