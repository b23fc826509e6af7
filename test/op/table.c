/* table.c - holo:Table: its types, what it refuses and what it says. */
#include "op/rule.h"

#define TABLE_FOUR "%t = const uint8[4] {9, 8, 7, 6} "
#define TABLE_ROWS "%t = const float32[2,4] {1, 2, 3, 4, 5, 6, 7, 8} "

static void table_rules(void)
{
    static const rule table[] = {
        {"%x: uint2[b,3]", TABLE_FOUR "%y = holo:Table(%x, %t)", "uint8[b,3]"},
        {"%x: int8[b,3]", TABLE_FOUR "%y = holo:Table(%x, %t) {base=252}", "uint8[b,3]"},
        {"%x: float16[]", TABLE_FOUR "%y = holo:Table(%x, %t) {base=65532}", "uint8[]"},
        {"%x: uint8[b,2,3]", TABLE_ROWS "%y = holo:Table(%x, %t) {axis=1}", "float32[b,2,3]"},
        {"%x: uint8[3,c]", TABLE_ROWS "%y = holo:Table(%x, %t) {axis=-1}", "float32[3,c]"},
        {"%x: float32[3]", TABLE_FOUR "%y = holo:Table(%x, %t)",
         "!input 0 has element type float32"},
        {"%x: uint8[3]", "%t = const int64[1] {9} %y = holo:Table(%x, %t)",
         "!input 1 has element type int64"},
        {"%x: uint8[3]", "%t = const uint8[1,1,1] {9} %y = holo:Table(%x, %t)",
         "!input 1 has rank 3"},
        {"%x: uint8[3], %t: uint8[256]", "%y = holo:Table(%x, %t)", "!not a constant"},
        {"%x: uint8[3]", TABLE_ROWS "%y = holo:Table(%x, %t)", "!one row a channel"},
        {"%x: uint8[2]", TABLE_ROWS "%y = holo:Table(%x, %t) {axis=1}", "!axis"},
        {"%x: uint8[3]", TABLE_FOUR "%y = holo:Table(%x, %t) {base=256}", "!'base' is 256"},
        {"%x: uint8[3]", TABLE_FOUR "%y = holo:Table(%x, %t) {base=-1}", "!'base' is -1"},
        {"%x: uint8[3]", TABLE_FOUR "%y = holo:Table(%x, %t) {base=253}", "!1 to 3 entries"},
        {"%x: uint8[3]", "%t = const uint8[0] {} %y = holo:Table(%x, %t)", "!1 to 256 entries"},
        {"%x: uint8[3]", TABLE_FOUR "%y = holo:Table(%x, %t) {classes=1}", "!96 entries"},
    };
    RULES(table);
}

static void table_values(void)
{
    static const rule_value table[] = {
        {"%x = const uint2[5] {0, 3, 2, 1, 1} " TABLE_FOUR "%y = holo:Table(%x, %t)",
         "uint8[5] {9, 6, 7, 8, 8}"},
        {"%x = const int8[3] {-1, -4, -2} " TABLE_FOUR "%y = holo:Table(%x, %t) {base=252}",
         "uint8[3] {6, 9, 7}"},
        {"%x = const uint16[2] {101, 103} " TABLE_FOUR "%y = holo:Table(%x, %t) {base=100}",
         "uint8[2] {8, 6}"},
        {"%x = const uint8[2,2] {0, 0, 3, 1} " TABLE_ROWS "%y = holo:Table(%x, %t) {axis=-1}",
         "float32[2,2] {1.0, 5.0, 4.0, 6.0}"},
        {"%x = const uint8[2,2] {0, 1, 3, 0} " TABLE_ROWS "%y = holo:Table(%x, %t) {axis=0}",
         "float32[2,2] {1.0, 2.0, 8.0, 5.0}"},
        {"%x = const uint8[2] {0, 4} " TABLE_FOUR "%y = holo:Table(%x, %t)",
         "!code 4 at element 1 is outside 0 to 3"},
    };
    RULE_VALUES(table);
}

const hg_test_case hg_tests_op_table[] = {
    {"rules", table_rules},
    {"values", table_values},
    {0},
};
