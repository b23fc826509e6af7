/* op_formula.h - pieces that several lane formulas share. */
#ifndef HG_OP_OP_FORMULA_H
#define HG_OP_OP_FORMULA_H

#include "op/op.h"

/* A constant of the same type as `like`. */
hg_lane_id hg_formula_number(hg_formula *f, hg_lane_id like, double value);
/* min(high, max(low, x)); NaN stays. */
hg_lane_id hg_formula_clamp(hg_formula *f, hg_lane_id x, double low, double high);
/* ln(1 + e^x) without overflow: max(x, 0) + ln(1 + e^-|x|). */
hg_lane_id hg_formula_softplus(hg_formula *f, hg_lane_id x);
/* x / (1 + e^(-alpha x)) with the node's alpha. */
hg_lane_id hg_formula_swish(hg_formula *f, hg_lane_id x);
/* op(op(in[0], in[1]), in[2]) ... over all inputs. */
hg_lane_id hg_formula_chain(hg_formula *f, hg_lane_opcode op, const hg_lane_id *in);
/* Logical complement of a bool. */
hg_lane_id hg_formula_not(hg_formula *f, hg_lane_id x);
/* The number x in the compute type of `to`, as Cast says: not 0 for bool, low bits for integers. */
hg_lane_id hg_formula_convert(hg_formula *f, hg_lane_id x, holo_dtype to);

#endif
