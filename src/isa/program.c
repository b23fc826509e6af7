/* program.c - the program section: layout and views. */
#include "isa/program.h"

#include <stdio.h>

#include <string.h>

/* The tables in file order: X(field, count, element type). */
#define PROGRAM_TABLES(X)                                                                          \
    X(dim, n_dim, hg_dim_rec)                                                                      \
    X(symbol, n_symbol, hg_symbol_rec)                                                             \
    X(value, n_value, hg_value_rec)                                                                \
    X(step, n_step, hg_step_rec)                                                                   \
    X(list, n_list, uint32_t)                                                                      \
    X(kernel, n_kernel, uint32_t)                                                                  \
    X(in, n_in, hg_port_rec)                                                                       \
    X(out, n_out, hg_port_rec)                                                                     \
    X(weight, n_weight, hg_weight_rec)                                                             \
    X(code_rec, n_code, hg_code_rec)                                                               \
    X(lane_op, n_lane_op, hg_lane_op)                                                              \
    X(lane_out, n_lane_out, hg_lane_out)                                                           \
    X(text, n_text, char)

size_t hg_program_bytes(const hg_program_head *head)
{
    size_t at = hg_align_up(sizeof *head, 8), bytes;
#define X(field, count, type)                                                                      \
    if (!hg_mul_size(head->count, sizeof(type), &bytes) || bytes > SIZE_MAX / 32) return 0;        \
    at += hg_align_up(bytes, 8);
    PROGRAM_TABLES(X)
#undef X
    return at;
}

holo_status hg_program_view(const void *section, size_t size, hg_program *out, holo_error *e)
{
    hg_program p = {.names = NULL};
    const char *base = section;
    if (size < sizeof p.head)
        return hg_fail(e, HOLO_E_FORMAT,
                       "a program section has %zu bytes, its head alone needs %zu", size,
                       sizeof p.head);
    memcpy(&p.head, base, sizeof p.head);
    size_t bytes = hg_program_bytes(&p.head);
    if (bytes == 0 || bytes != size)
        return hg_fail(e, HOLO_E_FORMAT, "a program section has %zu bytes, its tables need %zu",
                       size, bytes);
    size_t at = hg_align_up(sizeof p.head, 8);
#define X(field, count, type)                                                                      \
    p.field = (const type *)(const void *)(base + at);                                             \
    at += hg_align_up(p.head.count * sizeof(type), 8);
    PROGRAM_TABLES(X)
#undef X
    *out = p;
    return HOLO_OK;
}

void hg_program_store(const hg_program *p, void *dst)
{
    char *base = dst;
    memset(dst, 0, hg_program_bytes(&p->head));
    memcpy(base, &p->head, sizeof p->head);
    size_t at = hg_align_up(sizeof p->head, 8);
#define X(field, count, type)                                                                      \
    if (p->head.count != 0) memcpy(base + at, p->field, p->head.count * sizeof(type));             \
    at += hg_align_up(p->head.count * sizeof(type), 8);
    PROGRAM_TABLES(X)
#undef X
}

const char *hg_program_name(const hg_program *p, uint32_t at, hg_name *room)
{
    size_t n = 0;
    for (; n < HG_NAME_MAX && at + (uint64_t)n < p->n_names; n++) {
        room->text[n] = p->names[at + n];
        if (room->text[n] == 0) break;
    }
    room->text[n] = 0;
    return room->text;
}

const char *hg_program_value_name(const hg_program *p, uint32_t value, hg_name *room)
{
    if (hg_program_name(p, p->value[value].name, room)[0] == 0)
        snprintf(room->text, sizeof room->text, "%%%u", value);
    return room->text;
}

const char *hg_program_step_op(const hg_program *p, uint32_t step, hg_name *room)
{
    (void)hg_program_name(p, p->step[step].name, room);
    char *end = strchr(room->text, HG_NAME_AFTER_OP);
    if (end == NULL) end = room->text;
    *end = 0;
    return room->text;
}

const char *hg_program_step_name(const hg_program *p, uint32_t step, hg_name *room)
{
    const size_t op = strlen(hg_program_step_op(p, step, room));
    return hg_program_name(p, p->step[step].name + (op == 0 ? 0 : (uint32_t)op + 1), room);
}

hg_lane_code hg_program_code(const hg_program *p, uint32_t i)
{
    const hg_code_rec *r = &p->code_rec[i];
    return (hg_lane_code){.op = p->lane_op + r->first_op,
                          .out = p->lane_out + r->first_out,
                          .n_op = r->n_op,
                          .n_in = r->n_in,
                          .n_out = r->n_out,
                          .n_reg = r->n_reg};
}
