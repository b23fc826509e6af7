/* fill.c - the deterministic generator: its first numbers, the grammar of --inputs, its errors. */
#include "test.h"

#include "io/elem.h"
#include "io/fill.h"
#include "io/tensor.h"

static void fill_first_numbers(void)
{
    hg_rng rng = {HG_FILL_SEED};
    CHECK_NEAR(hg_rng_uniform(&rng), 87628868.0 / 4294967296.0, 0);
    CHECK_NEAR(hg_rng_uniform(&rng), 71072467.0 / 4294967296.0, 0);
}

static void fill_shares_state(void)
{
    hg_fill_inputs in;
    holo_error error = {0};
    hg_rng rng = {HG_FILL_SEED}, again = {HG_FILL_SEED};
    if (!CHECK_OK(
            hg_fill_inputs_parse("a:float32:2:rand;b:int64:-:const=16000;c:0:int64:1,3:int=100;",
                                 &rng, &in, &error),
            &error))
        return;
    CHECK_EQ_INT(in.count, 3);
    CHECK_NEAR(hg_elem_get(&in.item[0].tensor, 0), (float)(hg_rng_uniform(&again) * 2 - 1), 0);
    CHECK_NEAR(hg_elem_get(&in.item[0].tensor, 1), (float)(hg_rng_uniform(&again) * 2 - 1), 0);
    CHECK_EQ_INT(in.item[1].tensor.rank, 0);
    CHECK_EQ_INT(hg_elem_get_int(&in.item[1].tensor, 0), 16000);
    CHECK_STR(in.item[2].name, "c:0"); /* names may hold colons */
    CHECK_EQ_INT(hg_elem_get_int(&in.item[2].tensor, 0), (int)(hg_rng_uniform(&again) * 100));
    hg_fill_inputs_free(&in);
}

static void fill_forms(void)
{
    hg_fill_inputs in;
    holo_error error = {0};
    hg_rng rng = {HG_FILL_SEED};
    if (!CHECK_OK(hg_fill_inputs_parse(
                      "i:int32:5:iota;h:uint8:1,512:halfmask;p:float32:3:piper;z:float16:2,0:rand",
                      &rng, &in, &error),
                  &error))
        return;
    CHECK_EQ_INT(rng.state, HG_FILL_SEED); /* none of them draws */
    CHECK_EQ_INT(hg_elem_get_int(&in.item[0].tensor, 4), 4);
    CHECK_EQ_INT(hg_elem_get_int(&in.item[1].tensor, 199), 0);
    CHECK_EQ_INT(hg_elem_get_int(&in.item[1].tensor, 200), 255);
    CHECK_NEAR(hg_elem_get(&in.item[2].tensor, 0), 0.667f, 0);
    CHECK_EQ_INT(holo_tensor_count(&in.item[3].tensor), 0);
    hg_fill_inputs_free(&in);
}

static void fill_expect(const char *text, const char *sentence)
{
    hg_fill_inputs in;
    holo_error error = {0};
    hg_rng rng = {HG_FILL_SEED};
    CHECK(hg_fill_inputs_parse(text, &rng, &in, &error) != HOLO_OK);
    CHECK_HAS(error.message, sentence);
}

static void fill_errors(void)
{
    fill_expect("x", "NAME:DTYPE:DIMS:FILL");
    fill_expect("x:float33:1:rand", "float33");
    fill_expect("x:sequence:1:rand", "unknown type");
    fill_expect("x:float32:1,a:rand", "bad dims");
    fill_expect("x:float32:1,:rand", "bad dims");
    fill_expect("x:float32:-1:rand", "bad dims");
    fill_expect("x:float32:1:noise", "unknown fill");
    fill_expect("x:float32:1:int=", "unknown fill");
    fill_expect("x:float32:1:int=0", "unknown fill");
    fill_expect("x:float32:1,1,1,1,1,1,1,1,1:rand", "dims");
    fill_expect("x:float32:4294967296,4294967296:rand", "too large");
    fill_expect("x:float32:99999999999999999999:rand", "bad dims");
    fill_expect("a:float32:1:rand;x:float32:1:noise", "'x'");
}

static void fill_strings(void)
{
    holo_tensor t;
    holo_error error = {0};
    hg_rng rng = {1};
    int64_t dim = 4;
    if (!CHECK_OK(hg_io_tensor_new(HOLO_STRING, &dim, 1, &t, &error), &error)) return;
    hg_fill fill = hg_fill_default(HOLO_STRING);
    hg_fill_tensor(&fill, &rng, &t);
    for (int i = 0; i < 4; i++) {
        const holo_string *s = (const holo_string *)t.data + i;
        CHECK(s->length == 1 && *s->text >= '0' && *s->text <= '9');
    }
    hg_io_tensor_free(&t);
}

const hg_test_case hg_tests_io_fill[] = {
    {"first_numbers", fill_first_numbers},
    {"shares_state", fill_shares_state},
    {"forms", fill_forms},
    {"errors", fill_errors},
    {"strings", fill_strings},
    {0},
};
