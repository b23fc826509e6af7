/* byteops.c - holo:ByteOps: its types, what it refuses and what it says. */
#include "op/rule.h"

/* max(a, 5), then a + 1 */
#define BYTEOPS_PROGRAM "%p = const uint8[5] {2, 11, 5, 1, 1} "

static void byteops_rules(void)
{
    static const rule table[] = {
        {"%x: uint8[b,3]", BYTEOPS_PROGRAM "%y = holo:ByteOps(%x, %p)", "uint8[b,3]"},
        {"%x: uint8[b,3]", BYTEOPS_PROGRAM "%y = holo:ByteOps(%x, %p) {to=3}", "int8[b,3]"},
        {"%x: int8[]", BYTEOPS_PROGRAM "%y = holo:ByteOps(%x, %p) {base=9, entries=8}", "int8[]"},
        {"%x: uint16[3]", BYTEOPS_PROGRAM "%y = holo:ByteOps(%x, %p)",
         "!input 0 has element type uint16"},
        {"%x: uint8[3]", "%p = const int8[1] {0} %y = holo:ByteOps(%x, %p)",
         "!input 1 has element type int8"},
        {"%x: uint8[3]", "%p = const uint8[1,1] {0} %y = holo:ByteOps(%x, %p)",
         "!input 1 has rank 2"},
        {"%x: uint8[3]", "%p = const uint8[2] {1,1} %y = holo:ByteOps(%x, %p)", "!no program"},
        {"%x: uint8[3], %p: uint8[1]", "%y = holo:ByteOps(%x, %p)", "!no program"},
        {"%x: uint8[3]", BYTEOPS_PROGRAM "%y = holo:ByteOps(%x, %p) {base=256}", "!codes 256"},
        {"%x: uint8[3]", BYTEOPS_PROGRAM "%y = holo:ByteOps(%x, %p) {base=9, entries=248}",
         "!codes 9 to 256"},
        {"%x: uint8[3]", BYTEOPS_PROGRAM "%y = holo:ByteOps(%x, %p) {to=1}", "!'to' is 1"},
    };
    RULES(table);
}

static void byteops_values(void)
{
    static const rule_value table[] = {
        {"%x = const uint8[4] {0, 5, 6, 255} " BYTEOPS_PROGRAM "%y = holo:ByteOps(%x, %p)",
         "uint8[4] {6, 6, 7, 0}"},
        {"%x = const uint8[2] {9, 3} " BYTEOPS_PROGRAM "%y = holo:ByteOps(%x, %p) {base=4}",
         "!code 3 at element 1 is outside 4 to 255"},
    };
    RULE_VALUES(table);
}

const hg_test_case hg_tests_op_byteops[] = {
    {"rules", byteops_rules},
    {"values", byteops_values},
    {0},
};
