/* byteops.c - reads, writes and evaluates programs of operations on bytes. */
#include "isa/byteops.h"

#include <string.h>

/* Lists that an operation reads. */
static uint32_t byteops_lists(uint8_t op)
{
    if (op == HG_BYTE_LOOK) return 1;
    return op >= HG_BYTE_NIBBLES_XOR && op <= HG_BYTE_NIBBLES_MAX ? 2 : 0;
}

static bool byteops_is_valid(uint8_t op, uint8_t arg, uint32_t n_list)
{
    if ((op & HG_BYTE_CODE) != 0) return hg_byteops_is_binary(op & 127);
    if (op < HG_BYTE_ADD || op >= HG_BYTE_OPS) return false;
    if (op == HG_BYTE_RIGHT || op == HG_BYTE_LEFT) return arg < 8;
    return arg + byteops_lists(op) <= n_list || byteops_lists(op) == 0;
}

bool hg_byteops_read(const uint8_t *bytes, size_t size, hg_byteops *out)
{
    *out = (hg_byteops){0};
    if (size < 1 || size > HG_BYTEOPS_BYTES || bytes[0] > HG_BYTEOPS_MAX) return false;
    const size_t code = 1 + 2 * (size_t)bytes[0];
    if (size < code || (size - code) % 16 != 0) return false;
    out->n = bytes[0];
    out->n_list = (uint32_t)(size - code) / 16;
    if (out->n_list > HG_BYTEOPS_LISTS) return false;
    memcpy(out->list, bytes + code, size - code);
    for (uint32_t i = 0; i < out->n; i++) {
        out->op[i] = bytes[1 + 2 * i];
        out->arg[i] = bytes[2 + 2 * i];
        if (!byteops_is_valid(out->op[i], out->arg[i], out->n_list)) return false;
    }
    return true;
}

size_t hg_byteops_write(const hg_byteops *p, uint8_t *bytes)
{
    const size_t code = 1 + 2 * (size_t)p->n;
    bytes[0] = (uint8_t)p->n;
    for (uint32_t i = 0; i < p->n; i++) {
        bytes[1 + 2 * i] = p->op[i];
        bytes[2 + 2 * i] = p->arg[i];
    }
    memcpy(bytes + code, p->list, 16 * (size_t)p->n_list);
    return code + 16 * (size_t)p->n_list;
}

static int32_t byteops_signed(uint8_t a)
{
    return a < 128 ? a : a - 256;
}

static uint8_t byteops_end_i8(int32_t v)
{
    return (uint8_t)hg_max(-128, hg_min(v, 127));
}

static uint8_t byteops_binary(uint8_t op, uint8_t a, uint8_t c)
{
    const int32_t sa = byteops_signed(a), sc = byteops_signed(c);
    switch (op) {
    case HG_BYTE_ADD: return (uint8_t)(a + c);
    case HG_BYTE_FROM: return (uint8_t)(c - a);
    case HG_BYTE_XOR: return a ^ c;
    case HG_BYTE_AND: return a & c;
    case HG_BYTE_OR: return a | c;
    case HG_BYTE_ADD_U8: return (uint8_t)hg_min(a + c, 255);
    case HG_BYTE_SUB_U8: return (uint8_t)hg_max(a - c, 0);
    case HG_BYTE_ADD_I8: return byteops_end_i8(sa + sc);
    case HG_BYTE_SUB_I8: return byteops_end_i8(sa - sc);
    case HG_BYTE_MIN_U8: return (uint8_t)hg_min(a, c);
    case HG_BYTE_MAX_U8: return (uint8_t)hg_max(a, c);
    case HG_BYTE_MIN_I8: return sa < sc ? a : c;
    case HG_BYTE_MAX_I8: return sa > sc ? a : c;
    case HG_BYTE_EQUAL: return a == c ? 255 : 0;
    default: return sa > sc ? 255 : 0;
    }
}

static uint8_t byteops_nibbles(uint8_t op, uint8_t low, uint8_t high)
{
    switch (op) {
    case HG_BYTE_NIBBLES_XOR: return low ^ high;
    case HG_BYTE_NIBBLES_ADD: return (uint8_t)(low + high);
    case HG_BYTE_NIBBLES_OR: return low | high;
    case HG_BYTE_NIBBLES_AND: return low & high;
    case HG_BYTE_NIBBLES_MIN: return (uint8_t)hg_min(low, high);
    default: return (uint8_t)hg_max(low, high);
    }
}

uint8_t hg_byteops_step(const hg_byteops *p, uint32_t i, uint8_t a, uint8_t x)
{
    const uint8_t op = p->op[i] & 127, arg = (p->op[i] & HG_BYTE_CODE) != 0 ? x : p->arg[i];
    switch (op) {
    case HG_BYTE_ABS_I8: return byteops_signed(a) < 0 ? (uint8_t)(256 - a) : a;
    case HG_BYTE_RIGHT: return (uint8_t)(a >> arg);
    case HG_BYTE_LEFT: return (uint8_t)(a << arg);
    case HG_BYTE_TWICE_U8: return byteops_binary(HG_BYTE_ADD_U8, a, a);
    case HG_BYTE_TWICE_I8: return byteops_binary(HG_BYTE_ADD_I8, a, a);
    case HG_BYTE_LOOK: return (a & 128) != 0 ? 0 : p->list[arg][a & 15];
    default: break;
    }
    if (hg_byteops_is_binary(op)) return byteops_binary(op, a, arg);
    return byteops_nibbles(op, p->list[arg][a & 15], p->list[arg + 1][a >> 4]);
}

uint8_t hg_byteops_at(const hg_byteops *p, uint8_t x)
{
    uint8_t a = x;
    for (uint32_t i = 0; i < p->n; i++)
        a = hg_byteops_step(p, i, a, x);
    return a;
}

uint32_t hg_byteops_weight(uint8_t op, uint8_t arg)
{
    if (op == HG_BYTE_LEFT && arg == 1) return 1; /* a + a */
    if (op == HG_BYTE_RIGHT || op == HG_BYTE_LEFT) return 2;
    return byteops_lists(op) == 2 ? 6 : 1;
}
