"""text_recent.py - transformers of text that are shipped today: windows of attention, buckets of distances, products
with weights of 4 bits."""
import numpy

from graph import model, variants
from text import LOW, VOCABULARY, attend, merged, positions, token_inputs, torch_mask
from text_causal import angles, rotary


def distances(g, ids):
    """i - j of all pairs of positions."""
    place = positions(g, ids)
    return g.op("Sub", g.unsqueeze(place, 2), g.unsqueeze(place, 1))


def bare_norm(g, x, width):
    return g.op("LayerNormalization", x, g.const(numpy.ones(width)), axis=-1)


def window_bert(g, length, width=384, count=6, window=32):
    """No bias anywhere; two of three layers see a window only; queries, keys and values are one product; the wide
    layer has a gate."""
    ids, mask = token_inputs(g, length)
    size = width // count
    x = bare_norm(g, g.embedding(ids, VOCABULARY, width), width)
    whole = torch_mask(g, mask)
    near = g.op("LessOrEqual", g.op("Abs", g.unsqueeze(distances(g, ids), 1)), g.const(window, "int64"))
    local = g.op("Where", near, whole, g.const(LOW))
    turns = [angles(g, positions(g, ids), size) for _ in range(2)]
    for i in range(3):
        h = bare_norm(g, x, width) if i else x
        qkv = g.shaped(g.linear(h, width, 3 * width, False), g.size(ids, 0), g.size(ids, 1), 3, count, size)
        q, k, v = (g.op("Squeeze", part, g.ints(0)) for part in g.split(g.transpose(qkv, 2, 0, 3, 1, 4), 1, 1, 1,
                                                                        axis=0))
        q, k = (rotary(g, part, turns[i % 2], size, size) for part in (q, k))
        own = merged(g, attend(g, q, k, v, size, local if i % 3 else whole), width)
        x = g.add(x, g.linear(own, width, width, False))
        wide, gate = g.split(g.linear(bare_norm(g, x, width), width, 4 * width, False), 2 * width, 2 * width, axis=-1)
        x = g.add(x, g.linear(g.mul(g.gelu(wide), gate), 2 * width, width, False))
    g.output(bare_norm(g, x, width))


variants(window_bert, window_bert_16=(16,), window_bert_128=(128,))


@model
def bucket_bert_32(g):
    """What is added to scores comes from a table of 32 distances, near ones each and far ones by their logarithm; a
    sentence is the mean of its tokens, of length 1."""
    width, count = 384, 12
    ids, mask = token_inputs(g, 32)
    x = g.layernorm(g.add(g.embedding(ids, VOCABULARY, width), g.embedding(positions(g, ids), 514, width)), width)
    gap = g.op("Neg", distances(g, ids))
    side = g.mul(g.op("Cast", g.op("Less", gap, g.const(0, "int64")), to=7), g.const(16, "int64"))
    gap = g.op("Abs", gap)
    far = g.op("Log", g.op("Div", g.op("Cast", gap, to=1), g.const(8.0)))
    far = g.op("Cast", g.mul(g.op("Div", far, g.const(2.7725887)), g.const(8.0)), to=7)
    far = g.op("Min", g.add(far, g.const(8, "int64")), g.const(15, "int64"))
    bucket = g.add(side, g.op("Where", g.op("Less", gap, g.const(8, "int64")), gap, far))
    bias = g.add(g.transpose(g.embedding(bucket, 32, count), 0, 3, 1, 2), torch_mask(g, mask))
    split = lambda y: g.transpose(g.shaped(y, g.size(ids, 0), g.size(ids, 1), count, width // count), 0, 2, 1, 3)
    for _ in range(3):
        q, k, v = (split(g.linear(x, width, width)) for _ in range(3))
        own = merged(g, attend(g, q, k, v, width // count, bias), width)
        x = g.layernorm(g.add(g.linear(own, width, width), x), width)
        x = g.layernorm(g.add(g.linear(g.gelu(g.linear(x, width, 4 * width)), 4 * width, width), x), width)
    counted = g.op("Cast", g.op("Expand", g.unsqueeze(mask, 2), g.op("Shape", x)), to=1)
    mean = g.op("Div", g.op("ReduceSum", g.mul(x, counted), g.ints(1), keepdims=0),
                g.op("Clip", g.op("ReduceSum", counted, g.ints(1), keepdims=0), g.const(1e-9)))
    size = g.op("Expand", g.op("Clip", g.op("ReduceL2", mean, axes=[1], keepdims=1), g.const(1e-12)),
                g.op("Shape", mean))
    g.output(g.op("Div", mean, size))


def four_bits(g, length, past, level=0, has_zeros=False, layers=3, width=512, count=8, shared=2,
              inner=1408):
    """A chat model as it is shipped for browsers: weights of 4 bits, keys and values shared by heads, sums and
    normalisation in one. Level 4 allows activations of 8 bits; blocks may have zero points."""
    ms = lambda kind, *inputs, outs=1, **how: g.op(kind, *inputs, outs=outs, domain="com.microsoft", **how)
    size, ones = width // count, lambda n: g.const(numpy.ones(n))

    def product(x, before, after):
        codes = g.const(g.random.integers(0, 256, (after, before // 32, 16)), "uint8")
        scales = g.const((1 + g.random.random(after * before // 32)) * 0.25 / before ** 0.5)
        rest = [g.const(g.random.integers(0, 256, after * before // 64), "uint8")] if has_zeros else []
        return ms("MatMulNBits", x, codes, scales, *rest, K=before, N=after, bits=4, block_size=32, accuracy_level=level)

    ids = g.input("input_ids", [1, ("sequence", length)], "int64", "int=%d" % VOCABULARY)
    known = g.input("attention_mask", [1, ("total", length + past)], "int64", "const=1")
    sums = g.op("ReduceSum", known, g.ints(1), keepdims=1)
    seen = g.op("Cast", g.op("Sub", sums, g.const(1, "int64")), to=6)
    total = g.op("Cast", g.size(known, 1), to=6)
    angle = numpy.outer(numpy.arange(512), 1.0 / 10000 ** (numpy.arange(0, size, 2) / size))
    cos, sin = g.const(numpy.cos(angle)), g.const(numpy.sin(angle))
    x = g.embedding(ids, VOCABULARY, width)
    norm = g.op("SimplifiedLayerNormalization", x, ones(width), axis=-1, epsilon=1e-6, stash_type=1)
    for i in range(layers):
        cache = [g.input("past_key_values.%d.%s" % (i, name), [1, shared, ("past", past), size])
                 for name in ("key", "value")]
        q = g.add(product(norm, width, width), g.weight(width, fan=9))
        k, v = (g.add(product(norm, width, shared * size), g.weight(shared * size, fan=9)) for _ in range(2))
        own, *now = ms("GroupQueryAttention", q, k, v, *cache, seen, total, cos, sin, outs=3, num_heads=count,
                       kv_num_heads=shared, do_rotary=1, scale=size ** -0.5)
        skip = lambda y, x: ms("SkipSimplifiedLayerNormalization", x, y, ones(width), outs=4, epsilon=1e-6)
        norm, _, _, x = skip(product(own, width, width), x)
        wide = g.mul(g.silu(product(norm, width, inner)), product(norm, width, inner))
        norm, _, _, x = skip(product(wide, inner, width), x)
        for state in now:
            g.output(state)
    g.output(product(norm, width, VOCABULARY))


variants(four_bits, four_bits_step=(1, 64), four_bits_16=(16, 0), four_bits_codes_step=(1, 64, 4),
         four_bits_codes_16=(16, 0, 4, False, 1), four_bits_zeros_step=(1, 64, 4, True),
         four_bits_zeros_16=(16, 0, 4, True, 1),
         four_bits_free_step=(1, 64, 0, True))
