"""text.py - transformers of text: encoders, decoders with and without a cache, as TorchScript and dynamo export
them."""
import numpy

from graph import model, variants

VOCABULARY, LOW = 4000, float(numpy.finfo("float32").min)


def heads(g, x, count, width, length=None):
    """[1, length, count * width] as [1, count, length, width]; without a length the sizes are asked for."""
    if length is None:
        x = g.shaped(x, g.size(x, 0), g.size(x, 1), count, width)
    else:
        x = g.reshape(x, 1, length, count, width)
    return g.transpose(x, 0, 2, 1, 3)


def merged(g, x, width, length=None):
    x = g.transpose(x, 0, 2, 1, 3)
    return g.reshape(x, 1, length, width) if length else g.shaped(x, g.size(x, 0), g.size(x, 1), width)


def attend(g, q, k, v, width, bias=None, scale="div"):
    """softmax(q k' / sqrt(width) + bias) v; the scale divides scores, or both factors are multiplied, or there is
    none."""
    if scale == "both":
        q, k = (g.mul(x, g.const(width ** -0.25)) for x in (q, k))
    scores = g.op("MatMul", q, g.transpose(k, 0, 1, 3, 2))
    if scale == "div":
        scores = g.op("Div", scores, g.const(width ** 0.5))
    if bias:
        scores = g.add(scores, bias)
    return g.op("MatMul", g.op("Softmax", scores, axis=-1), v)


def self_attention(g, x, width, count, bias=None, length=None, scale="div", linear_bias=True):
    q, k, v = (heads(g, g.linear(x, width, width, linear_bias), count, width // count, length) for _ in range(3))
    x = merged(g, attend(g, q, k, v, width // count, bias, scale), width, length)
    return g.linear(x, width, width, linear_bias)


def torch_mask(g, mask):
    """[1, length] of zeros and ones as what is added to scores."""
    wide = g.op("Cast", g.unsqueeze(g.unsqueeze(mask, 1), 2), to=1)
    return g.mul(g.op("Sub", g.const(1.0), wide), g.const(LOW))


def positions(g, x, offset=0):
    """0, 1 ... by a Range as long as axis 1."""
    return g.unsqueeze(g.op("Range", g.const(offset, "int64"), g.size(x, 1), g.const(1, "int64")), 0)


def token_inputs(g, length, mask=True):
    ids = g.input("input_ids", [("batch", 1), ("sequence", length)], "int64", "int=%d" % VOCABULARY)
    return (ids, g.input("attention_mask", [("batch", 1), ("sequence", length)], "int64", "const=1")) if mask else ids


def post_norm_layer(g, x, width, count, bias, length=None):
    x = g.layernorm(g.add(x, self_attention(g, x, width, count, bias, length)), width)
    wide = g.gelu(g.linear(x, width, 4 * width))
    return g.layernorm(g.add(g.linear(wide, 4 * width, width), x), width)


def distilbert(g, length, width, layers):
    """The mask is a Where over expanded zeros; scores of masked keys are set, not added to."""
    ids, mask = token_inputs(g, length)
    x = g.layernorm(g.add(g.embedding(ids, VOCABULARY, width), g.embedding(positions(g, ids), 512, width)), width)
    count, size = width // 64, 64
    for _ in range(layers):
        q, k, v = (heads(g, g.linear(x, width, width), count, size) for _ in range(3))
        q = g.op("Div", q, g.const(size ** 0.5))
        scores = g.op("MatMul", q, g.transpose(k, 0, 1, 3, 2))
        hidden = g.shaped(g.op("Equal", mask, g.const(0, "int64")), g.size(scores, 0), 1, 1, g.size(scores, 3))
        hidden = g.op("Cast", g.op("Expand", hidden, g.op("Shape", scores)), to=9)
        scores = g.op("Where", hidden, g.const(LOW), scores)
        out = merged(g, g.op("MatMul", g.op("Softmax", scores, axis=-1), v), width)
        x = g.layernorm(g.add(g.linear(out, width, width), x), width)
        x = g.layernorm(g.add(g.linear(g.gelu(g.linear(x, width, 4 * width)), 4 * width, width), x), width)
    g.output(x)


variants(distilbert, distilbert_7=(7, 768, 3), distilbert_128=(128, 768, 2))


@model
def roberta_16(g):
    """Positions count the tokens that are no padding."""
    ids = token_inputs(g, 16, mask=False)
    real = g.op("Not", g.op("Equal", ids, g.const(1, "int64")))
    mask = g.op("Cast", real, to=7)
    count = g.mul(g.op("CumSum", mask, g.const(1, "int64")), mask)
    x = g.add(g.embedding(ids, VOCABULARY, 256), g.embedding(g.add(count, g.const(1, "int64")), 514, 256))
    x = g.layernorm(g.add(x, g.embedding(g.op("Sub", ids, ids), 1, 256)), 256)
    bias = torch_mask(g, mask)
    for _ in range(4):
        x = post_norm_layer(g, x, 256, 4, bias)
    first = g.op("Gather", x, g.const(0, "int64"), axis=1)
    g.output(g.linear(g.op("Tanh", g.linear(first, 256, 256)), 256, 3))


@model
def albert_16(g):
    """Embeddings are narrow; all layers have the same weights."""
    ids, mask = token_inputs(g, 16)
    x = g.linear(g.layernorm(g.embedding(ids, VOCABULARY, 128), 128), 128, 512)
    bias = torch_mask(g, mask)
    made, kept = {}, g.weight
    for _ in range(4):
        calls = iter(range(1000))

        def again(*dims, **how):
            key = next(calls)
            if key not in made:
                made[key] = kept(*dims, **how)
            return made[key]

        g.weight = again
        x = post_norm_layer(g, x, 512, 8, bias)
    g.weight = kept
    g.output(x)


def pooled(g, x, mask):
    """Mean over the tokens of the mask, made one long."""
    wide = g.op("Cast", g.op("Expand", g.unsqueeze(mask, 2), g.op("Shape", x)), to=1)
    total = g.op("ReduceSum", g.mul(x, wide), g.ints(1), keepdims=0)
    mean = g.op("Div", total, g.op("Clip", g.op("ReduceSum", wide, g.ints(1), keepdims=0), g.const(1e-9)))
    norm = g.op("Clip", g.op("ReduceL2", mean, axes=[1], keepdims=1), g.const(1e-12))
    return g.op("Div", mean, g.op("Expand", norm, g.op("Shape", mean)))


def sentence(g, length, width, count, layers, pair):
    ids, mask = token_inputs(g, length)
    x = g.add(g.embedding(ids, VOCABULARY, width), g.embedding(positions(g, ids), 512, width))
    if pair:
        kinds = g.input("token_type_ids", [("batch", 1), ("sequence", length)], "int64", "int=2")
        x = g.add(x, g.embedding(kinds, 2, width))
    x = g.layernorm(x, width)
    for _ in range(layers):
        x = post_norm_layer(g, x, width, count, torch_mask(g, mask))
    if not pair:
        g.output(pooled(g, x, mask))
        return
    first = g.op("Gather", x, g.const(0, "int64"), axis=1)
    x = g.op("Gemm", g.op("Tanh", g.op("Gemm", first, g.weight(width, width), g.weight(width, fan=9), transB=1)),
             g.weight(1, width), g.weight(1, fan=9), transB=1)
    g.output(g.op("Sigmoid", x))


variants(sentence, sentence_1=(1, 384, 12, 4, False), sentence_32=(32, 384, 12, 4, False),
         tiny_bert_16=(16, 128, 2, 2, False), cross_encoder_256=(256, 384, 12, 2, True))


def rmsnorm(g, x, width, plus_one=False):
    """As exported: x * rsqrt(mean(x^2) + eps) * weight."""
    mean = g.op("ReduceMean", g.op("Pow", x, g.const(2.0)), axes=[-1], keepdims=1)
    scaled = g.mul(x, g.op("Div", g.const(1.0), g.op("Sqrt", g.add(mean, g.const(1e-6)))))
    weight = g.const(1 + 0.1 * g.random.standard_normal(width))
    return g.mul(scaled, g.add(weight, g.const(1.0))) if plus_one else g.mul(weight, scaled)


def relative_bias(g, queries, keys, count, both_ways):
    """T5: buckets of distances, exact when near and by their logarithm when far, choose one number for each head."""
    half = 16 if both_ways else 32
    distance = g.op("Sub", g.unsqueeze(keys, 0), g.unsqueeze(queries, 1))
    if both_ways:
        start = g.mul(g.op("Cast", g.op("Greater", distance, g.const(0, "int64")), to=7), g.const(16, "int64"))
        distance = g.op("Abs", distance)
    else:
        distance = g.op("Neg", g.op("Min", distance, g.const(0, "int64")))
    exact = half // 2
    ratio = g.op("Log", g.op("Div", g.op("Cast", distance, to=1), g.const(float(exact))))
    scaled = g.mul(g.op("Div", ratio, g.const(float(numpy.log(128 / exact)))), g.const(float(half - exact)))
    far = g.add(g.op("Cast", scaled, to=7), g.const(exact, "int64"))
    far = g.op("Min", far, g.op("Expand", g.const(half - 1, "int64"), g.op("Shape", far)))
    bucket = g.op("Where", g.op("Less", distance, g.const(exact, "int64")), distance, far)
    if both_ways:
        bucket = g.add(start, bucket)
    return g.unsqueeze(g.transpose(g.embedding(bucket, 32, count), 2, 0, 1), 0)


@model
def t5_encoder_64(g):
    ids, mask = token_inputs(g, 64)
    x = g.embedding(ids, VOCABULARY, 256)
    place = g.op("Range", g.const(0, "int64"), g.size(ids, 1), g.const(1, "int64"))
    bias = g.add(relative_bias(g, place, place, 4, True), torch_mask(g, mask))
    for _ in range(4):
        x = g.add(x, self_attention(g, rmsnorm(g, x, 256), 256, 4, bias, scale="", linear_bias=False))
        wide = rmsnorm(g, x, 256)
        wide = g.mul(fast_gelu(g, g.linear(wide, 256, 768, False)), g.linear(wide, 256, 768, False))
        x = g.add(x, g.linear(wide, 768, 256, False))
    g.output(rmsnorm(g, x, 256))


def fast_gelu(g, x):
    """The one with Tanh."""
    inner = g.add(x, g.mul(g.op("Pow", x, g.const(3.0)), g.const(0.044715)))
    tanh = g.op("Tanh", g.mul(inner, g.const(0.7978846)))
    return g.mul(g.mul(x, g.const(0.5)), g.add(tanh, g.const(1.0)))


def cache(g, name, count, past, width, kind="float32"):
    """Keys and values of the tokens before, and their names."""
    return [g.input("%s.%s" % (name, part), [1, count, ("past_" + name.split(".")[0], past), width], kind)
            for part in "kv"]


def cached_attention(g, x, width, count, past, name, bias=None, scale="div", linear_bias=True):
    size = width // count
    q, k, v = (heads(g, g.linear(x, width, width, linear_bias), count, size) for _ in range(3))
    k, v = (g.concat(old, new, axis=2) for old, new in zip(cache(g, name, count, past, size), (k, v)))
    g.output(k), g.output(v)
    return g.linear(merged(g, attend(g, q, k, v, size, bias, scale), width), width, width, linear_bias)


def cross_attention(g, x, width, count, keys, values, scale="div", linear_bias=True):
    q = heads(g, g.linear(x, width, width, linear_bias), count, width // count)
    x = merged(g, attend(g, q, keys, values, width // count, None, scale), width)
    return g.linear(x, width, width, linear_bias)


@model
def t5_decoder_step(g):
    """One token, 24 before it, 40 of the encoder."""
    x = g.embedding(g.input("token", [1, 1], "int64", "int=%d" % VOCABULARY), VOCABULARY, 256)
    for i in range(3):
        own, past = rmsnorm(g, x, 256), 24
        if i == 0:
            keys = g.op("Range", g.const(0, "int64"), g.const(past + 1, "int64"), g.const(1, "int64"))
            bias = relative_bias(g, g.ints(past), keys, 4, False)
        x = g.add(x, cached_attention(g, own, 256, 4, past, "self.%d" % i, bias, "", False))
        k, v = cache(g, "cross.%d" % i, 4, 40, 64)
        x = g.add(x, cross_attention(g, rmsnorm(g, x, 256), 256, 4, k, v, "", False))
        x = g.add(x, g.linear(g.relu(g.linear(rmsnorm(g, x, 256), 256, 1024, False)), 1024, 256, False))
    g.output(g.linear(g.mul(rmsnorm(g, x, 256), g.const(256 ** -0.5)), 256, VOCABULARY, False))


@model
def bart_decoder_step(g):
    token = g.input("token", [("batch", 1), 1], "int64", "int=%d" % VOCABULARY)
    x = g.mul(g.embedding(token, VOCABULARY, 256), g.const(16.0))
    x = g.layernorm(g.add(x, g.const(g.random.standard_normal((1, 1, 256)))), 256)
    for i in range(3):
        x = g.layernorm(g.add(x, cached_attention(g, x, 256, 8, 15, "self.%d" % i)), 256)
        k, v = cache(g, "cross.%d" % i, 8, 30, 32)
        x = g.layernorm(g.add(x, cross_attention(g, x, 256, 8, k, v)), 256)
        x = g.layernorm(g.add(x, g.linear(g.silu(g.linear(x, 256, 1024)), 1024, 256)), 256)
    g.output(g.add(g.op("MatMul", x, g.weight(256, VOCABULARY)), g.weight(VOCABULARY, fan=9)))


@model
def deberta_64(g):
    """Attention from content to content, content to position and position to content, gathered by distance."""
    length, width, count = 64, 384, 6
    ids, mask = token_inputs(g, length)
    x = g.layernorm(g.embedding(ids, VOCABULARY, width), width)
    flags = g.op("Cast", mask, to=1)
    pairs = g.mul(g.unsqueeze(flags, 1, 2), g.unsqueeze(flags, 1, 3))
    hidden = g.op("Not", g.op("Cast", pairs, to=9))
    steps = numpy.arange(length)
    near = numpy.clip(steps[:, None] - steps[None, :] + length, 0, 2 * length - 1)
    table = g.layernorm(g.weight(2 * length, width, fan=9), width)
    for _ in range(2):
        q, k, v = (g.reshape(heads(g, g.linear(x, width, width), count, 64), -1, length, 64) for _ in range(3))
        scores = g.op("MatMul", q, g.op("Div", g.transpose(k, 0, 2, 1), g.const((64 * 3) ** 0.5)))
        places = [g.transpose(g.reshape(g.linear(table, width, width), 2 * length, count, 64), 1, 2, 0)
                  for _ in range(2)]
        index = [g.op("Expand", g.const(i[None], "int64"), g.ints(count, length, length)) for i in (near, near.T)]
        seen = g.op("GatherElements", g.op("MatMul", q, places[0]), index[0], axis=2)
        scores = g.add(scores, g.op("Div", seen, g.const((64 * 3) ** 0.5)))
        seen = g.transpose(g.op("GatherElements", g.op("MatMul", k, places[1]), index[0], axis=2), 0, 2, 1)
        scores = g.reshape(g.add(scores, g.op("Div", seen, g.const((64 * 3) ** 0.5))), 1, count, length, length)
        odds = g.op("Softmax", g.op("Where", hidden, g.const(LOW), scores), axis=-1)
        odds = g.op("Where", hidden, g.const(0.0), odds)
        out = g.op("MatMul", odds, g.reshape(v, 1, count, length, 64))
        x = g.layernorm(g.add(g.linear(merged(g, out, width), width, width), x), width)
        x = g.layernorm(g.add(g.linear(g.gelu(g.linear(x, width, 4 * width)), 4 * width, width), x), width)
    g.output(x)


def clip_tower(g, x, width, count, layers, bias, length):
    for _ in range(layers):
        x = g.add(x, self_attention(g, g.layernorm(x, width), width, count, bias, length))
        wide = g.linear(g.layernorm(x, width), width, 4 * width)
        x = g.add(x, g.linear(g.mul(wide, g.op("Sigmoid", g.mul(g.const(1.702), wide))), 4 * width, width))
    return x


@model
def text_cnn(g):
    """Words as a line of channels, windows of three sizes, the largest of each."""
    ids = g.input("ids", [("batch", 4), 60], "int64", "int=3000")
    x = g.transpose(g.embedding(ids, 3000, 128), 0, 2, 1)
    parts = [g.op("ReduceMax", g.relu(g.conv(x, 128, 100, [k], pad=0)), axes=[2], keepdims=0) for k in (3, 4, 5)]
    g.output(g.op("Softmax", g.linear(g.concat(*parts), 300, 6), axis=-1))


@model
def bag_of_words(g):
    """The mean of embeddings of words and pairs, then one layer."""
    ids = g.input("ids", [("batch", 16), 80], "int64", "int=5000")
    kept = g.op("Cast", g.op("Greater", ids, g.const(0, "int64")), to=1)
    x = g.mul(g.embedding(ids, 5000, 64), g.unsqueeze(kept, 2))
    total = g.op("ReduceSum", x, g.ints(1), keepdims=0)
    count = g.op("Max", g.op("ReduceSum", kept, g.ints(1), keepdims=1), g.const(1.0))
    g.output(g.op("Softmax", g.linear(g.op("Div", total, count), 64, 20), axis=-1))


@model
def clip(g):
    """A picture against four texts: the end of each is where its number is largest."""
    image = g.conv(g.input("pixels", [1, 3, 96, 96]), 3, 256, 16, 16, 0, bias=False)
    image = g.transpose(g.reshape(image, 1, 256, 36), 0, 2, 1)
    image = g.add(g.concat(g.weight(1, 1, 256, fan=9), image), g.weight(37, 256, fan=9))
    image = clip_tower(g, g.layernorm(image, 256), 256, 4, 3, None, 37)
    image = g.linear(g.layernorm(g.op("Gather", image, g.const(0, "int64"), axis=1), 256), 256, 128, False)
    ids = g.input("ids", [1, 20], "int64", "int=%d" % VOCABULARY)
    text = g.add(g.embedding(ids, VOCABULARY, 192), g.weight(20, 192, fan=192))
    causal = g.const(numpy.triu(numpy.full((1, 1, 20, 20), LOW), 1))
    text = g.layernorm(clip_tower(g, text, 192, 3, 3, causal, 20), 192)
    last = g.op("Concat", g.const([[0]], "int64"), g.op("ArgMax", ids, axis=1, keepdims=1), axis=1)
    text = g.linear(g.op("GatherND", text, last), 192, 128, False)
    image, text = (g.op("Div", x, g.op("ReduceL2", x, axes=[-1], keepdims=1)) for x in (image, text))
    g.output(g.mul(g.op("MatMul", text, g.op("Transpose", image, perm=[1, 0])), g.const(14.3)))
