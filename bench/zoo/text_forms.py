"""text_forms.py - attention of other forms: decay instead of softmax, slopes, shifted distances, blocks, few latents,
low rank; and what stands around a model of text: search, tags, scores of pairs."""
import numpy
from onnx import TensorProto, helper

from graph import model, variants
from recurrent import body, joined, recurrent
from text import LOW, VOCABULARY, attend, fast_gelu, heads, merged, post_norm_layer, rmsnorm, token_inputs, torch_mask
from text_causal import causal, gated, mamba_inputs, rotary


def fixed_angles(g, length, width, kind="float32"):
    """sin and cos of all positions, as constants."""
    place = numpy.arange(length)[:, None] / 10000 ** (numpy.arange(0, width, 2) / width)
    return [g.const(f(numpy.concatenate([place, place], 1))[None, None], kind) for f in (numpy.sin, numpy.cos)]


@model
def retention_64(g):
    """Products of queries and keys are weighed by a power of the distance; a norm for each head, a gate."""
    length, width, count, size = 64, 256, 4, 64
    x = g.embedding(g.input("ids", [1, length], "int64", "int=%d" % VOCABULARY), VOCABULARY, width)
    gap = numpy.arange(length)[:, None] - numpy.arange(length)[None]
    rates = 1 - 2.0 ** (-5 - numpy.arange(count))
    decay = numpy.where(gap >= 0, rates[:, None, None] ** numpy.abs(gap), 0.0)
    decay = g.const(decay / numpy.sqrt(decay.sum(-1, keepdims=True)))
    turn = fixed_angles(g, length, size)
    for _ in range(3):
        h = g.layernorm(x, width)
        q, k, v = (heads(g, g.linear(h, width, width, False), count, size, length) for _ in range(3))
        q, k = rotary(g, q, turn, size, size), g.mul(rotary(g, k, turn, size, size), g.const(size ** -0.5))
        scores = g.mul(g.op("MatMul", q, g.transpose(k, 0, 1, 3, 2)), decay)
        sums = g.op("ReduceSum", g.op("Abs", scores), g.ints(-1), keepdims=1)
        scores = g.op("Div", scores, g.op("Clip", sums, g.const(1.0)))
        own = g.transpose(g.op("MatMul", scores, v), 0, 2, 1, 3)
        mean = g.op("ReduceMean", g.op("Pow", own, g.const(2.0)), axes=[-1], keepdims=1)
        own = g.op("Div", own, g.op("Sqrt", g.add(mean, g.const(1e-6))))
        own = g.mul(g.silu(g.linear(h, width, width, False)), g.reshape(own, 1, length, width))
        x = g.add(x, g.linear(own, width, width, False))
        x = g.add(x, gated(g, g.layernorm(x, width), width, 2 * width))
    g.output(g.linear(g.layernorm(x, width), width, VOCABULARY, False))


@model
def slopes_48(g):
    """What is added to scores grows with the distance, counted from the mask; queries, keys and values of one head lie
    side by side; scores are a product with a sum."""
    width, count, size = 256, 8, 32
    ids, mask = token_inputs(g, 48)
    x = g.layernorm(g.embedding(ids, VOCABULARY, width), width)
    place = g.mul(g.op("Sub", g.op("CumSum", mask, g.const(1, "int64")), g.const(1, "int64")), mask)
    slopes = g.const(2.0 ** -numpy.arange(1, count + 1).reshape(count, 1))
    slopes = g.mul(slopes, g.op("Cast", g.unsqueeze(place, 1), to=1))
    slopes = g.shaped(slopes, -1, 1, g.size(ids, 1))
    ones = g.op("ConstantOfShape", g.concat(g.unsqueeze(g.size(ids, 1), 0), g.unsqueeze(g.size(ids, 1), 0), axis=0),
                value=helper.make_tensor("one", TensorProto.FLOAT, [1], [1.0]))
    later = g.unsqueeze(g.op("Cast", g.op("Trilu", ones, g.const(1, "int64"), upper=1), to=9), 0, 1)
    for _ in range(3):
        h = g.layernorm(x, width)
        both = g.linear(h, width, 3 * width)
        both = g.shaped(both, g.size(both, 0), g.size(both, 1), count, 3, size)
        q, k, v = (g.op("Gather", both, g.const(i, "int64"), axis=3) for i in range(3))
        flat = lambda y: g.shaped(g.transpose(y, 0, 2, 1, 3), -1, g.size(ids, 1), size)
        q, v = flat(q), flat(v)
        k = g.shaped(g.transpose(k, 0, 2, 3, 1), -1, size, g.size(ids, 1))
        scores = g.add(slopes, g.mul(g.op("MatMul", q, k), g.const(size ** -0.5)))
        scores = g.shaped(scores, g.size(ids, 0), count, g.size(ids, 1), g.size(ids, 1))
        odds = g.op("Softmax", g.op("Where", later, g.const(LOW), scores), axis=-1)
        own = g.op("MatMul", g.shaped(odds, -1, g.size(ids, 1), g.size(ids, 1)), v)
        own = g.shaped(own, g.size(ids, 0), count, g.size(ids, 1), size)
        x = g.add(g.linear(merged(g, own, width), width, width), x)
        wide = g.linear(g.layernorm(x, width), width, 4 * width)
        inner = g.mul(g.mul(wide, g.const(0.79788456)),
                      g.add(g.mul(g.mul(wide, g.const(0.044715)), wide), g.const(1.0)))
        wide = g.mul(g.mul(wide, g.const(0.5)), g.add(g.op("Tanh", inner), g.const(1.0)))
        x = g.add(g.linear(wide, 4 * width, width), x)
    g.output(g.linear(g.layernorm(x, width), width, VOCABULARY, False))


@model
def shifted_32(g):
    """Scores by content and by distance; those by distance are shifted into place by a reshape."""
    length, width, count, size = 32, 256, 4, 64
    x = g.embedding(g.input("ids", [1, length], "int64", "int=%d" % VOCABULARY), VOCABULARY, width)
    far = numpy.arange(length, -length, -1.0)[:, None] / 10000 ** (numpy.arange(0, width, 2) / width)
    far = g.const(numpy.concatenate([numpy.sin(far), numpy.cos(far)], 1)[None])
    for _ in range(3):
        q, k, v = (g.reshape(g.linear(x, width, width, False), 1, length, count, size) for _ in range(3))
        r = g.reshape(g.linear(far, width, width, False), 1, 2 * length, count, size)
        content = g.op("Einsum", g.add(q, g.weight(count, size, fan=9)), k, equation="bind,bjnd->bnij")
        place = g.op("Einsum", g.add(q, g.weight(count, size, fan=9)), r, equation="bind,bjnd->bnij")
        place = g.slice(g.reshape(place, 1, count, 2 * length, length), 1, 2 ** 62, 2)
        place = g.reshape(place, 1, count, length, 2 * length - 1)
        place = g.op("Gather", place, g.ints(*range(length)), axis=3)
        odds = g.op("Softmax", g.mul(g.add(content, place), g.const(size ** -0.5)), axis=-1)
        own = g.op("Einsum", odds, v, equation="bnij,bjnd->bind")
        own = g.op("Einsum", own, g.weight(width, count, size, fan=width), equation="bind,hnd->bih")
        x = g.layernorm(g.add(own, x), width)
        x = g.layernorm(g.add(g.linear(g.gelu(g.linear(x, width, 4 * width)), 4 * width, width), x), width)
    g.output(x)


@model
def blocks_256(g):
    """Blocks of 32 queries look at their own and the two neighbouring blocks of keys, cut out of padded ones."""
    length, block, width, count, size = 256, 32, 192, 3, 64
    x = g.embedding(g.input("ids", [1, length], "int64", "int=%d" % VOCABULARY), VOCABULARY, width)
    blocks = length // block
    seen = numpy.arange(-block, 2 * block)[None] - numpy.arange(block)[:, None]
    near = numpy.tile(numpy.where(numpy.abs(seen) <= block, 0.0, LOW), (blocks, 1, 1))
    near[0, :, :block], near[-1, :, 2 * block:] = LOW, LOW
    near = g.const(near[None, None])
    for _ in range(3):
        h = g.layernorm(x, width)
        q, k, v = (heads(g, g.linear(h, width, width), count, size, length) for _ in range(3))
        q = g.reshape(q, 1, count, blocks, block, size)

        def around(y):
            y = g.op("Pad", y, g.ints(0, 0, block, 0, 0, 0, block, 0))
            y = g.reshape(y, 1, count, blocks + 2, block, size)
            return g.concat(*[g.slice(y, i, blocks + i, 2) for i in range(3)], axis=3)

        scores = g.op("MatMul", g.mul(q, g.const(0.125)), g.transpose(around(k), 0, 1, 2, 4, 3))
        own = g.op("MatMul", g.op("Softmax", g.add(scores, near), axis=-1), around(v))
        own = merged(g, g.reshape(own, 1, count, length, size), width, length)
        x = g.add(x, g.linear(own, width, width))
        x = g.add(x, g.linear(g.gelu(g.linear(g.layernorm(x, width), width, 4 * width)), 4 * width, width))
    g.output(g.layernorm(x, width))


@model
def kernel_attention_256(g):
    """No softmax: features of keys are summed with values first, then met by the queries."""
    length, width, count, size = 256, 192, 3, 64
    x = g.embedding(g.input("ids", [1, length], "int64", "int=%d" % VOCABULARY), VOCABULARY, width)
    for _ in range(3):
        h = g.layernorm(x, width)
        q, k, v = (heads(g, g.linear(h, width, width), count, size, length) for _ in range(3))
        q, k = (g.add(g.op("Elu", y), g.const(1.0)) for y in (q, k))
        met = g.op("Einsum", k, v, equation="nhsd,nhsm->nhmd")
        sums = g.op("ReduceSum", k, g.ints(2), keepdims=0)
        scale = g.op("Reciprocal", g.add(g.op("Einsum", q, sums, equation="nhld,nhd->nhl"), g.const(1e-6)))
        own = g.op("Einsum", q, met, equation="nhld,nhmd->nlhm")
        own = g.mul(own, g.unsqueeze(g.transpose(scale, 0, 2, 1), 3))
        x = g.add(x, g.linear(g.reshape(own, 1, length, width), width, width))
        x = g.add(x, g.linear(g.gelu(g.linear(g.layernorm(x, width), width, 4 * width)), 4 * width, width))
    g.output(x)


@model
def fourier_64(g):
    """The real part of a transform along both axes instead of attention."""
    length, width = 64, 256
    x = g.layernorm(g.embedding(g.input("ids", [1, length], "int64", "int=%d" % VOCABULARY), VOCABULARY, width), width)
    for _ in range(4):
        both = g.op("DFT", g.op("DFT", g.unsqueeze(x, 3), axis=2), axis=1)
        x = g.layernorm(g.add(x, g.op("Squeeze", g.slice(both, 0, 1, 3), g.ints(3))), width)
        x = g.layernorm(g.add(g.linear(fast_gelu(g, g.linear(x, width, 4 * width)), 4 * width, width), x), width)
    g.output(x)


def latent(g, length, past):
    """Keys and values of all heads come from one narrow vector, which alone is remembered; the turned part of the keys
    is shared."""
    width, count, size, turned, narrow = 384, 6, 64, 32, 128
    x = g.embedding(token_inputs(g, length, mask=False), VOCABULARY, width)
    sin_cos = fixed_angles(g, length, turned)
    for i in range(3):
        h = rmsnorm(g, x, width)
        q = g.linear(rmsnorm(g, g.linear(h, width, 192, False), 192), 192, count * (size + turned), False)
        q = g.transpose(g.shaped(q, 1, g.size(q, 1), count, size + turned), 0, 2, 1, 3)
        plain, turn = g.split(q, size, turned, axis=-1)
        kept, shared = g.split(g.linear(h, width, narrow + turned, False), narrow, turned, axis=-1)
        kept = rmsnorm(g, kept, narrow)
        shared = rotary(g, g.unsqueeze(shared, 1), sin_cos, turned, turned)
        q = g.concat(plain, rotary(g, turn, sin_cos, turned, turned), axis=-1)
        if past:
            kept = g.concat(g.input("kept.%d" % i, [1, ("past", past), narrow]), kept, axis=1)
            shared = g.concat(g.input("shared.%d" % i, [1, 1, ("past", past), turned]), shared, axis=2)
        g.output(kept), g.output(shared)
        both = g.linear(kept, narrow, count * 2 * size, False)
        both = g.transpose(g.shaped(both, 1, g.size(both, 1), count, 2 * size), 0, 2, 1, 3)
        k, v = g.split(both, size, size, axis=-1)
        wide = g.concat(g.ints(1, count), g.unsqueeze(g.size(shared, 2), 0), g.ints(turned), axis=0)
        k = g.concat(k, g.op("Expand", shared, wide), axis=-1)
        own = attend(g, q, k, v, size + turned, None if past else g.const(causal(length)))
        x = g.add(x, g.linear(merged(g, own, width), width, width, False))
        x = g.add(x, gated(g, rmsnorm(g, x, width), width, 2 * width))
    g.output(g.linear(rmsnorm(g, x, width), width, VOCABULARY, False))


variants(latent, latent_32=(32, 0), latent_step=(1, 50))


def head_norms(g, length, kind):
    """A norm for queries and keys of each head; in 16 bits each norm is widened to 32 and narrowed again. Opset 18."""
    g.opset, width, count, kept, size = 18, 512, 8, 2, 64
    to, number = 10 if kind == "float16" else 1, lambda v: g.const(v, kind)
    linear = lambda x, before, after: g.op("MatMul", x, g.weight(before, after, fan=before, kind=kind))

    def norm(x, width):
        x = g.op("Cast", x, to=1) if kind == "float16" else x
        mean = g.op("ReduceMean", g.op("Pow", x, g.const(2.0)), g.ints(-1), keepdims=1)
        x = g.mul(x, g.op("Reciprocal", g.op("Sqrt", g.add(mean, g.const(1e-6)))))
        x = g.op("Cast", x, to=10) if kind == "float16" else x
        return g.mul(number(1 + 0.1 * g.random.standard_normal(width)), x)

    x = g.op("Gather", g.weight(VOCABULARY, width, fan=width, kind=kind),
             g.input("ids", [1, length], "int64", "int=%d" % VOCABULARY))
    turn = fixed_angles(g, length, size, kind)
    low = -65504.0 if kind == "float16" else LOW
    bias = number(numpy.maximum(causal(length), low))
    for _ in range(2):
        h = norm(x, width)
        q, k = (g.transpose(norm(g.reshape(linear(h, width, n * size), 1, length, n, size), size), 0, 2, 1, 3)
                for n in (count, kept))
        v = heads(g, linear(h, width, kept * size), kept, size, length)
        q, k = (rotary(g, part, turn, size, size) for part in (q, k))
        k, v = (g.reshape(g.op("Expand", g.unsqueeze(part, 2), g.ints(1, kept, count // kept, length, size)),
                          1, count, length, size) for part in (k, v))
        scores = g.mul(g.op("MatMul", q, g.transpose(k, 0, 1, 3, 2)), number(size ** -0.5))
        odds = g.op("Softmax", g.add(scores, bias), axis=-1)
        x = g.add(x, linear(merged(g, g.op("MatMul", odds, v), width, length), width, width))
        h = norm(x, width)
        x = g.add(x, linear(g.mul(g.silu(linear(h, width, 1024)), linear(h, width, 1024)), 1024, width))
    g.output(linear(norm(x, width), width, VOCABULARY), kind)


variants(head_norms, head_norms_32=(32, "float32"), head_norms_half_32=(32, "float16"),
         head_norms_half_1=(1, "float16"))


@model
def stacked_cache_step(g):
    """Keys and values of the past are one tensor; the mask is cut out of a table; weights are those of Gemm."""
    width, count, size, past = 384, 6, 64, 50
    ids = g.input("ids", [1, ("sequence", 1)], "int64", "int=%d" % VOCABULARY)
    x = g.unsqueeze(g.op("Squeeze", g.embedding(ids, VOCABULARY, width), g.ints(0)), 0)
    table = g.const(numpy.tril(numpy.ones((1, 1, 256, 256), bool)), "bool")

    def gemm(x, before, after):
        size = g.concat(g.unsqueeze(g.size(x, 0), 0), g.unsqueeze(g.size(x, 1), 0), g.ints(after), axis=0)
        x = g.op("Gemm", g.reshape(x, -1, before), g.weight(before, after, fan=before), g.weight(after, fan=9))
        return g.op("Reshape", x, size)

    for i in range(3):
        cache = g.input("past.%d" % i, [2, 1, count, ("past", past), size])
        q, k, v = (g.transpose(g.shaped(y, g.size(y, 0), g.size(y, 1), count, size), 0, 2, 1, 3) for y in
                   g.split(gemm(g.layernorm(x, width), width, 3 * width), width, width, width, axis=2))
        k, v = (g.concat(g.op("Gather", cache, g.const(j, "int64"), axis=0), y, axis=2) for j, y in enumerate((k, v)))
        g.output(g.concat(g.unsqueeze(k, 0), g.unsqueeze(v, 0), axis=0))
        scores = g.op("Div", g.op("MatMul", q, g.transpose(k, 0, 1, 3, 2)), g.const(8.0))
        total, own = g.size(scores, 3), g.size(scores, 2)
        cut = lambda y, begin, end, axis: g.op("Slice", y, g.unsqueeze(begin, 0), g.unsqueeze(end, 0), g.ints(axis),
                                               g.ints(1))
        seen = cut(cut(table, g.op("Sub", total, own), total, 2), g.const(0, "int64"), total, 3)
        odds = g.op("Softmax", g.op("Where", seen, scores, g.const(-1e4)), axis=-1)
        x = g.add(gemm(merged(g, g.op("MatMul", odds, v), width), width, width), x)
        wide = gemm(g.layernorm(x, width), width, 4 * width)
        x = g.add(gemm(fast_gelu(g, wide), 4 * width, width), x)
    g.output(g.linear(g.layernorm(x, width), width, VOCABULARY, False))


@model
def bottleneck_bert_32(g):
    """Wide between layers, narrow inside them; several narrow layers after each attention; scale and shift instead of
    norms."""
    length, wide, width, count = 32, 512, 128, 4
    ids, mask = token_inputs(g, length)
    bias = torch_mask(g, mask)
    plain = lambda x, n: g.add(g.mul(x, g.const(1 + 0.1 * g.random.standard_normal(n))), g.weight(n, fan=9))
    ends = g.embedding(ids, VOCABULARY, 128)
    before = g.op("Pad", g.slice(ends, 1, 2 ** 62, 1), g.ints(0, 0, 0, 0, 1, 0))
    after = g.op("Pad", g.slice(ends, 0, -1, 1), g.ints(0, 1, 0, 0, 0, 0))
    x = plain(g.linear(g.concat(before, ends, after, axis=2), 384, wide), wide)
    for _ in range(4):
        inner, shared = (plain(g.linear(x, wide, width), width) for _ in range(2))
        q, k = (heads(g, g.linear(shared, width, width), count, 32) for _ in range(2))
        v = heads(g, g.linear(x, wide, width), count, 32)
        own = g.linear(merged(g, attend(g, q, k, v, 32, bias), width), width, width)
        y = plain(g.add(own, inner), width)
        for _ in range(3):
            y = plain(g.add(g.linear(g.relu(g.linear(y, width, 4 * width)), 4 * width, width), y), width)
        y = plain(g.add(g.linear(g.relu(g.linear(y, width, 4 * width)), 4 * width, width), y), width)
        x = plain(g.add(g.linear(y, width, wide), x), wide)
    g.output(x)


@model
def grouped_bert_64(g):
    """All products are convolutions of width 1 in groups; channels come first, so norms stand between transposes."""
    length, width, count = 64, 256, 4
    ids, mask = token_inputs(g, length)
    bias = torch_mask(g, mask)
    x = g.transpose(g.layernorm(g.embedding(ids, VOCABULARY, width), width), 0, 2, 1)
    norm = lambda x: g.transpose(g.layernorm(g.transpose(x, 0, 2, 1), width), 0, 2, 1)
    split = lambda y: g.shaped(y, g.size(y, 0), count, 64, g.size(y, 2))
    for _ in range(4):
        q, k, v = (split(g.conv(x, width, width, [1], groups=4)) for _ in range(3))
        scores = g.op("Div", g.op("MatMul", g.transpose(q, 0, 1, 3, 2), k), g.const(8.0))
        odds = g.op("Softmax", g.add(scores, bias), axis=-1)
        own = g.transpose(g.op("MatMul", odds, g.transpose(v, 0, 1, 3, 2)), 0, 1, 3, 2)
        own = g.shaped(own, g.size(own, 0), width, g.size(own, 3))
        x = norm(g.add(g.conv(own, width, width, [1]), x))
        wide = g.gelu(g.conv(x, width, 4 * width, [1], groups=4))
        x = norm(g.add(g.conv(wide, 4 * width, width, [1], groups=4), x))
    g.output(g.transpose(x, 0, 2, 1))


@model
def pairs_32(g):
    """A table of pairs: products along triangles, attention along rows with a bias of the pairs and a gate."""
    n, width, count, size = 32, 64, 4, 16
    z = g.input("pairs", [n, n, width])
    sigmoid = lambda x: g.op("Sigmoid", x)
    for equation in ("ikc,jkc->ijc", "kic,kjc->ijc"):
        h = g.layernorm(z, width)
        a, b = (g.mul(sigmoid(g.linear(h, width, width)), g.linear(h, width, width)) for _ in range(2))
        made = g.linear(g.layernorm(g.op("Einsum", a, b, equation=equation), width), width, width)
        z = g.add(z, g.mul(sigmoid(g.linear(h, width, width)), made))
    for turned in (False, True):
        h = g.layernorm(g.transpose(z, 1, 0, 2) if turned else z, width)
        bias = g.unsqueeze(g.transpose(g.linear(h, width, count, False), 2, 0, 1), 0)
        q, k, v = (g.transpose(g.reshape(g.linear(h, width, width, False), n, n, count, size), 0, 2, 1, 3)
                   for _ in range(3))
        own = g.transpose(attend(g, g.mul(q, g.const(0.25)), k, v, size, bias, ""), 0, 2, 1, 3)
        own = g.mul(own, g.reshape(sigmoid(g.linear(h, width, width)), n, n, count, size))
        own = g.linear(g.reshape(own, n, n, width), width, width)
        z = g.add(z, g.transpose(own, 1, 0, 2) if turned else own)
    z = g.add(z, g.linear(g.relu(g.linear(g.layernorm(z, width), width, 4 * width)), 4 * width, width))
    g.output(z)


@model
def perceiver(g):
    """48 latents look at 784 inputs, then at each other."""
    width, latents, inputs = 256, 48, 784
    x = g.input("x", [1, inputs, 67])
    z = g.op("Expand", g.weight(latents, width, fan=9), g.ints(1, latents, width))
    for _ in range(2):
        seen = g.layernorm(x, 67)
        q = heads(g, g.linear(g.layernorm(z, width), width, 64, False), 1, 64, latents)
        k, v = (heads(g, y, 1, 64, inputs) for y in g.split(g.linear(seen, 67, 128, False), 64, 64, axis=-1))
        z = g.add(z, g.linear(merged(g, attend(g, q, k, v, 64), 64, latents), 64, width))
        for _ in range(2):
            h = g.layernorm(z, width)
            q, k, v = (heads(g, y, 4, 64, latents) for y in
                       (g.linear(h, width, width, False), *g.split(g.linear(h, width, 2 * width, False), width, width,
                                                                   axis=-1)))
            z = g.add(z, g.linear(merged(g, attend(g, q, k, v, 64), width, latents), width, width))
            wide, gate = g.split(g.linear(g.layernorm(z, width), width, 4 * width), 2 * width, 2 * width, axis=-1)
            z = g.add(z, g.linear(g.mul(wide, g.gelu(gate)), 2 * width, width))
    g.output(g.linear(g.layernorm(g.op("ReduceMean", z, axes=[1], keepdims=0), width), width, 100))


@model
def beam_search(g):
    """Four beams, 12 words: a GRU cell and a score for each word in a Loop, the best four of all, states that follow
    them."""
    beams, width, words = 4, 128, 1000
    f, i64, node = TensorProto.FLOAT, TensorProto.INT64, helper.make_node
    table, w, r = g.weight(words, width, fan=9), g.weight(width, 3 * width, fan=width), g.weight(width, 3 * width,
                                                                                                 fan=width)
    out, cuts, one = g.weight(width, words, fan=width), g.ints(width, width, width), g.const([1.0])
    flat, four, count, column = g.ints(-1), g.ints(beams), g.const(words, "int64"), g.ints(beams, 1)
    step = body("step", [
        node("Gather", [table, "word"], ["x"]), node("MatMul", ["x", w], ["a"]), node("MatMul", ["h", r], ["b"]),
        node("Split", ["a", cuts], ["a0", "a1", "a2"], axis=1), node("Split", ["b", cuts], ["b0", "b1", "b2"], axis=1),
        node("Add", ["a0", "b0"], ["s0"]), node("Sigmoid", ["s0"], ["z"]), node("Add", ["a1", "b1"], ["s1"]),
        node("Sigmoid", ["s1"], ["q"]), node("Mul", ["q", "b2"], ["m"]), node("Add", ["a2", "m"], ["s2"]),
        node("Tanh", ["s2"], ["n"]), node("Sub", [one, "z"], ["k"]), node("Mul", ["k", "n"], ["p1"]),
        node("Mul", ["z", "h"], ["p2"]), node("Add", ["p1", "p2"], ["made"]), node("MatMul", ["made", out], ["scores"]),
        node("LogSoftmax", ["scores"], ["odds"], axis=-1), node("Reshape", ["sum", column], ["tall"]),
        node("Add", ["odds", "tall"], ["sums"]), node("Reshape", ["sums", flat], ["all"]),
        node("TopK", ["all", four], ["best", "at"], axis=0), node("Div", ["at", count], ["beam"]),
        node("Mod", ["at", count], ["next"]), node("Gather", ["made", "beam"], ["state"]),
        node("Gather", ["said", "beam"], ["kept"]), node("Reshape", ["next", column], ["new"]),
        node("Concat", ["kept", "new"], ["longer"], axis=1), node("Identity", ["go"], ["on"])],
        [("i", i64, []), ("go", TensorProto.BOOL, []), ("word", i64, [beams]), ("h", f, [beams, width]),
         ("sum", f, [beams]), ("said", i64, [beams, None])],
        [("on", TensorProto.BOOL, []), ("next", i64, [beams]), ("state", f, [beams, width]), ("best", f, [beams]),
         ("longer", i64, [beams, None])])
    first = g.const([0.0, -1e9, -1e9, -1e9])
    state = g.op("Expand", g.input("first", [1, width]), g.ints(beams, width))
    said = g.op("Reshape", g.ints(*[1] * beams), g.ints(beams, 1))
    _, _, best, said = g.op("Loop", g.const(12, "int64"), g.const(True, "bool"), g.ints(*[1] * beams), state, first,
                            said, outs=4, body=step)
    g.output(best), g.output(said, "int64")


@model
def tags_of_chain(g):
    """An LSTM in both directions, then the best chain of 20 tags: forward as Scan, and the way back."""
    length, tags = 40, 20
    x = g.embedding(g.input("ids", [length, 1], "int64", "int=2000"), 2000, 100)
    y, _ = recurrent(g, "LSTM", x, 100, 100, 1, True)
    scores = g.reshape(g.linear(joined(g, y, length, 1, 100, True), 200, tags), length, 1, tags)
    f, i64, node = TensorProto.FLOAT, TensorProto.INT64, helper.make_node
    moves, tall, one = g.const(g.random.standard_normal((tags, tags))), g.ints(tags, 1), g.ints(1)
    step = body("best", [
        node("Reshape", ["old", tall], ["column"]), node("Add", ["column", moves], ["sums"]),
        node("ReduceMax", ["sums"], ["top"], axes=[0], keepdims=1), node("Add", ["top", "score"], ["new"]),
        node("ArgMax", ["sums"], ["from"], axis=0, keepdims=0)],
        [("old", f, [1, tags]), ("score", f, [1, tags])], [("new", f, [1, tags]), ("from", i64, [tags])])
    last, came = g.op("Scan", g.const(numpy.zeros((1, tags))), scores, outs=2, body=step, num_scan_inputs=1)
    end = g.op("ArgMax", last, axis=1, keepdims=0)
    back = body("back", [node("Gather", ["row", "tag"], ["before"]), node("Identity", ["tag"], ["seen"])],
                [("tag", i64, [1]), ("row", i64, [tags])], [("before", i64, [1]), ("seen", i64, [1])])
    _, path = g.op("Scan", end, came, outs=2, body=back, num_scan_inputs=1, scan_input_directions=[1],
                   scan_output_directions=[1])
    g.output(path, "int64"), g.output(last)


@model
def late_scores(g):
    """Tokens of a question against those of eight passages: each takes its best, and the best are added up."""
    width, count = 256, 4
    ids, mask = token_inputs(g, 16)
    x = g.layernorm(g.embedding(ids, VOCABULARY, width), width)
    for _ in range(2):
        x = post_norm_layer(g, x, width, count, torch_mask(g, mask))
    x = g.linear(x, width, 128, False)
    x = g.op("LpNormalization", x, axis=2, p=2)
    x = g.mul(x, g.op("Cast", g.unsqueeze(mask, 2), to=1))
    passages = g.input("passages", [8, 120, 128])
    scores = g.op("Einsum", x, passages, equation="bqd,nkd->bnqk")
    g.output(g.op("ReduceSum", g.op("ReduceMax", scores, axes=[3], keepdims=0), g.ints(2), keepdims=0))


def mamba_scan(g, length):
    """The recurrence as Scan, over as many tokens as come."""
    width, states = 128, 16
    x = g.input("x", [1, length, width])
    f, node = TensorProto.FLOAT, helper.make_node
    last = g.ints(2)
    for i in range(2):
        main, gate, decay, grown, c = mamba_inputs(g, x, length, width, states)
        decay, grown = (g.transpose(y, 2, 0, 1, 3) for y in (decay, grown))
        c = g.transpose(c, 1, 0, 2)
        step = body("step%d" % i, [
            node("Mul", ["d", "s"], ["old"]), node("Add", ["old", "u"], ["new"]),
            node("Unsqueeze", ["ct", last], ["column"]), node("MatMul", ["new", "column"], ["tall"]),
            node("Squeeze", ["tall", last], ["seen"])],
            [("s", f, [1, 2 * width, states]), ("d", f, [1, 2 * width, states]), ("u", f, [1, 2 * width, states]),
             ("ct", f, [1, states])], [("new", f, [1, 2 * width, states]), ("seen", f, [1, 2 * width])])
        _, y = g.op("Scan", g.const(numpy.zeros((1, 2 * width, states))), decay, grown, c, outs=2, body=step,
                    num_scan_inputs=3)
        y = g.add(g.transpose(y, 1, 2, 0), g.mul(main, g.weight(2 * width, 1, fan=9)))
        y = g.mul(g.transpose(y, 0, 2, 1), g.silu(gate))
        x = g.add(x, g.linear(y, 2 * width, width, False))
    g.output(x)


variants(mamba_scan, mamba_scan_64=(64,))


@model
def long_filter_256(g):
    """Filters as long as the text, by a transform of twice the length, between two gates."""
    length, width = 256, 128
    x = g.input("x", [1, length, width])
    for _ in range(2):
        both = g.transpose(g.linear(g.layernorm(x, width), width, 3 * width), 0, 2, 1)
        both = g.slice(g.conv(both, 3 * width, 3 * width, [3], pad=2, groups=3 * width), 0, length, 2)
        a, b, v = g.split(both, width, width, width)
        v = g.mul(v, a)
        wide = g.op("DFT", g.unsqueeze(v, 3), g.const(2 * length, "int64"), axis=2, onesided=1)
        made = numpy.fft.rfft(g.random.standard_normal((width, length)) * numpy.exp(-numpy.arange(length) / 20) / 5,
                              2 * length)
        real, imaginary = (g.slice(wide, i, i + 1, 3) for i in range(2))
        kr, ki = (g.const(y[None, :, :, None]) for y in (made.real, made.imag))
        real, imaginary = (g.op("Sub", g.mul(real, kr), g.mul(imaginary, ki)),
                           g.add(g.mul(real, ki), g.mul(imaginary, kr)))
        wide = g.concat(real, imaginary, axis=3)
        rest = g.op("Slice", wide, g.ints(length - 1), g.ints(0), g.ints(2), g.ints(-1))
        rest = g.mul(rest, g.const([1.0, -1.0]))
        y = g.op("DFT", g.concat(wide, rest, axis=2), axis=2, inverse=1)
        y = g.op("Squeeze", g.slice(g.slice(y, 0, length, 2), 0, 1, 3), g.ints(3))
        y = g.mul(g.add(y, g.mul(v, g.weight(width, 1, fan=9))), b)
        x = g.add(x, g.linear(g.transpose(y, 0, 2, 1), width, width))
    g.output(x)


@model
def running_sums_32(g):
    """A recurrence without products of the state, as running sums of logarithms."""
    length, width = 32, 384
    x = g.input("x", [1, length, width])
    for _ in range(2):
        h = rmsnorm(g, x, width)
        hidden, gate = g.split(g.linear(h, width, 2 * width), width, width, axis=-1)
        keep = g.op("Neg", g.op("Softplus", gate))
        take = g.op("Neg", g.op("Softplus", g.op("Neg", gate)))
        positive = g.op("Log", g.add(g.relu(hidden), g.const(0.5)))
        value = g.add(take, g.op("Where", g.op("GreaterOrEqual", hidden, g.const(0.0)), positive,
                                 g.op("Neg", g.op("Softplus", g.op("Neg", hidden)))))
        sums = g.op("CumSum", keep, g.const(1, "int64"))
        inner = g.op("Sub", value, sums)
        top = g.op("ReduceMax", inner, axes=[1], keepdims=1)
        total = g.add(g.op("Log", g.op("CumSum", g.op("Exp", g.op("Sub", inner, top)), g.const(1, "int64"))), top)
        x = g.add(x, g.linear(g.op("Exp", g.add(sums, total)), width, width, False))
        x = g.add(x, g.linear(g.gelu(g.linear(rmsnorm(g, x, width), width, 4 * width)), 4 * width, width))
    g.output(x)
