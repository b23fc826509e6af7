/* embed.c - bytes as something a linker takes: C source, its header, or an object file. */
#include "io/embed.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { EMBED_CHUNK = 1 << 20, EMBED_TEXT = 4096, EMBED_SYMBOL = 200 };

/* Words of C and C++ that a file may well be called, and names the declarations use. */
static const char embed_words[] =
    " auto bool break case catch char class const continue default delete do double else enum "
    "explicit export extern false float for friend goto if inline int long main mutable namespace "
    "new operator private protected public register restrict return short signed size_t sizeof "
    "static struct switch template this throw true try typedef union unsigned using virtual void "
    "volatile while and or not xor ";

static bool embed_is_word(const char *text)
{
    size_t n = strlen(text);
    for (const char *p = strstr(embed_words, text); p != NULL; p = strstr(p + 1, text))
        if (p[-1] == ' ' && p[n] == ' ') return true;
    return false;
}

bool hg_io_embed_is_symbol(const char *text)
{
    for (const char *p = text; *p != '\0'; p++) {
        bool is_letter = (*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') || *p == '_';
        if (!is_letter && (p == text || *p < '0' || *p > '9')) return false;
    }
    return text[0] != '\0' && strlen(text) <= EMBED_SYMBOL && !embed_is_word(text);
}

static bool embed_print(holo_sink_fn sink, void *user, const char *format, ...) HG_PRINTF(3, 4);

static bool embed_print(holo_sink_fn sink, void *user, const char *format, ...)
{
    char text[EMBED_TEXT];
    va_list args;
    va_start(args, format);
    int n = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return n >= 0 && (size_t)n < sizeof text && sink(user, text, (size_t)n);
}

/* The bytes in pieces, so that a sink can refuse between them. */
static bool embed_bytes(const hg_io_embed *e, holo_sink_fn sink, void *user)
{
    for (size_t at = 0; at < e->size; at += EMBED_CHUNK) {
        size_t n = e->size - at < EMBED_CHUNK ? e->size - at : EMBED_CHUNK;
        if (!sink(user, e->data + at, n)) return false;
    }
    return true;
}

/* ---- C -----------------------------------------------------------------------------------------
 */

bool hg_io_embed_header(const hg_io_embed *e, holo_sink_fn sink, void *user)
{
    const char *s = e->symbol;
    return embed_print(
        sink, user,
        "/* A compiled model as bytes in the program; written by hologram embed. */\n"
        "#ifndef %s_EMBEDDED_H\n"
        "#define %s_EMBEDDED_H\n\n"
        "#include <stddef.h>\n\n"
        "#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n"
        "extern const unsigned char %s[]; /* %zu bytes, aligned to 64 */\n"
        "extern const size_t %s_size;\n\n"
        "#ifdef __cplusplus\n}\n#endif\n\n#endif\n",
        s, s, s, e->size, s);
}

/* "1,2,255,...\n" in rows of 32 bytes. */
static bool embed_rows(const hg_io_embed *e, holo_sink_fn sink, void *user)
{
    enum { ROW = 32, ROWS = 512 };
    char text[ROWS * (ROW * 4 + 1)];
    size_t used = 0;
    for (size_t i = 0; i < e->size; i++) {
        unsigned b = e->data[i];
        if (b >= 100) text[used++] = (char)('0' + b / 100);
        if (b >= 10) text[used++] = (char)('0' + b / 10 % 10);
        text[used++] = (char)('0' + b % 10);
        text[used++] = ',';
        if ((i + 1) % ROW == 0 || i + 1 == e->size) text[used++] = '\n';
        if ((i + 1) % (ROW * ROWS) != 0 && i + 1 != e->size) continue;
        if (!sink(user, text, used)) return false;
        used = 0;
    }
    return true;
}

bool hg_io_embed_source(const hg_io_embed *e, holo_sink_fn sink, void *user)
{
    const char *s = e->symbol;
    return embed_print(
               sink, user,
               "/* A compiled model as bytes in the program; written by hologram embed. */\n"
               "#include <stddef.h>\n\n"
               "#if defined(__GNUC__)\n"
               "#define EMBED_ALIGN __attribute__((aligned(64)))\n"
               "#elif defined(_MSC_VER)\n"
               "#define EMBED_ALIGN __declspec(align(64))\n"
               "#else\n"
               "#define EMBED_ALIGN _Alignas(64)\n"
               "#endif\n\n"
               "#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n"
               "extern EMBED_ALIGN const unsigned char %s[%zu];\n"
               "extern const size_t %s_size;\n\n"
               "EMBED_ALIGN const unsigned char %s[%zu] = {\n",
               s, e->size, s, s, e->size) &&
           embed_rows(e, sink, user) &&
           embed_print(sink, user,
                       "};\nconst size_t %s_size = %zu;\n\n"
                       "#ifdef __cplusplus\n}\n#endif\n",
                       s, e->size);
}

/* ---- ELF ---------------------------------------------------------------------------------------
 *
 *   header | .rodata: bytes, padding, size | .symtab | .strtab | .shstrtab | section headers */

enum {
    EMBED_HEADER = 64,
    EMBED_SECTION = 64,
    EMBED_ENTRY = 24, /* of .symtab */
    EMBED_SECTIONS = 6,
    EMBED_STRINGS = 2 * EMBED_SYMBOL + 16
};

static const char embed_names[] = "\0.rodata\0.symtab\0.strtab\0.shstrtab\0.note.GNU-stack";

typedef struct embed_layout {
    char strings[EMBED_STRINGS];
    uint64_t n_strings, size_name; /* size_name: where the second symbol's name starts */
    uint64_t size_at;              /* of NAME_size in .rodata */
    uint64_t rodata, symtab, strtab, shstrtab, sections; /* offsets in the file */
} embed_layout;

static void embed_put(uint8_t *at, uint64_t value, int bytes)
{
    for (int i = 0; i < bytes; i++)
        at[i] = (uint8_t)(value >> (8 * i));
}

static embed_layout embed_lay_out(const hg_io_embed *e)
{
    embed_layout l = {.rodata = EMBED_HEADER};
    size_t n = strlen(e->symbol);
    memcpy(l.strings + 1, e->symbol, n);
    l.size_name = n + 2;
    memcpy(l.strings + l.size_name, e->symbol, n);
    memcpy(l.strings + l.size_name + n, "_size", 6);
    l.n_strings = l.size_name + n + 6;
    l.size_at = hg_align_up(e->size, 8);
    l.symtab = l.rodata + l.size_at + 8;
    l.strtab = l.symtab + 3 * EMBED_ENTRY;
    l.shstrtab = l.strtab + l.n_strings;
    l.sections = hg_align_up(l.shstrtab + sizeof embed_names, 8);
    return l;
}

static void embed_header(uint8_t out[EMBED_HEADER], const embed_layout *l, hg_io_machine machine)
{
    static const uint8_t ident[] = {0x7f, 'E', 'L', 'F', 2, 1, 1}; /* 64 bits, little, version 1 */
    memset(out, 0, EMBED_HEADER);
    memcpy(out, ident, sizeof ident);
    embed_put(out + 16, 1, 2); /* relocatable */
    embed_put(out + 18, machine, 2);
    embed_put(out + 20, 1, 4);
    embed_put(out + 40, l->sections, 8);
    embed_put(out + 52, EMBED_HEADER, 2);
    embed_put(out + 58, EMBED_SECTION, 2);
    embed_put(out + 60, EMBED_SECTIONS, 2);
    embed_put(out + 62, 4, 2); /* .shstrtab */
}

static void embed_symbol(uint8_t *out, uint64_t name, uint64_t value, uint64_t size)
{
    embed_put(out, name, 4);
    out[4] = 1 << 4 | 1;      /* global, object */
    embed_put(out + 6, 1, 2); /* in .rodata */
    embed_put(out + 8, value, 8);
    embed_put(out + 16, size, 8);
}

typedef struct embed_section {
    const char *name;
    uint64_t type, flags, offset, size, link, info, align, entry;
} embed_section;

static void embed_sections(uint8_t *out, const embed_layout *l)
{
    enum { PROGBITS = 1, SYMTAB = 2, STRTAB = 3, ALLOC = 2 };
    const embed_section list[EMBED_SECTIONS] = {
        {"", 0, 0, 0, 0, 0, 0, 0, 0},
        {".rodata", PROGBITS, ALLOC, l->rodata, l->size_at + 8, 0, 0, HG_ALIGN, 0},
        {".symtab", SYMTAB, 0, l->symtab, 3 * EMBED_ENTRY, 3, 1, 8, EMBED_ENTRY},
        {".strtab", STRTAB, 0, l->strtab, l->n_strings, 0, 0, 1, 0},
        {".shstrtab", STRTAB, 0, l->shstrtab, sizeof embed_names, 0, 0, 1, 0},
        /* Without it linkers make the stack executable. */
        {".note.GNU-stack", PROGBITS, 0, l->sections, 0, 0, 0, 1, 0},
    };
    size_t name = 0;
    for (int i = 0; i < EMBED_SECTIONS; i++, out += EMBED_SECTION) {
        const embed_section *s = &list[i];
        embed_put(out, name, 4);
        embed_put(out + 4, s->type, 4);
        embed_put(out + 8, s->flags, 8);
        embed_put(out + 24, s->offset, 8);
        embed_put(out + 32, s->size, 8);
        embed_put(out + 40, s->link, 4);
        embed_put(out + 44, s->info, 4);
        embed_put(out + 48, s->align, 8);
        embed_put(out + 56, s->entry, 8);
        name += strlen(s->name) + 1;
    }
}

bool hg_io_embed_object(const hg_io_embed *e, hg_io_machine machine, holo_sink_fn sink, void *user)
{
    uint8_t head[EMBED_HEADER], tail[16] = {0}, symbols[3 * EMBED_ENTRY] = {0};
    uint8_t sections[EMBED_SECTIONS * EMBED_SECTION] = {0};
    static const uint8_t zeros[8] = {0};
    embed_layout l = embed_lay_out(e);
    size_t pad = (size_t)l.size_at - e->size;
    embed_header(head, &l, machine);
    embed_put(tail + pad, e->size, 8);
    embed_symbol(symbols + EMBED_ENTRY, 1, 0, e->size);
    embed_symbol(symbols + 2 * EMBED_ENTRY, l.size_name, l.size_at, 8);
    embed_sections(sections, &l);
    return sink(user, head, sizeof head) && embed_bytes(e, sink, user) &&
           sink(user, tail, pad + 8) && sink(user, symbols, sizeof symbols) &&
           sink(user, l.strings, (size_t)l.n_strings) &&
           sink(user, embed_names, sizeof embed_names) &&
           sink(user, zeros, (size_t)(l.sections - l.shstrtab - sizeof embed_names)) &&
           sink(user, sections, sizeof sections);
}
