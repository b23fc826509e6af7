/* move.c - operators that move elements: types, values, and what they refuse. */
#include "op/rule.h"

static void move_transpose(void)
{
    static const rule types[] = {
        {"%x: float32[n,3,h,w]", "%y = Transpose(%x) {perm=[0,2,3,1]}", "float32[n,h,w,3]"},
        {"%x: float32[n,3]", "%y = Transpose(%x)", "float32[3,n]"},
        {"%x: float32[]", "%y = Transpose(%x)", "float32[]"},
        {"%x: float32[2,3]", "%y = Transpose(%x) {perm=[0,0]}", "!perm names dimension 0 twice"},
        {"%x: float32[2,3]", "%y = Transpose(%x) {perm=[0]}", "!perm has 1 entries, expected 2"},
        {"%x: float32[2,3]", "%y = Transpose(%x) {perm=[0,2]}", "!axis is 2"},
        {"%x: float32[2,3]", "%y = Transpose(%x) {perm=1}", "!attribute 'perm' is an integer"},
    };
    static const rule_value values[] = {
        {"%x = const int32[2,3] {1, 2, 3, 4, 5, 6} %y = Transpose(%x)",
         "int32[3,2] {1, 4, 2, 5, 3, 6}"},
        {"%x = const int4[2,3] {1, 2, 3, 4, 5, 6} %y = Transpose(%x)",
         "int4[3,2] {1, 4, 2, 5, 3, 6}"},
        {"%x = const string[2,2] {\"a\", \"b\", \"c\", \"d\"} %y = Transpose(%x)",
         "string[2,2] {\"a\", \"c\", \"b\", \"d\"}"},
        {"%x = const int32[1,3] {1, 2, 3} %y = Transpose(%x)", "int32[3,1] {1, 2, 3}"},
    };
    RULES(types);
    RULE_VALUES(values);
}

static void move_expand(void)
{
    static const rule types[] = {
        {"%x: float32[3,1]", "%s = const int64[3] {2, 1, 6} %y = Expand(%x, %s)", "float32[2,3,6]"},
        {"%x: float32[n,1]", "%s = const int64[2] {1, 6} %y = Expand(%x, %s)", "float32[n,6]"},
        {"%x: float32[]", "%s = const int64[0] {} %y = Expand(%x, %s)", "float32[]"},
        {"%x: float32[1,k], %z: float32[batch,seq]", "%s = Shape(%z) %y = Expand(%x, %s)",
         "float32[select(max(max(eq(1,k),eq(k,seq)),eq(1,seq)),batch,-1),select(eq(1,seq),k,seq)]"},
        {"%x: float32[3]", "%s = const int64[1] {4} %y = Expand(%x, %s)",
         "!dimensions 3 and 4 do not broadcast"},
        {"%x: float32[2]", "%r = const int64[1] {-3} %y = Tile(%x, %r)", "!repeats[0] is -3"},
        {"%x: float32[2]", "%r = const int64[2] {1, 1} %y = Tile(%x, %r)",
         "!repeats has 2 entries, expected 1"},
        {"%x: float32[n,2]", "%r = const int64[2] {1, 3} %y = Tile(%x, %r)", "float32[n,6]"},
    };
    static const rule_value values[] = {
        {"%x = const int32[2,1] {1, 2} %s = const int64[2] {1, 3} %y = Expand(%x, %s)",
         "int32[2,3] {1, 1, 1, 2, 2, 2}"},
        {"%x = const int32[2] {1, 2} %s = const int64[2] {2, 1} %y = Expand(%x, %s)",
         "int32[2,2] {1, 2, 1, 2}"},
        {"%x = const int32[1] {1} %s = const int64[1] {0} %y = Expand(%x, %s)", "int32[0] {}"},
        {"%x = const int32[2,2] {1, 2, 3, 4} %r = const int64[2] {2, 2} %y = Tile(%x, %r)",
         "int32[4,4] {1, 2, 1, 2, 3, 4, 3, 4, 1, 2, 1, 2, 3, 4, 3, 4}"},
        {"%x = const int32[2] {1, 2} %r = const int64[1] {0} %y = Tile(%x, %r)", "int32[0] {}"},
        {"%s = const int64[2] {2, 2} %y = ConstantOfShape(%s) {value=const int8[1] {7}}",
         "int8[2,2] {7, 7, 7, 7}"},
        {"%s = const int64[1] {3} %y = ConstantOfShape(%s)", "float32[3] {0.0, 0.0, 0.0}"},
        {"%s = const int64[0] {} %y = ConstantOfShape(%s) {value=const bool[1] {true}}",
         "bool[] {true}"},
        {"%s = const int64[1] {-1} %y = ConstantOfShape(%s)", "!dimension 0 is -1"},
    };
    RULES(types);
    RULE_VALUES(values);
}

static void move_concat(void)
{
    static const rule types[] = {
        {"%a: float32[n,3], %b: float32[n,4]", "%y = Concat(%a, %b) {axis=-1}", "float32[n,7]"},
        {"%a: float32[n,3], %b: float32[m,3]", "%y = Concat(%a, %b) {axis=0}", "float32[m+n,3]"},
        {"%a: float32[n,3], %b: float32[5,3]", "%y = Concat(%a, %b) {axis=1}", "float32[5,6]"},
        {"%a: int64[2] {n,3}, %b: int64[1] {m}", "%y = Concat(%a, %b) {axis=0}",
         "int64[3] {n,3,m}"},
        {"%a: float32[2], %b: float32[2,1]", "%y = Concat(%a, %b) {axis=0}",
         "!input 1 has rank 2, expected 1"},
        {"%a: float32[2,3], %b: float32[2,4]", "%y = Concat(%a, %b) {axis=0}",
         "!dimension 1 of input 1 is 4, expected 3"},
        {"%a: float32[2], %b: int32[2]", "%y = Concat(%a, %b) {axis=0}",
         "!input 0 is float32 but input 1 is int32"},
        {"%a: float32[2], %b: float32[2]", "%y = Concat(%a, %b)", "!attribute 'axis' is missing"},
        {"%a: float32[], %b: float32[]", "%y = Concat(%a, %b) {axis=0}",
         "!axis is 0, expected 0 to -1"},
    };
    static const rule_value values[] = {
        {"%a = const int32[2,1] {1, 2} %b = const int32[2,2] {3, 4, 5, 6} %y = Concat(%a, %b) "
         "{axis=1}",
         "int32[2,3] {1, 3, 4, 2, 5, 6}"},
        {"%a = const uint4[3] {1, 2, 3} %b = const uint4[2] {4, 5} %y = Concat(%a, %b, %a) "
         "{axis=0}",
         "uint4[8] {1, 2, 3, 4, 5, 1, 2, 3}"},
        {"%a = const int32[0] {} %b = const int32[1] {3} %y = Concat(%a, %b) {axis=-1}",
         "int32[1] {3}"},
        {"%a = const int32[1] {3} %y = Concat(%a) {axis=0}", "int32[1] {3}"},
    };
    RULES(types);
    RULE_VALUES(values);
}

static void move_gather(void)
{
    static const rule types[] = {
        {"%x: float32[v,768], %i: int64[batch,seq]", "%y = Gather(%x, %i)",
         "float32[batch,seq,768]"},
        {"%x: float32[v,768], %i: int32[]", "%y = Gather(%x, %i) {axis=-1}", "float32[v]"},
        {"%x: int64[3] {n,c,h}", "%i = const int64[] {-1} %y = Gather(%x, %i)", "int64[] {h}"},
        {"%x: int64[3] {n,c,h}", "%i = const int64[2] {2, 0} %y = Gather(%x, %i)",
         "int64[2] {h,n}"},
        {"%x: float32[3], %i: float32[1]", "%y = Gather(%x, %i)",
         "!input 1 has element type float32"},
        {"%x: float32[3], %i: int64[1]", "%y = Gather(%x, %i) {axis=1}",
         "!axis is 1, expected -1 to 0"},
        {"%x: float32[1,1,1,1,1], %i: int64[1,1,1,1,1]", "%y = Gather(%x, %i)",
         "!the result would have rank 9"},
        {"%x: float32[2,3], %i: int64[4,3]", "%y = GatherElements(%x, %i)", "float32[4,3]"},
        {"%x: float32[2,3], %i: int64[4]", "%y = GatherElements(%x, %i)",
         "!input 1 has rank 1, expected 2"},
        {"%x: float32[b,3,4], %i: int64[b,5,1]", "%y = GatherND(%x, %i) {batch_dims=1}",
         "float32[b,5,4]"},
        {"%x: float32[2,3], %i: int64[2,3]", "%y = GatherND(%x, %i)",
         "!tuples of 3 indices, expected at most 2"},
        {"%x: float32[2,3], %i: int64[2,n]", "%y = GatherND(%x, %i)", "!not known at compile time"},
        {"%x: float32[2,3], %i: int64[2,1]", "%y = GatherND(%x, %i) {batch_dims=2}",
         "!batch_dims is 2, expected 0 to 1"},
    };
    static const rule_value values[] = {
        {"%x = const int32[2,2] {1, 2, 3, 4} %i = const int64[1] {-1} %y = Gather(%x, %i) {axis=1}",
         "int32[2,1] {2, 4}"},
        {"%x = const int32[2] {1, 2} %i = const int64[1] {2} %y = Gather(%x, %i)",
         "!index 2 at element 0 is outside -2 to 1"},
        {"%x = const int32[2,2] {1, 2, 3, 4} %i = const int64[2,2] {0, 0, 1, 0} %y = "
         "GatherElements(%x, %i) {axis=1}",
         "int32[2,2] {1, 1, 4, 3}"},
        {"%x = const int32[2,2] {1, 2, 3, 4} %i = const int64[2,1] {1, 0} %y = GatherND(%x, %i)",
         "int32[2,2] {3, 4, 1, 2}"},
    };
    RULES(types);
    RULE_VALUES(values);
}

static void move_scatter(void)
{
    static const rule types[] = {
        {"%x: float32[n,3], %i: int64[2,3], %u: float32[2,3]", "%y = ScatterElements(%x, %i, %u)",
         "float32[n,3]"},
        {"%x: float32[3], %i: int64[2], %u: float32[2]",
         "%y = ScatterElements(%x, %i, %u) {reduction=\"avg\"}", "!reduction is \"avg\""},
        {"%x: float32[3], %i: int64[2], %u: int32[2]", "%y = ScatterElements(%x, %i, %u)",
         "!input 0 is float32 but input 2 is int32"},
        {"%x: float32[3], %i: int64[2], %u: float32[3]", "%y = ScatterElements(%x, %i, %u)",
         "!dimension 0 of indices and updates differs"},
        {"%x: string[3], %i: int64[2], %u: string[2]",
         "%y = ScatterElements(%x, %i, %u) {reduction=\"add\"}", "!element type string"},
        {"%x: float32[3], %i: int64[2,2], %u: float32[2]", "%y = ScatterND(%x, %i, %u)",
         "!tuples of 2 indices"},
        {"%x: float32[3], %i: int64[2,1], %u: float32[2,1]", "%y = ScatterND(%x, %i, %u)",
         "!input 2 has rank 2, expected 1"},
    };
    static const rule_value values[] = {
        {"%x = const int32[4] {1, 2, 3, 4} %i = const int64[2] {-1, 0} %u = const int32[2] {8, 9} "
         "%y = ScatterElements(%x, %i, %u)",
         "int32[4] {9, 2, 3, 8}"},
        {"%x = const int32[4] {1, 2, 3, 4} %i = const int64[2] {1, 1} %u = const int32[2] {8, 9} "
         "%y = ScatterElements(%x, %i, %u) {reduction=\"add\"}",
         "int32[4] {1, 19, 3, 4}"},
        {"%x = const uint8[2] {200, 2} %i = const int64[2] {0, 1} %u = const uint8[2] {100, 9} %y "
         "= ScatterElements(%x, %i, %u) {reduction=\"add\"}",
         "uint8[2] {44, 11}"},
        {"%x = const float16[2] {1.0, 2.0} %i = const int64[2] {1, 1} %u = const float16[2] {3.0, "
         "-4.0} %y = ScatterElements(%x, %i, %u) {reduction=\"mul\"}",
         "float16[2] {1.0, -24.0}"},
        {"%x = const int32[2,2] {1, 2, 3, 4} %i = const int64[2,1] {1, 1} %u = const int32[2,2] "
         "{9, 1, 2, 7} %y = ScatterND(%x, %i, %u) {reduction=\"max\"}",
         "int32[2,2] {1, 2, 9, 7}"},
        {"%x = const int32[2] {1, 2} %i = const int64[1,1] {0} %u = const int32[1] {-5} %y = "
         "ScatterND(%x, %i, %u) {reduction=\"min\"}",
         "int32[2] {-5, 2}"},
        {"%x = const int32[3] {1, 2, 3} %i = const int64[1] {1} %u = const int32[1] {7} %y = "
         "Scatter(%x, %i, %u)",
         "int32[3] {1, 7, 3}"},
    };
    RULES(types);
    RULE_VALUES(values);
}

static void move_pad(void)
{
    static const rule types[] = {
        {"%x: float32[n,3]", "%p = const int64[4] {0, 1, 0, 2} %y = Pad(%x, %p)", "float32[n,6]"},
        {"%x: float32[n,3]",
         "%p = const int64[2] {1, 2} %a = const int64[1] {-1} %y = Pad(%x, %p, _, %a)",
         "float32[n,6]"},
        {"%x: float32[n,3]", "%p = const int64[2] {1, 2} %y = Pad(%x, %p)",
         "!pads has 2 elements, expected 4"},
        {"%x: float32[2]", "%p = const int64[2] {-2, -1} %y = Pad(%x, %p)",
         "!dimension 0 would be -1"},
        {"%x: float32[2]", "%p = const int64[2] {1, 1} %y = Pad(%x, %p) {mode=\"mirror\"}",
         "!mode is \"mirror\""},
        {"%x: float32[2], %v: int32[]", "%p = const int64[2] {1, 1} %y = Pad(%x, %p, %v)",
         "!input 0 is float32 but input 2 is int32"},
    };
    static const rule_value values[] = {
        {"%x = const int32[3] {1, 2, 3} %p = const int64[2] {2, 1} %y = Pad(%x, %p)",
         "int32[6] {0, 0, 1, 2, 3, 0}"},
        {"%x = const int32[3] {1, 2, 3} %p = const int64[2] {2, 2} %y = Pad(%x, %p) "
         "{mode=\"reflect\"}",
         "int32[7] {3, 2, 1, 2, 3, 2, 1}"},
        {"%x = const int32[3] {1, 2, 3} %p = const int64[2] {2, 2} %y = Pad(%x, %p) "
         "{mode=\"edge\"}",
         "int32[7] {1, 1, 1, 2, 3, 3, 3}"},
        {"%x = const int32[3] {1, 2, 3} %p = const int64[2] {4, 1} %y = Pad(%x, %p) "
         "{mode=\"wrap\"}",
         "int32[8] {3, 1, 2, 3, 1, 2, 3, 1}"},
        {"%x = const int32[2] {1, 2} %p = const int64[2] {1, -1} %v = const int32[] {9} %y = "
         "Pad(%x, %p, %v)",
         "int32[2] {9, 1}"},
        {"%x = const int32[0] {} %p = const int64[2] {1, 1} %y = Pad(%x, %p) {mode=\"edge\"}",
         "!nothing of dimension 0 is left to pad with"},
        {"%x = const int32[] {7} %p = const int64[0] {} %y = Pad(%x, %p)", "int32[] {7}"},
    };
    RULES(types);
    RULE_VALUES(values);
}

static void move_range(void)
{
    static const rule types[] = {
        {"%n: int64[] {count}",
         "%a = const int64[] {0} %d = const int64[] {1} %y = Range(%a, %n, %d)", "int64[count]"},
        {"%a: int64[] {i}", "%n = const int64[] {6} %d = const int64[] {2} %y = Range(%a, %n, %d)",
         "int64[max(0,ceil(i*-1,2)+3)]"},
        {"",
         "%a = const int64[] {1} %n = const int64[] {4} %d = const int64[] {1} %y = Range(%a, %n, "
         "%d)",
         "int64[3] {1,2,3}"},
        {"",
         "%a = const float32[] {0.0} %n = const float32[] {1.0} %d = const float32[] {0.25} %y = "
         "Range(%a, %n, %d)",
         "float32[4]"},
        {"",
         "%a = const int64[] {1} %n = const int64[] {4} %d = const int64[] {0} %y = Range(%a, %n, "
         "%d)",
         "!delta is 0"},
        {"",
         "%a = const float32[] {1.0} %n = const float32[] {4.0} %d = const float32[] {0.0} %y = "
         "Range(%a, %n, %d)",
         "!give no size"},
        {"%n: int64[2]", "%a = const int64[] {0} %y = Range(%a, %n, %a)",
         "!input 1 has rank 1, expected a scalar"},
    };
    static const rule_value values[] = {
        {"%a = const int32[] {5} %n = const int32[] {-2} %d = const int32[] {-3} %y = Range(%a, "
         "%n, %d)",
         "int32[3] {5, 2, -1}"},
        {"%a = const int16[] {3} %n = const int16[] {3} %d = const int16[] {1} %y = Range(%a, %n, "
         "%d)",
         "int16[0] {}"},
        {"%x = const float32[2,3] {0.0,0.0,0.0,0.0,0.0,0.0} %y = EyeLike(%x) {k=1, dtype=3}",
         "int8[2,3] {0, 1, 0, 0, 0, 1}"},
        {"%x = const float32[2,2] {0.0,0.0,0.0,0.0} %y = EyeLike(%x)",
         "float32[2,2] {1.0, 0.0, 0.0, 1.0}"},
        {"%i = const int64[2] {1, -1} %d = const int64[] {3} %v = const int32[2] {0, 5} %y = "
         "OneHot(%i, %d, %v)",
         "int32[2,3] {0, 5, 0, 0, 0, 5}"},
        {"%i = const float32[2] {1.0, 7.0} %d = const float32[1] {2.0} %v = const int32[2] {0, 5} "
         "%y = OneHot(%i, %d, %v) {axis=0}",
         "int32[2,2] {0, 0, 5, 0}"},
        {"%x = const int32[2,2] {1, 2, 3, 4} %y = Trilu(%x)", "int32[2,2] {1, 2, 0, 4}"},
        {"%x = const int32[2,2] {1, 2, 3, 4} %k = const int64[] {-1} %y = Trilu(%x, %k) {upper=0}",
         "int32[2,2] {0, 0, 3, 0}"},
        {"%x = const int32[2,2] {1, 2, 3, 4} %a = const int32[] {-1} %y = CumSum(%x, %a)",
         "int32[2,2] {1, 3, 3, 7}"},
        {"%x = const int32[3] {1, 2, 3} %a = const int32[] {0} %y = CumSum(%x, %a) {exclusive=1, "
         "reverse=1}",
         "int32[3] {5, 3, 0}"},
        {"%x = const int32[3] {1, 2, 3} %a = const int32[] {1} %y = CumSum(%x, %a)", "!axis is 1"},
        {"%x = const int32[2,2] {1, 2, 3, 4} %n = const int64[2] {2, 1} %y = ReverseSequence(%x, "
         "%n)",
         "int32[2,2] {3, 2, 1, 4}"},
        {"%x = const int32[1,4,1,1] {1, 2, 3, 4} %y = DepthToSpace(%x) {blocksize=2}",
         "int32[1,1,2,2] {1, 2, 3, 4}"},
        {"%x = const int32[1,1,2,2] {1, 2, 3, 4} %y = SpaceToDepth(%x) {blocksize=2}",
         "int32[1,4,1,1] {1, 2, 3, 4}"},
        {"%x = const int32[1,3,1,1] {1, 2, 3} %y = DepthToSpace(%x) {blocksize=2}",
         "!3 channels, expected a multiple of 4"},
        {"%x = const int32[1,4,1,1] {1, 2, 3, 4} %y = DepthToSpace(%x) {blocksize=0}",
         "!blocksize is 0"},
        {"%x = const int32[1,1,3,2] {1, 2, 3, 4, 5, 6} %y = SpaceToDepth(%x) {blocksize=2}",
         "!dimension 2 is 3, expected a multiple of 2"},
        {"%x = const int32[2,3] {0,0,0,0,0,0} %y = Size(%x)", "int64[] {6}"},
        {"%a = const string[2] {\"a\", \"b\"} %b = const string[] {\"b\"} %y = Equal(%a, %b)",
         "bool[2] {false, true}"},
        {"%c = const bool[2] {true, false} %a = const string[2] {\"a\", \"b\"} %b = const "
         "string[1] {\"z\"} %y = Where(%c, %a, %b)",
         "string[2] {\"a\", \"z\"}"},
        {"%c = const bool[1] {false} %a = const complex64[1] {1.0, 2.0} %b = const complex64[1] "
         "{3.0, 4.0} %y = Where(%c, %a, %b)",
         "complex64[1] {3.0, 4.0}"},
        {"%x = const int32[2,3] {0,0,0,0,0,0} %y = Shape(%x) {start=-1}", "int64[1] {3}"},
    };
    RULES(types);
    RULE_VALUES(values);
}

const hg_test_case hg_tests_op_move[] = {
    {"transpose", move_transpose}, {"expand", move_expand},
    {"concat", move_concat},       {"gather", move_gather},
    {"scatter", move_scatter},     {"pad", move_pad},
    {"range", move_range},         {0},
};
