/* sequence_model.c - recurrent layers, attention, transforms, sampling and random numbers: shapes
 * and what is refused. */
#include "op/rule.h"

static void sequence_model_recurrent(void)
{
    static const rule table[] = {
        {"%x: float32[seq,batch,8], %w: float32[2,64,8], %r: float32[2,64,16]",
         "%y = LSTM(%x, %w, %r) {hidden_size=16, direction=\"bidirectional\"}",
         "float32[seq,2,batch,16]"},
        {"%x: float32[batch,seq,8], %w: float32[1,48,8], %r: float32[1,48,16]",
         "%y = GRU(%x, %w, %r) {layout=1}", "float32[batch,seq,1,16]"},
        {"%x: float32[seq,batch,8], %w: float32[1,16,8], %r: float32[1,16,16]",
         "%y = RNN(%x, %w, %r) {activations=[\"Relu\"]}", "float32[seq,1,batch,16]"},
        {"%x: float32[seq,batch,8], %w: float32[1,16,8], %r: float32[1,16,16]",
         "%y = RNN(%x, %w, %r) {activations=[\"Swish\"]}", "!activation \"Swish\" is not known"},
        {"%x: float32[seq,batch,8], %w: float32[1,48,8], %r: float32[1,48,16]",
         "%y = GRU(%x, %w, %r) {activations=[\"Tanh\"]}", "!activations has 1 entries, expected 2"},
        {"%x: float32[seq,batch,8], %w: float32[1,16,8], %r: float32[1,16,16]",
         "%y = RNN(%x, %w, %r) {direction=\"up\"}", "!direction is \"up\""},
        {"%x: float32[seq,batch,8], %w: float32[1,16,8], %r: float32[1,16,16]",
         "%y = RNN(%x, %w, %r) {hidden_size=17}", "!hidden_size is 17"},
        {"%x: float32[seq,batch,8], %w: float32[1,60,8], %r: float32[1,64,16]",
         "%y = LSTM(%x, %w, %r)", "!do not have 4 rows for each hidden element"},
        {"%x: float32[seq,batch,8], %w: float32[1,64,8], %r: float32[1,64,16], %b: float32[64]",
         "%y = LSTM(%x, %w, %r, %b)", "!input 3 has rank 1"},
    };
    RULES(table);
}

static void sequence_model_attention(void)
{
    static const rule table[] = {
        {"%q: float32[b,8,s,64], %k: float32[b,2,t,64], %v: float32[b,2,t,32]",
         "%y = Attention(%q, %k, %v)", "float32[b,8,s,32]"},
        {"%q: float32[b,s,512], %k: float32[b,t,128], %v: float32[b,t,64]",
         "%y = Attention(%q, %k, %v) {q_num_heads=8, kv_num_heads=2}", "float32[b,s,256]"},
        {"%q: float32[b,s,512], %k: float32[b,t,128], %v: float32[b,t,64]",
         "%y = Attention(%q, %k, %v)", "!q_num_heads is 0"},
        {"%q: float32[b,8,s,64], %k: float32[b,3,t,64], %v: float32[b,3,t,64]",
         "%y = Attention(%q, %k, %v)", "!8 heads of queries and 3 of keys do not fit"},
        {"%q: float32[b,8,s,64], %k: float32[b,8,t,64], %v: float32[b,8,t,64]",
         "%y = Attention(%q, %k, %v) {qk_matmul_output_mode=4}", "!qk_matmul_output_mode is 4"},
        {"%q: float32[b,8,s,64], %k: float32[b,8,t,64], %v: float32[b,8,t,64]",
         "%y = Attention(%q, %k, %v) {softmax_precision=6}", "!softmax_precision is 6"},
        {"%q: float32[b,8,s,64], %k: float32[b,8,t,64], %v: float32[b,8,t,64], %p: "
         "float32[b,8,p,64]",
         "%y = Attention(%q, %k, %v, _, %p)", "!must come together"},
        {"%x: float32[b,4,s,16], %c: float32[50,8], %p: int64[b,s]",
         "%y = RotaryEmbedding(%x, %c, %c, %p)", "float32[b,4,s,16]"},
        {"%x: float32[b,s,64], %c: float32[50,8], %p: int64[b,s]",
         "%y = RotaryEmbedding(%x, %c, %c, %p)", "!num_heads is 0"},
        {"%x: float32[b,4,s,16], %c: float32[50,8], %p: int64[b,s]",
         "%y = RotaryEmbedding(%x, %c, %c, %p) {rotary_embedding_dim=3}",
         "!expected an even number"},
        {"%x: float32[b,4,1,16], %c: float32[50,8], %p: int64[b,7]",
         "%y = RotaryEmbedding(%x, %c, %c, %p)", "!positions for 7 places, expected 1"},
        {"%c: float32[b,4,s,16], %u: float32[b,4,t,16], %w: int64[b]",
         "%y = TensorScatter(%c, %u, %w)", "float32[b,4,s,16]"},
        {"%c: float32[b,4], %u: float32[b,4]", "%y = TensorScatter(%c, %u)", "!axis is 0"},
        {"%c: float32[b,4], %u: float32[b,4]", "%y = TensorScatter(%c, %u) {axis=1, mode=\"odd\"}",
         "!mode is \"odd\""},
    };
    RULES(table);
    static const rule_value values[] = {
        /* the second query sees both keys, the first itself alone */
        {"%q = const float32[1,1,2,1] {0, 0} %k = const float32[1,1,2,1] {1, 2} %v = const "
         "float32[1,1,2,1] {2, 4} %y = Attention(%q, %k, %v) {is_causal=1}",
         "float32[1,1,2,1] {2.0, 3.0}"},
        {"%q = const float32[1,1,2,1] {0, 0} %k = const float32[1,1,2,1] {1, 2} %v = const "
         "float32[1,1,2,1] {2, 4} %m = const bool[2,2] {false, false, false, true} %y = "
         "Attention(%q, "
         "%k, %v, %m)",
         "float32[1,1,2,1] {0.0, 4.0}"},
    };
    RULE_VALUES(values);
}

static void sequence_model_transforms(void)
{
    static const rule table[] = {
        {"%x: float32[n,16,1]", "%y = DFT(%x)", "float32[n,16,2]"},
        {"%x: float32[n,16,1]", "%y = DFT(%x) {onesided=1}", "float32[n,9,2]"},
        {"%x: float32[n,9,2]", "%y = DFT(%x) {onesided=1, inverse=1}", "float32[n,16,1]"},
        {"%x: float32[n,16,1]",
         "%l = const int64[] {20} %a = const int64[] {0} %y = DFT(%x, %l, %a)", "float32[20,16,2]"},
        {"%x: float32[n,16,1]", "%a = const int64[] {2} %y = DFT(%x, _, %a)", "!axis is 2"},
        {"%x: float32[2,100,1], %w: float32[16]", "%s = const int64[] {8} %y = STFT(%x, %s, %w)",
         "float32[2,11,9,2]"},
        {"%x: float32[2,100], %w: float32[16]", "%s = const int64[] {8} %y = STFT(%x, %s, %w)",
         "float32[2,11,9,2]"},
        {"%x: float32[2,100,1], %w: float32[16]", "%s = const int64[] {0} %y = STFT(%x, %s, %w)",
         "!frame_step is 0"},
        {"%x: float32[n,50]", "%k = const int64[1] {5} %y = TopK(%x, %k)", "float32[n,5]"},
        {"%x: float32[n,50]", "%k = const int64[1] {51} %y = TopK(%x, %k)", "!k is 51"},
        {"%x: float32[n,50]", "%k = const int64[2] {1, 2} %y = TopK(%x, %k)",
         "!input 1 has 2 elements, expected 1"},
        {"%x: float32[n,4,4]", "%y = Det(%x)", "float32[n]"},
        {"%x: float32[4,3]", "%y = Det(%x)", "!not square"},
        {"%x: float32[n,3,h,w], %g: float32[n,5,6,2]", "%y = GridSample(%x, %g)",
         "float32[n,3,5,6]"},
        {"%x: float32[n,3,h,w], %g: float32[n,5,6,2]", "%y = GridSample(%x, %g) {mode=\"bad\"}",
         "!mode is \"bad\""},
        {"%x: float32[n,3,h,w], %g: float32[n,5,6,2]",
         "%y = GridSample(%x, %g) {padding_mode=\"bad\"}", "!padding_mode is \"bad\""},
        {"%t: float32[n,2,3]", "%s = const int64[4] {2, 3, 5, 6} %y = AffineGrid(%t, %s)",
         "float32[n,5,6,2]"},
        {"%t: float32[n,2,3]", "%s = const int64[3] {2, 3, 5} %y = AffineGrid(%t, %s)",
         "!size has 3 elements"},
        {"%x: float32[1,12,12]",
         "%i = const int64[2] {5, 5} %k = const int64[2] {2, 3} %y = Col2Im(%x, %i, %k)",
         "float32[1,2,5,5]"},
        {"%x: float32[1,12,12]",
         "%i = const int64[2] {5, 5} %k = const int64[1] {2} %y = Col2Im(%x, %i, %k)",
         "!image_shape has 2 elements but block_shape 1"},
    };
    RULES(table);
    static const rule_value values[] = {
        {"%n = const int64[] {4} %y = HannWindow(%n)", "float32[4] {0.0, 0.5, 1.0, 0.5}"},
        {"%n = const int64[] {3} %y = HannWindow(%n) {periodic=0}", "float32[3] {0.0, 1.0, 0.0}"},
        {"%n = const int64[] {1} %y = HannWindow(%n) {periodic=0}", "float32[1] {0.0}"},
        {"%n = const int64[] {1} %y = HannWindow(%n) {output_datatype=8}", "!output_datatype is 8"},
        {"%x = const float32[4] {0, 255, 51, 102} %y = DynamicQuantizeLinear(%x)",
         "uint8[4] {0, 255, 51, 102}"},
        {"%x = const float32[2] {0, 0} %y = DynamicQuantizeLinear(%x)", "uint8[2] {0, 0}"},
    };
    RULE_VALUES(values);
}

static void sequence_model_random(void)
{
    static const rule table[] = {
        {"", "%y = RandomNormal() {shape=[2,3]}", "float32[2,3]"},
        {"", "%y = RandomUniform() {shape=[2,3], dtype=11}", "float64[2,3]"},
        {"", "%y = RandomUniform() {shape=[2,-3]}", "!shape[1] is -3"},
        {"", "%y = RandomUniform() {shape=[2], dtype=7}", "!dtype is 7"},
        {"", "%y = RandomUniform()", "!shape has 0 numbers"},
        {"%x: float16[n,3]", "%y = RandomNormalLike(%x)", "float16[n,3]"},
        {"%x: int32[n,3]", "%y = RandomUniformLike(%x)", "!dtype is 6"},
        {"%x: float32[n,3]", "%y = Bernoulli(%x) {dtype=9}", "bool[n,3]"},
        {"%x: float32[n,3]", "%y = Multinomial(%x) {sample_size=7, dtype=7}", "int64[n,7]"},
        {"%x: float32[n,3]", "%y = Multinomial(%x) {sample_size=-1}", "!sample_size is -1"},
        {"%x: float32[n,3]", "%y = Multinomial(%x) {dtype=1}", "!dtype is 1"},
    };
    RULES(table);
}

const hg_test_case hg_tests_op_sequence_model[] = {
    {"recurrent", sequence_model_recurrent},
    {"attention", sequence_model_attention},
    {"transforms", sequence_model_transforms},
    {"random", sequence_model_random},
    {0},
};
