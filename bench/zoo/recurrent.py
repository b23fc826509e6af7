"""recurrent.py - LSTM, GRU and RNN of many sizes, stacked, with attention, and written as Scan and Loop."""
import numpy
from onnx import TensorProto, helper

from graph import model, variants

GATES = {"LSTM": 4, "GRU": 3, "RNN": 1}


def recurrent(g, kind, x, before, hidden, batch, both=False, states=None, **how):
    """The sequence that one layer makes, [length, directions, batch, hidden], and its last state."""
    ways, gates = 2 if both else 1, GATES[kind]
    weights = [g.weight(ways, gates * hidden, before, fan=3 * before),
               g.weight(ways, gates * hidden, hidden, fan=3 * hidden),
               g.weight(ways, 2 * gates * hidden, fan=9)]
    states = states or [g.const(numpy.zeros((ways, batch, hidden))) for _ in range(2 if kind == "LSTM" else 1)]
    results = g.op(kind, x, *weights, "", *states, outs=2, hidden_size=hidden,
                   direction="bidirectional" if both else "forward", **how)
    return results


def joined(g, y, length, batch, hidden, both):
    if not both:
        return g.op("Squeeze", y, g.ints(1))
    return g.reshape(g.transpose(y, 0, 2, 1, 3), length, batch, 2 * hidden)


def layers(g, kind, length, batch, before, hidden, count=1, both=False, how=None):
    x = g.input("x", [length, batch, before])
    for _ in range(count):
        y, last = recurrent(g, kind, x, before, hidden, batch, both, **(how or {}))
        x, before = joined(g, y, length, batch, hidden, both), hidden * (2 if both else 1)
    g.output(x), g.output(last)


LINEAR = {"linear_before_reset": 1}
variants(layers,
         lstm_h64_b1_s128=("LSTM", 128, 1, 40, 64), lstm_h128_b1_s1=("LSTM", 1, 1, 64, 128),
         lstm_h128_b16_s32=("LSTM", 32, 16, 128, 128), lstm_h256_b1_s32=("LSTM", 32, 1, 256, 256),
         lstm_h256_b16_s32=("LSTM", 32, 16, 256, 256), lstm_h256_b64_s8=("LSTM", 8, 64, 256, 256),
         lstm_h512_b1_s32=("LSTM", 32, 1, 512, 512), lstm_h512_b16_s8=("LSTM", 8, 16, 512, 512),
         lstm_stacked_b4=("LSTM", 32, 4, 80, 128, 3), bilstm_h100_b1=("LSTM", 32, 1, 100, 100, 1, True),
         bilstm_h128_b16=("LSTM", 32, 16, 128, 128, 2, True), bilstm_h256_b1=("LSTM", 64, 1, 256, 256, 2, True),
         gru_h64_b1_s32=("GRU", 32, 1, 64, 64, 1, False, LINEAR),
         gru_h256_b1_s1=("GRU", 1, 1, 256, 256, 1, False, LINEAR),
         gru_h128_b16_s32=("GRU", 32, 16, 128, 128, 1, False, LINEAR), gru_h256_b16_s32=("GRU", 32, 16, 256, 256),
         gru_h512_b1_s32=("GRU", 32, 1, 512, 512, 1, False, LINEAR),
         bigru_h64_b1=("GRU", 64, 1, 64, 64, 2, True, LINEAR),
         bigru_h128_b64=("GRU", 16, 64, 128, 128, 1, True, LINEAR),
         rnn_h128_b1=("RNN", 64, 1, 128, 128), rnn_h64_b64=("RNN", 32, 64, 32, 64),
         birnn_h256_b16=("RNN", 16, 16, 256, 256, 1, True))


@model
def tagger(g):
    """Embeddings, a stacked LSTM with the batch in front, a score for each word."""
    ids = g.input("ids", [("batch", 4), ("sequence", 24)], "int64", "int=2000")
    x = g.transpose(g.embedding(ids, 2000, 100), 1, 0, 2)
    for before in (100, 256):
        zeros = g.op("Expand", g.const(numpy.zeros((1, 1, 1))), g.concat(
            g.ints(2), g.unsqueeze(g.size(ids, 0), 0), g.ints(128), axis=0))
        y, _ = recurrent(g, "LSTM", x, before, 128, 4, True, [zeros, zeros])
        y = g.transpose(y, 0, 2, 1, 3)
        x = g.shaped(y, g.size(y, 0), g.size(y, 1), 256)
    g.output(g.linear(g.transpose(x, 1, 0, 2), 256, 17))


@model
def gru_tagger(g):
    """Embeddings and the shapes of letters, three layers in both directions, a score for each word."""
    ids, shapes = (g.input(name, [("batch", 2), ("sequence", 40)], "int64", "int=%d" % n)
                   for name, n in (("ids", 2000), ("shapes", 30)))
    x = g.concat(g.embedding(ids, 2000, 64), g.embedding(shapes, 30, 16), axis=2)
    x, before = g.transpose(x, 1, 0, 2), 80
    for _ in range(3):
        zeros = g.op("Expand", g.const(numpy.zeros((1, 1, 1))), g.concat(
            g.ints(2), g.unsqueeze(g.size(ids, 0), 0), g.ints(96), axis=0))
        y, _ = recurrent(g, "GRU", x, before, 96, 2, True, [zeros], linear_before_reset=1)
        y = g.transpose(y, 0, 2, 1, 3)
        x, before = g.shaped(y, g.size(y, 0), g.size(y, 1), 192), 192
    g.output(g.op("LogSoftmax", g.linear(g.transpose(x, 1, 0, 2), 192, 9), axis=-1))


@model
def lstm_lengths(g):
    """Sequences of their own lengths, states from outside, gates that see the cell."""
    x, lengths = g.input("x", [50, 8, 64]), g.const([50, 44, 40, 31, 30, 22, 9, 1], "int32")
    h, c = (g.input(name, [2, 8, 96]) for name in ("h", "c"))
    weights = [g.weight(2, 384, 64, fan=192), g.weight(2, 384, 96, fan=288), g.weight(2, 768, fan=9)]
    for result in g.op("LSTM", x, *weights, lengths, h, c, g.weight(2, 288, fan=99), outs=3, hidden_size=96,
                       direction="bidirectional"):
        g.output(result)


@model
def gru_steps(g):
    """One frame for each of 16 streams through two layers, as servers run it."""
    x = g.input("x", [1, 16, 80])
    for i, before in enumerate((80, 256)):
        state = g.input("h%d" % i, [1, 16, 256])
        y, last = recurrent(g, "GRU", x, before, 256, 16, False, [state], linear_before_reset=1)
        x = g.op("Squeeze", y, g.ints(1))
        g.output(last)
    g.output(g.op("Softmax", g.linear(x, 256, 40), axis=-1))


@model
def seq2seq_step(g):
    """One step of a decoder: the state looks at 20 states of the encoder, then two cells."""
    token = g.input("token", [1, 1], "int64", "int=2000")
    seen = g.input("encoder", [1, 20, 256])
    states = [g.input(name, [1, 1, 256]) for name in ("h0", "c0", "h1", "c1")]
    x = g.embedding(token, 2000, 256)
    query = g.linear(g.transpose(states[2], 1, 0, 2), 256, 256)
    sums = g.op("Tanh", g.add(g.linear(seen, 256, 256), query))
    odds = g.op("Softmax", g.op("Squeeze", g.linear(sums, 256, 1), g.ints(2)), axis=-1)
    context = g.op("MatMul", g.unsqueeze(odds, 1), seen)
    x, before = g.concat(x, context, axis=2), 512
    for i in range(2):
        y, h, c = g.op("LSTM", x, g.weight(1, 1024, before, fan=before), g.weight(1, 1024, 256, fan=256),
                       g.weight(1, 2048, fan=9), "", *states[2 * i:2 * i + 2], outs=3, hidden_size=256)
        g.output(h), g.output(c)
        x, before = g.op("Squeeze", y, g.ints(1)), 256
    g.output(g.op("LogSoftmax", g.linear(x, 256, 2000), axis=-1))


def body(name, nodes, inputs, outputs):
    value = lambda n, kind, dims: helper.make_tensor_value_info(n, kind, dims)
    return helper.make_graph(nodes, name, [value(*i) for i in inputs], [value(*o) for o in outputs])


@model
def scan_rnn(g):
    """h = tanh(x W + h R) as Scan."""
    x = g.input("x", [64, 96])
    w, r = g.weight(96, 96, fan=192), g.weight(96, 96, fan=192)
    f = TensorProto.FLOAT
    step = body("step", [helper.make_node("MatMul", ["xt", w], ["a"]), helper.make_node("MatMul", ["h", r], ["b"]),
                         helper.make_node("Add", ["a", "b"], ["s"]), helper.make_node("Tanh", ["s"], ["out"]),
                         helper.make_node("Identity", ["out"], ["seen"])],
                [("h", f, [1, 96]), ("xt", f, [1, 96])], [("out", f, [1, 96]), ("seen", f, [1, 96])])
    last, y = g.op("Scan", g.const(numpy.zeros((1, 96))), g.reshape(x, 64, 1, 96), outs=2, body=step, num_scan_inputs=1)
    g.output(last), g.output(y)


@model
def loop_gru(g):
    """A cell of plain operations in a Loop that takes its input by Gather, as scripts are exported."""
    x = g.input("x", [32, 1, 64])
    w, r = g.weight(64, 192, fan=128), g.weight(64, 192, fan=128)
    cuts, zero = g.ints(64, 64, 64), g.const(numpy.ones((1, 64)))
    f, node = TensorProto.FLOAT, helper.make_node
    step = body("step", [
        node("Gather", [x, "i"], ["xt"], axis=0), node("MatMul", ["xt", w], ["a"]), node("MatMul", ["h", r], ["b"]),
        node("Split", ["a", cuts], ["a0", "a1", "a2"], axis=1), node("Split", ["b", cuts], ["b0", "b1", "b2"], axis=1),
        node("Add", ["a0", "b0"], ["s0"]), node("Sigmoid", ["s0"], ["z"]), node("Add", ["a1", "b1"], ["s1"]),
        node("Sigmoid", ["s1"], ["q"]), node("Mul", ["q", "b2"], ["m"]), node("Add", ["a2", "m"], ["s2"]),
        node("Tanh", ["s2"], ["n"]), node("Sub", [zero, "z"], ["k"]), node("Mul", ["k", "n"], ["p1"]),
        node("Mul", ["z", "h"], ["p2"]), node("Add", ["p1", "p2"], ["out"]), node("Identity", ["out"], ["seen"]),
        node("Identity", ["go"], ["on"])],
        [("i", TensorProto.INT64, []), ("go", TensorProto.BOOL, []), ("h", f, [1, 64])],
        [("on", TensorProto.BOOL, []), ("out", f, [1, 64]), ("seen", f, [1, 64])])
    last, y = g.op("Loop", g.const(32, "int64"), g.const(True, "bool"), g.const(numpy.zeros((1, 64))), outs=2,
                   body=step)
    g.output(last), g.output(y)


@model
def tcn(g):
    """Convolutions that see the past only, instead of a recurrence."""
    x, width = g.input("x", [1, 32, 200]), 32
    for i in range(5):
        gap = 2 ** i
        y = x
        for _ in range(2):
            y = g.relu(g.slice(g.conv(y, width, 64, [3], pad=2 * gap, dilation=gap), 0, -2 * gap, 2))
            width = 64
        x = g.relu(g.add(y, x if i else g.conv(x, 32, 64, [1])))
    g.output(g.linear(g.op("Gather", x, g.const(-1, "int64"), axis=2), 64, 10))
