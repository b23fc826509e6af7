/* conv_pwdw.h - what every variant of "conv.pwdw" shares. */
#ifndef HG_KERNEL_CONV_PWDW_H
#define HG_KERNEL_CONV_PWDW_H

#include "kernel/conv.h"
#include "kernel/epilogue.h"

enum {
    HG_CONV_PWDW_ACT = 8,         /* number of the parameter; limits and gate follow */
    HG_CONV_PWDW_FIRST_EXTRA = 4, /* operand of the epilogue */
    HG_CONV_PWDW_PARAMS = 13
};

/* Checked arguments only. What happens between the two convolutions. */
hg_epilogue_simple hg_conv_pwdw_middle(const hg_args *a);
holo_status hg_conv_pwdw_check(const hg_args *a, holo_error *e);
void hg_conv_pwdw_cost(const hg_args *a, hg_cost *cost);

#endif
