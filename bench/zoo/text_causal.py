"""text_causal.py - transformers that write text: prompts and single steps with a cache, mixtures of experts, running
states."""
import numpy

from graph import model, variants
from text import (LOW, VOCABULARY, attend, cached_attention, fast_gelu, heads, merged, rmsnorm, self_attention,
                  token_inputs)


def causal(length, window=None):
    """What is added to the scores: nothing for the tokens before, and of these only for the nearest."""
    steps = numpy.arange(length)
    seen = steps[None, :] <= steps[:, None]
    if window:
        seen &= steps[None, :] > steps[:, None] - window
    return numpy.where(seen, 0.0, LOW)[None, None]


def pre_norm(g, x, width, attention, ratio=4, active=None):
    x = g.add(x, attention(g.layernorm(x, width)))
    wide = g.linear(g.layernorm(x, width), width, ratio * width)
    return g.add(x, g.linear(active(g, wide) if active else g.relu(wide), ratio * width, width))


@model
def gpt_neo_64(g):
    """Scores are not scaled; every other layer sees only the last 16 tokens."""
    x = g.add(g.embedding(token_inputs(g, 64, mask=False), VOCABULARY, 256), g.weight(64, 256, fan=256))
    for i in range(4):
        bias = g.const(causal(64, 16 if i % 2 else None))
        x = pre_norm(g, x, 256, lambda n: self_attention(g, n, 256, 4, bias, scale=""), active=fast_gelu)
    g.output(g.linear(g.layernorm(x, 256), 256, VOCABULARY, False))


def opt(g, length, past):
    """Positions begin at 2."""
    x = g.embedding(token_inputs(g, length, mask=False), VOCABULARY, 256)
    x = g.add(x, g.weight(1, length, 256, fan=256))
    for i in range(3):
        if past:
            attention = lambda n: cached_attention(g, n, 256, 8, past, "past.%d" % i, scale="both")
        else:
            attention = lambda n: self_attention(g, n, 256, 8, g.const(causal(length)), scale="both")
        x = pre_norm(g, x, 256, attention)
    g.output(g.linear(g.layernorm(x, 256), 256, VOCABULARY, False))


variants(opt, opt_16=(16, 0), opt_step=(1, 40))


def half_turn(g, x, width):
    """Rotary embedding of models written in PyTorch: (-second half, first half)."""
    return g.concat(g.op("Neg", g.slice(x, width // 2, 2 ** 62)), g.slice(x, 0, width // 2), axis=-1)


def rotary(g, x, sin_cos, width, turned):
    """Turns the first of the numbers of each head."""
    kept = None
    if turned < width:
        x, kept = g.slice(x, 0, turned), g.slice(x, turned, 2 ** 62)
    x = g.add(g.mul(x, sin_cos[1]), g.mul(half_turn(g, x, turned), sin_cos[0]))
    return g.concat(x, kept, axis=-1) if kept else x


def angles(g, place, width):
    """sin and cos of position times frequency, computed from the positions that are an input."""
    frequency = 1.0 / 10000 ** (numpy.arange(0, width, 2) / width)
    columns = g.op("Cast", g.unsqueeze(place, 1), to=1)
    turn = g.transpose(g.op("MatMul", g.const(frequency.reshape(1, -1, 1)), columns), 0, 2, 1)
    turn = g.concat(turn, turn, axis=-1)
    return [g.unsqueeze(g.op(name, turn), 1) for name in ("Sin", "Cos")]


def pythia(g, length, past):
    """Attention and the wide layer read the same input; a quarter of each head is turned; queries, keys, values are
    one."""
    width, count, size = 256, 4, 64
    x = g.embedding(token_inputs(g, length, mask=False), VOCABULARY, width)
    turn = angles(g, g.input("position_ids", [1, ("sequence", length)], "int64", "int=64"), size // 4)
    for i in range(3):
        both = g.linear(g.layernorm(x, width), width, 3 * width)
        both = g.transpose(g.shaped(both, g.size(both, 0), g.size(both, 1), count, 3 * size), 0, 2, 1, 3)
        q, k, v = (g.slice(both, size * j, size * (j + 1)) for j in range(3))
        q, k = (rotary(g, part, turn, size, size // 4) for part in (q, k))
        if past:
            k, v = (g.concat(g.input("past.%d.%s" % (i, part), [1, count, ("past", past), size]), new, axis=2)
                    for part, new in zip("kv", (k, v)))
        g.output(k), g.output(v)
        bias = None if past else g.const(causal(length))
        own = g.linear(merged(g, attend(g, q, k, v, size, bias), width), width, width)
        wide = g.linear(g.gelu(g.linear(g.layernorm(x, width), width, 4 * width)), 4 * width, width)
        x = g.add(g.add(wide, own), x)
    g.output(g.linear(g.layernorm(x, width), width, VOCABULARY, False))


variants(pythia, pythia_128=(128, 0), pythia_step=(1, 60))


def repeated(g, x, kept, times, size):
    """Keys of few heads for many, as exporters write it: an axis, Expand, Reshape."""
    length = g.size(x, 2)
    ones = g.concat(g.ints(1), g.ints(kept), g.ints(times), g.unsqueeze(length, 0), g.ints(size), axis=0)
    return g.shaped(g.op("Expand", g.unsqueeze(x, 2), ones), 1, kept * times, length, size)


def grouped(g, x, width, count, kept, past, turn, bias, name, cap=None, linear_bias=False, partial=1):
    """Attention with fewer heads of keys than of queries; returns its result before the last product."""
    size = width // count
    q = heads(g, g.linear(x, width, width, linear_bias), count, size)
    k, v = (heads(g, g.linear(x, width, kept * size, linear_bias), kept, size) for _ in range(2))
    q, k = (rotary(g, part, turn, size, size // partial) for part in (q, k))
    if past:
        k, v = (g.concat(g.input("past.%s.%s" % (name, part), [1, kept, ("past", past), size]), new, axis=2)
                for part, new in zip("kv", (k, v)))
    g.output(k), g.output(v)
    k, v = (repeated(g, part, kept, count // kept, size) for part in (k, v))
    if cap:
        scores = g.op("Div", g.op("MatMul", q, g.transpose(k, 0, 1, 3, 2)), g.const(size ** 0.5))
        scores = g.mul(g.op("Tanh", g.op("Div", scores, g.const(cap))), g.const(cap))
        scores = g.add(scores, bias) if bias else scores
        x = g.op("MatMul", g.op("Softmax", scores, axis=-1), v)
    else:
        x = attend(g, q, k, v, size, bias)
    return merged(g, x, width)


def gated(g, x, width, inner, active=None):
    up = g.linear(x, width, inner, False)
    gate = g.linear(x, width, inner, False)
    return g.linear(g.mul(active(g, gate) if active else g.silu(gate), up), inner, width, False)


def llama(g, kind, length, past, width=320, layers=3):
    ids = token_inputs(g, length, mask=False)
    x = g.embedding(ids, VOCABULARY, width)
    count, kept, partial = width // 64, 1, 2 if kind == "phi" else 1
    turn = angles(g, g.input("position_ids", [1, ("sequence", length)], "int64", "int=64"), 64 // partial)
    bias = None if past else g.const(causal(length, 64 if kind == "mistral" else None))
    if kind == "gemma":
        x = g.mul(x, g.const(width ** 0.5))
    for i in range(layers):
        norm = rmsnorm(g, x, width, kind == "gemma")
        own = grouped(g, norm, width, count, kept, past, turn, bias, str(i), 30.0 if kind == "gemma" else None,
                      kind == "qwen", partial)
        own = g.linear(own, width, width, False)
        if kind == "phi":
            x = g.add(g.add(own, gated(g, norm, width, 2 * width)), x)
            continue
        x = g.add(x, own)
        wide = rmsnorm(g, x, width, kind == "gemma")
        x = g.add(x, gated(g, wide, width, 3 * width, fast_gelu if kind == "gemma" else None))
    g.output(g.linear(rmsnorm(g, x, width), width, VOCABULARY, False))


variants(llama, llama_step=("llama", 1, 100), llama_256=("llama", 256, 0), qwen_7=("qwen", 7, 0),
         qwen_step=("qwen", 1, 16), gemma_step=("gemma", 1, 40), gemma_64=("gemma", 64, 0), phi_16=("phi", 16, 0),
         mistral_128=("mistral", 128, 0))


def dynamo(g, length):
    """Opset 18, sizes known, the scale shared by both factors, keys repeated by Expand, norms with Reciprocal."""
    g.opset, width, count, kept, size = 18, 512, 8, 2, 64
    x = g.embedding(g.input("ids", [1, length], "int64", "int=%d" % VOCABULARY), VOCABULARY, width)
    place = numpy.arange(length)[:, None] / 10000 ** (numpy.arange(32) / 32)
    turn = [g.const(f(numpy.concatenate([place, place], 1))[None, None]) for f in (numpy.sin, numpy.cos)]

    def norm(x):
        mean = g.op("ReduceMean", g.op("Pow", x, g.const(2.0)), g.ints(-1), keepdims=1)
        scale = g.op("Reciprocal", g.op("Sqrt", g.add(mean, g.const(1e-5))))
        return g.mul(g.mul(x, scale), g.const(1 + 0.1 * g.random.standard_normal(width)))

    for _ in range(2):
        h = norm(x)
        q = heads(g, g.linear(h, width, width, False), count, size, length)
        k, v = (heads(g, g.linear(h, width, kept * size, False), kept, size, length) for _ in range(2))
        q, k = (rotary(g, part, turn, size, size) for part in (q, k))
        k, v = (g.reshape(g.op("Expand", g.unsqueeze(part, 2), g.ints(1, kept, count // kept, length, size)),
                          1, count, length, size) for part in (k, v))
        out = attend(g, q, k, v, size, g.const(causal(length)), "both")
        x = g.add(x, g.linear(merged(g, out, width, length), width, width, False))
        x = g.add(x, gated(g, norm(x), width, 1408))
    g.output(g.linear(norm(x), width, VOCABULARY, False))


variants(dynamo, llama_dynamo_1=(1,), llama_dynamo_16=(16,), llama_dynamo_128=(128,))


def experts(g, length, count=8, chosen=2, width=256, inner=512, layers=2):
    """As exported from a loop over experts: each takes its tokens out, and adds what it makes of them back."""
    x = g.reshape(g.input("x", [1, length, width]), length, width)
    for _ in range(layers):
        odds = g.op("Softmax", g.linear(x, width, count, False), axis=-1)
        weights, ids = g.op("TopK", odds, g.ints(chosen), outs=2, axis=-1)
        weights = g.op("Div", weights, g.op("ReduceSum", weights, g.ints(-1), keepdims=1))
        total = g.op("ConstantOfShape", g.op("Shape", x))
        for e in range(count):
            where = g.op("NonZero", g.op("Equal", ids, g.const(e, "int64")))
            where = g.transpose(where, 1, 0)
            token = g.op("Squeeze", g.slice(where, 0, 1, 1), g.ints(1))
            made = gated(g, g.op("Gather", x, token), width, inner)
            made = g.mul(made, g.unsqueeze(g.op("GatherND", weights, where), 1))
            total = g.op("ScatterND", total, g.unsqueeze(token, 1), made, reduction="add")
        x = g.add(x, total)
    g.output(x)


variants(experts, experts_1=(1,), experts_32=(32,))


@model
def experts_dense(g):
    """All experts for all tokens as products of three axes, weighted by the gate."""
    x = g.input("x", [16, 256])
    odds = g.op("Softmax", g.linear(x, 256, 8, False), axis=-1)
    wide = g.op("MatMul", g.unsqueeze(x, 0), g.weight(8, 256, 512, fan=256))
    made = g.op("MatMul", g.silu(wide), g.weight(8, 512, 256, fan=512))
    made = g.mul(made, g.unsqueeze(g.transpose(odds, 1, 0), 2))
    g.output(g.op("ReduceSum", made, g.ints(0), keepdims=0))


def mamba_inputs(g, x, length, width, states):
    both = g.linear(x, width, 4 * width, False)
    main, gate = g.split(both, 2 * width, 2 * width, axis=-1)
    main = g.transpose(main, 0, 2, 1)
    main = g.conv(main, 2 * width, 2 * width, [4], pad=3, groups=2 * width)
    main = g.silu(g.slice(main, 0, length, 2))
    dt, b, c = g.split(g.linear(g.transpose(main, 0, 2, 1), 2 * width, 16 + 2 * states, False), 16, states, states,
                       axis=-1)
    dt = g.transpose(g.op("Softplus", g.linear(dt, 16, 2 * width)), 0, 2, 1)
    decay = g.op("Exp", g.mul(g.const(-numpy.tile(numpy.arange(1.0, states + 1), (1, 2 * width, 1, 1)).reshape(
        1, 2 * width, 1, states)), g.unsqueeze(dt, 3)))
    grown = g.mul(g.mul(g.unsqueeze(dt, 3), g.unsqueeze(b, 1)), g.unsqueeze(main, 3))
    return main, gate, decay, grown, c


@model
def mamba_16(g):
    """The recurrence written out, one set of nodes for each token."""
    length, width, states = 16, 128, 16
    x = g.input("x", [1, length, width])
    for _ in range(2):
        main, gate, decay, grown, c = mamba_inputs(g, x, length, width, states)
        state, results = g.const(numpy.zeros((1, 2 * width, states))), []
        for t in range(length):
            at = g.const(t, "int64")
            state = g.add(g.mul(g.op("Gather", decay, at, axis=2), state), g.op("Gather", grown, at, axis=2))
            seen = g.op("MatMul", state, g.unsqueeze(g.op("Gather", c, at, axis=1), 2))
            results.append(g.op("Squeeze", seen, g.ints(2)))
        y = g.op("Concat", *[g.unsqueeze(r, 2) for r in results], axis=2)
        y = g.add(y, g.mul(main, g.weight(2 * width, 1, fan=9)))
        y = g.mul(g.transpose(y, 0, 2, 1), g.silu(gate))
        x = g.add(x, g.linear(y, 2 * width, width, False))
    g.output(x)


@model
def rwkv_step(g):
    """One token; what is remembered goes in and comes out."""
    width = 256
    x = g.layernorm(g.embedding(g.input("token", [1], "int64", "int=%d" % VOCABULARY), VOCABULARY, width), width)
    near = lambda: g.const(g.random.random(width))

    def mixed(x, old):
        part = near()
        return g.add(g.mul(x, part), g.mul(old, g.op("Sub", g.const(1.0), part)))

    for i in range(4):
        old, a, b, p = (g.input("%s.%d" % (name, i), [1, width], fill="rand01") for name in ("x", "a", "b", "p"))
        h = g.layernorm(x, width)
        r, k, v = (g.linear(mixed(h, old), width, width, False) for _ in range(3))
        first, decay = near(), g.const(-g.random.random(width))
        top = g.op("Max", p, g.add(first, k))
        e1, e2 = g.op("Exp", g.op("Sub", p, top)), g.op("Exp", g.op("Sub", g.add(first, k), top))
        wkv = g.op("Div", g.add(g.mul(e1, a), g.mul(e2, v)), g.add(g.mul(e1, b), e2))
        x = g.add(x, g.linear(g.mul(g.op("Sigmoid", r), wkv), width, width, False))
        top = g.op("Max", g.add(p, decay), k)
        e1, e2 = g.op("Exp", g.op("Sub", g.add(p, decay), top)), g.op("Exp", g.op("Sub", k, top))
        for state in (h, g.add(g.mul(e1, a), g.mul(e2, v)), g.add(g.mul(e1, b), e2), top):
            g.output(state)
        old = g.input("y.%d" % i, [1, width])
        h = g.layernorm(x, width)
        k = g.relu(g.linear(mixed(h, old), width, 4 * width, False))
        r = g.op("Sigmoid", g.linear(mixed(h, old), width, width, False))
        x = g.add(x, g.mul(r, g.linear(g.mul(k, k), 4 * width, width, False)))
        g.output(h)
    g.output(g.linear(g.layernorm(x, width), width, VOCABULARY, False))


def microsoft_bert(g, length, width=384, count=6):
    """The operators of com.microsoft that an optimiser leaves behind."""
    ms = lambda kind, *inputs, outs=1, **how: g.op(kind, *inputs, outs=outs, domain="com.microsoft", **how)
    ids = g.input("ids", [1, length], "int64", "int=%d" % VOCABULARY)
    x = g.layernorm(g.add(g.embedding(ids, VOCABULARY, width), g.weight(length, width, fan=width)), width)
    scale = lambda: (g.const(numpy.ones(width)), g.weight(width, fan=9))
    for _ in range(2):
        q, k, v = (g.linear(x, width, width, False) for _ in range(3))
        own = ms("MultiHeadAttention", q, k, v, g.weight(3 * width, fan=9), num_heads=count)
        own = g.linear(own, width, width, False)
        x = ms("SkipLayerNormalization", own, x, *scale(), g.weight(width, fan=9), epsilon=1e-5)
        wide = ms("BiasGelu", g.linear(x, width, 4 * width, False), g.weight(4 * width, fan=9))
        wide = g.linear(wide, 4 * width, width, False)
        x = ms("SkipLayerNormalization", wide, x, *scale(), g.weight(width, fan=9), epsilon=1e-5)
    g.output(g.linear(ms("Gelu", g.linear(x, width, width)), width, 32))


variants(microsoft_bert, microsoft_bert_1=(1,), microsoft_bert_32=(32,))


def half_bert(g, length, all_half, width=256):
    """Weights of 16 bits behind a Cast, or 16 bits from end to end."""
    kind = "float16" if all_half else "float32"
    wide = (lambda c: c) if all_half else (lambda c: g.op("Cast", c, to=1))
    weight = lambda *dims, fan=None: wide(g.weight(*dims, fan=fan, kind="float16"))
    number = lambda v: g.const(v, kind)
    linear = lambda x, before, after: g.add(g.op("MatMul", x, weight(before, after, fan=before)), weight(after, fan=9))
    norm = lambda x: g.op("LayerNormalization", x, number(numpy.ones(width)), weight(width, fan=9))
    x = norm(g.input("x", [1, length, width], kind))
    for _ in range(3):
        q, k, v = (heads(g, linear(x, width, width), 4, 64, length) for _ in range(3))
        scores = g.op("Div", g.op("MatMul", q, g.transpose(k, 0, 1, 3, 2)), number(8.0))
        own = merged(g, g.op("MatMul", g.op("Softmax", scores, axis=-1), v), width, length)
        x = norm(g.add(x, linear(own, width, width)))
        inner = linear(x, width, 4 * width)
        erf = g.add(g.op("Erf", g.op("Div", inner, number(1.4142135))), number(1.0))
        x = norm(g.add(x, linear(g.mul(g.mul(inner, number(0.5)), erf), 4 * width, width)))
    g.output(x, kind)


variants(half_bert, half_weights_16=(16, False), half_bert_16=(16, True), half_bert_1=(1, True))
