#!/usr/bin/env python3
"""operators.py HOLOGRAM ORT_BENCH [PART] - single operators of com.microsoft against ONNX Runtime.

Makes models of one node with random inputs, many combinations of attributes and optional inputs each, runs both
programs and compares. Needs Debian's python3-onnx and python3-numpy; PART selects cases whose name contains it.
"""
import glob
import itertools
import os
import subprocess
import sys
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

TYPES = {"float32": TensorProto.FLOAT, "float16": TensorProto.FLOAT16, "int32": TensorProto.INT32,
         "int64": TensorProto.INT64, "uint8": TensorProto.UINT8, "int8": TensorProto.INT8}
rng = np.random.default_rng(7)


class In:
    """An input that both programs fill: shape, element type and fill as ort_bench writes it."""

    def __init__(self, *shape, fill="rand", dtype="float32"):
        self.shape, self.fill, self.dtype = shape, fill, dtype


def rand(*shape, dtype=np.float32):
    return (rng.random(shape) * 2 - 1).astype(dtype)


def codes(*shape, dtype=np.uint8, low=None, high=None):
    info = np.iinfo(dtype)
    return rng.integers(info.min if low is None else low, info.max + 1 if high is None else high, shape).astype(dtype)


def f32(x):
    return np.array(x, np.float32)


# ---- cases: (name, operator, inputs, attributes, names of outputs, tolerance); "" is an absent input or output

def gelus():
    for shape in [(3, 8), (2, 3, 8), (0, 8)]:
        yield "Gelu", "Gelu", [In(*shape)], {}, 1, 1e-6
        yield "BiasGelu", "BiasGelu", [In(*shape), rand(8)], {}, 1, 1e-6
        yield "FastGelu", "FastGelu", [In(*shape)], {}, 1, 1e-6
        yield "FastGelu bias", "FastGelu", [In(*shape), rand(8)], {}, 1, 1e-6
        yield "QuickGelu", "QuickGelu", [In(*shape)], {"alpha": 1.3}, 1, 1e-6
        yield "QuickGelu", "QuickGelu", [In(*shape)], {}, 1, 1e-6


def norms():
    for shape, skip in [((2, 3, 8), (2, 3, 8)), ((2, 3, 8), (1, 3, 8)), ((2, 3, 8), (3, 8)), ((5, 8), (5, 8))]:
        for bias in [[], ["", rand(8)], [rand(8)], [rand(8), rand(8)]]:
            for outs in [1, ["y", "", "", "s"]]:
                yield "SkipLayerNormalization", "SkipLayerNormalization", \
                    [In(*shape), In(*skip), rand(8)] + bias, {"epsilon": 1e-5}, outs, 1e-5
        for bias in [[], [rand(8)]]:
            yield "SkipSimplifiedLayerNormalization", "SkipSimplifiedLayerNormalization", \
                [In(*shape), In(*skip), rand(8)] + bias, {"epsilon": 1e-6}, ["y", "", "", "s"], 1e-5
    for axis in [-1, 1, 2]:
        yield "SimplifiedLayerNormalization", ":SimplifiedLayerNormalization", \
            [In(2, 3, 8), rand(8) if axis != 1 else rand(3, 8)], {"axis": axis, "epsilon": 1e-5}, 1, 1e-5
    ids = In(2, 5, fill="int=9", dtype="int32")
    for segments, mask, places in itertools.product([0, 1], [0, 1], [0, 1]):
        yield "EmbedLayerNormalization", "EmbedLayerNormalization", \
            [ids, In(2, 5, fill="int=2", dtype="int32") if segments else "", rand(9, 8), rand(7, 8),
             rand(2, 8) if segments else "", rand(8), rand(8),
             np.array([[1, 1, 1, 0, 0], [1, 1, 1, 1, 1]], np.int32) if mask else "",
             In(2, 5, fill="int=7", dtype="int32") if places else ""], {"epsilon": 1e-5}, ["y", "m", "s"], 1e-5


def rotary():
    tables = lambda half: [np.cos(rand(10, half)), np.sin(rand(10, half))]
    for flag in [0, 1]:
        for places in [np.array([3], np.int64), In(2, 4, fill="int=10", dtype="int64")]:
            yield "RotaryEmbedding 3", "RotaryEmbedding", [In(2, 4, 24), places] + tables(4), {"interleaved": flag}, 1, 1e-6
            yield "RotaryEmbedding 4", "RotaryEmbedding", [In(2, 3, 4, 8), places] + tables(4), {"interleaved": flag}, 1, 1e-6
            yield "RotaryEmbedding part", "RotaryEmbedding", [In(2, 4, 24), places] + tables(2), \
                {"interleaved": flag, "num_heads": 3, "rotary_embedding_dim": 4}, 1, 1e-6


def products():
    for metric in ["euclidean", "sqeuclidean"]:
        yield "CDist " + metric, "CDist", [In(7, 5), In(4, 5)], {"metric": metric}, 1, 1e-5
    for ta, tb in itertools.product([0, 1], [0, 1]):
        yield "FusedMatMul", "FusedMatMul", [In(*((2, 5, 3) if ta else (2, 3, 5))), In(*((2, 4, 5) if tb else (2, 5, 4)))], \
            {"transA": ta, "transB": tb, "alpha": 0.5}, 1, 1e-5
        for a, b in itertools.product([0, 1], [0, 1]):
            sa = ((3, 2, 5) if not ta else (5, 2, 3)) if a else ((2, 3, 5) if not ta else (2, 5, 3))
            sb = ((5, 2, 4) if not tb else (4, 2, 5)) if b else ((2, 5, 4) if not tb else (2, 4, 5))
            yield "FusedMatMul batch", "FusedMatMul", [In(*sa), In(*sb)], \
                {"transA": ta, "transB": tb, "transBatchA": a, "transBatchB": b}, 1, 1e-5
    for act, more in [("", {}), ("Relu", {}), ("LeakyRelu", {"activation_alpha": 0.2}), ("Tanh", {}), ("Sigmoid", {}),
                      ("HardSigmoid", {"activation_alpha": 0.3, "activation_beta": 0.4}), ("Elu", {"activation_alpha": 0.7})]:
        if act:
            yield "FusedGemm " + act, "FusedGemm", [In(3, 5), In(4, 5), In(4)], \
                {"transB": 1, "alpha": 0.7, "beta": 0.3, "activation": act, **more}, 1, 1e-5
    for act, params in [("Relu", None), ("Tanh", None), ("LeakyRelu", [0.1]), ("Clip", [-0.5, 0.75]), ("HardSigmoid", [0.2, 0.6])]:
        for z in [0, 1]:
            attr = {"activation": act, "pads": [1, 1, 1, 1], "kernel_shape": [3, 3]}
            if params:
                attr["activation_params"] = params
            yield "FusedConv " + act, "FusedConv", [In(1, 3, 6, 7), rand(4, 3, 3, 3), rand(4)] + ([In(1, 4, 6, 7)] if z else []), attr, 1, 1e-5
    for bt in [np.uint8, np.int8]:
        # 7-bit weights: ONNX Runtime's products of 8 bits saturate on CPUs without VNNI
        w = codes(16, 6, dtype=bt, low=-64 if bt == np.int8 else 0, high=64)
        for per in [0, 1]:
            scale, zero = (f32(rng.random(6)), codes(6, dtype=bt, low=0, high=20)) if per else (f32(0.03), np.array(3, bt))
            for bias in [0, 1]:
                yield "MatMulIntegerToFloat", "MatMulIntegerToFloat", \
                    [In(4, 16, fill="int=128", dtype="uint8"), w, f32(0.02), scale, np.array(11, np.uint8), zero] + ([rand(6)] if bias else []), {}, 1, 1e-5
                yield "DynamicQuantizeMatMul", "DynamicQuantizeMatMul", [In(2, 4, 16), w, scale, zero] + ([rand(6)] if bias else []), {}, 1, 1e-5
            for c, quant in itertools.product([0, 1], [0, 1]):
                yield "QGemm", "QGemm", [In(4, 16, fill="int=128", dtype="uint8"), f32(0.02), np.array(11, np.uint8), w, scale, zero,
                                         codes(6, dtype=np.int32, low=-99, high=99) if c else ""] + \
                    ([f32(0.9), np.array(100, np.uint8)] if quant else []), {"alpha": 1.5}, 1, 1.01 if quant else 1e-5


def qlinear():
    one = lambda dt: np.array(3, dt)
    for dt in [np.uint8, np.int8]:
        x = In(2, 4, 6, 5, fill="int=256" if dt == np.uint8 else "int=128", dtype=np.dtype(dt).name)
        y = codes(6, 5, dtype=dt)
        for op in ["QLinearAdd", "QLinearMul"]:
            yield op, op, [x, f32(0.1), one(dt), y, f32(0.07), one(dt), f32(0.2), one(dt)], {}, 1, 1.01
        yield "QLinearSigmoid", "QLinearSigmoid", [x, f32(0.05), one(dt), f32(1 / 256), np.array(0 if dt == np.uint8 else -128, dt)], {}, 1, 1.01
        yield "QLinearLeakyRelu", "QLinearLeakyRelu", [x, f32(0.05), one(dt), f32(0.06), one(dt)], {"alpha": 0.1}, 1, 1.01
        for axis in [1, -1]:
            yield "QLinearConcat", "QLinearConcat", [f32(0.1), one(dt), x, f32(0.1), one(dt), x, f32(0.05), np.array(9, dt)], {"axis": axis}, 1, 1.01
        for opset, axis in [(13, -1), (13, 1), (11, 2)]:
            yield "QLinearSoftmax", "QLinearSoftmax", [x, f32(0.05), one(dt), f32(1 / 256), np.array(0 if dt == np.uint8 else -128, dt)], \
                {"opset": opset, "axis": axis}, 1, 1.01
        for last, pad, ceil in itertools.product([0, 1], [0, 1], [0, 1]):
            if pad and ceil:
                continue  # ONNX Runtime counts cells beyond the padding here
            yield "QLinearAveragePool", "QLinearAveragePool", [x, f32(0.05), one(dt), f32(0.04), one(dt)], \
                {"kernel_shape": [3, 2], "strides": [2, 2], "pads": [1, 0, 1, 0], "count_include_pad": pad, "ceil_mode": ceil, "channels_last": last}, 1, 1.01
        for last in [0, 1]:
            yield "QLinearGlobalAveragePool", "QLinearGlobalAveragePool", [x, f32(0.05), one(dt), f32(0.04), one(dt)], {"channels_last": last}, 1, 1.01
    for direction in ["forward", "reverse", "bidirectional"]:
        d = 2 if direction == "bidirectional" else 1
        for per in [0, 1]:
            s = lambda: [f32(rng.random((d, 16)) * 0.01 + 0.005), np.full((d, 16), 128, np.uint8)] if per else \
                [f32(rng.random(d) * 0.01 + 0.005), codes(d, dtype=np.uint8, low=120, high=136)]
            # ONNX Runtime rounds inputs and states to 8 bits, we do not
            yield "DynamicQuantizeLSTM", "DynamicQuantizeLSTM", [In(5, 2, 3), codes(d, 3, 16), codes(d, 4, 16), rand(d, 32), "", "", "", ""] + s() + s(), \
                {"direction": direction, "hidden_size": 4}, 3, 3e-2


def nbits():
    for bits, block in itertools.product([2, 4, 8], [16, 32, 128]):
        n, k = 10, 72
        blocks = -(-k // block)
        b = codes(n, blocks, block * bits // 8)
        scales = rand(n, blocks)
        packed = codes(n, -(-blocks * bits // 8))
        for zero in ["", packed, rand(n, blocks) * 8]:
            for bias in ["", rand(n)]:
                for m in [(1,), (2, 7)]:
                    yield "MatMulNBits %d %d" % (bits, block), "MatMulNBits", [In(*m, k), b, scales, zero, "", bias], \
                        {"K": k, "N": n, "bits": bits, "block_size": block}, 1, 2e-5
    b = codes(10, 3, 16)
    group = np.sort(rng.integers(0, 3, 96)).astype(np.int32)
    yield "MatMulNBits group", "MatMulNBits", [In(5, 72), b, rand(10, 3), rand(10, 3) * 8, group], {"K": 72, "N": 10, "bits": 4, "block_size": 32}, 1, 2e-5
    for bits, zero in itertools.product([2, 4, 8], [0, 1]):
        width = 48 * bits // 8
        yield "GatherBlockQuantized", "GatherBlockQuantized", [codes(9, width), In(2, 3, fill="int=9", dtype="int64"), rand(9, 3)] + \
            ([codes(9, -(-3 * bits // 8))] if zero else []), {"bits": bits, "block_size": 16, "gather_axis": 0, "quantize_axis": 1}, 1, 1e-6


def attentions():
    B, S, L, N, H, P = 2, 3, 5, 2, 4, 3
    D = N * H
    for mask, bias, causal, scale in itertools.product([None, "len", "2d", "3d"], [0, 1], [0, 1], [0, 1]):
        attr = {"num_heads": N, "unidirectional": causal}
        if scale:
            attr["scale"] = 0.3
        for past in [0, 1]:
            T = S + (P if past else 0)
            m = {None: "", "len": np.array([T - 1, T], np.int32), "2d": codes(B, T, dtype=np.int32, low=0, high=2),
                 "3d": codes(B, S, T, dtype=np.int32, low=0, high=2)}[mask]
            if mask in ["2d", "3d"]:
                m[..., 0] = 1  # nobody compares rows that see nothing
            extra = rand(1 if causal else B, N, S, T) if bias else ""
            yield "MultiHeadAttention past%d" % past, "MultiHeadAttention", \
                [In(B, S, D), In(B, S, D), In(B, S, D), rand(3 * D), m, extra] + ([In(B, N, P, H), In(B, N, P, H)] if past else []), \
                attr, ["y", "k", "v"] if past else 1, 1e-5
            yield "Attention past%d" % past, "Attention", [In(B, S, 6), rand(6, 3 * D), rand(3 * D), m, In(2, B, N, P, H) if past else "", extra], \
                attr, ["y", "p"] if past else 1, 1e-5
    m2 = np.array([2, 3, 1, 0], np.int32)
    yield "Attention ends", "Attention", [In(B, S, 6), rand(6, 3 * D), rand(3 * D), m2], {"num_heads": N}, 1, 1e-5
    yield "Attention sizes", "Attention", [In(B, S, 6), rand(6, 2 * D + 6), rand(2 * D + 6)], {"num_heads": N, "qkv_hidden_sizes": [D, D, 6]}, 1, 1e-5
    yield "MultiHeadAttention cross", "MultiHeadAttention", [In(B, S, D), In(B, N, L, H), In(B, N, L, 6)], {"num_heads": N}, 1, 1e-5
    yield "MultiHeadAttention cross bias", "MultiHeadAttention", [In(B, S, D), In(B, L, D), In(B, L, D), rand(3 * D)], {"num_heads": N}, 1, 1e-5
    yield "MultiHeadAttention scores", "MultiHeadAttention", [In(B, S, D), In(B, L, D), In(B, L, D), "", codes(B, L, dtype=np.int32, low=0, high=2)], \
        {"num_heads": N}, ["y", "", "", "q"], 1e-5


def groups():
    N, K, H = 4, 2, 16
    tables = [np.cos(rand(16, H // 2) * 3), np.sin(rand(16, H // 2) * 3)]
    for packed, turn, window, cap, bias in itertools.product([0, 1], [0, 1, 2], [-1, 2], [0.0, 5.0], [0, 1]):
        attr = {"num_heads": N, "kv_num_heads": K, "local_window_size": window, "softcap": cap,
                "do_rotary": min(turn, 1), "rotary_interleaved": int(turn == 2)}
        for batch, S, P, total in [(1, 5, 0, [5]), (2, 5, 0, [5, 3]), (1, 1, 6, [7]), (2, 1, 6, [7, 4]), (1, 3, 4, [7])]:
            T = max(total)
            if len(set(total)) > 1 and S > 1 and window > 0 and cap == 0:
                continue  # ONNX Runtime has two answers for queries that are padding
            qkv = [In(batch, S, (N + 2 * K) * H), "", ""] if packed else [In(batch, S, N * H), In(batch, S, K * H), In(batch, S, K * H)]
            past = [In(batch, K, P, H), In(batch, K, P, H)] if P else ["", ""]
            yield "GroupQueryAttention %d+%d" % (P, S), "GroupQueryAttention", qkv + past + \
                [np.array(total, np.int32) - 1, np.array(T, np.int32)] + (tables if turn else ["", ""]) + ["", rand(1, N, S, T) if bias else ""], attr, \
                ["y", "k", "v"], 1e-5
    for attr, sink in [({"smooth_softmax": 1}, ""), ({}, rand(N))]:
        yield "GroupQueryAttention sink", "GroupQueryAttention", [In(1, 3, N * H), In(1, 3, K * H), In(1, 3, K * H), "", "", np.array([2], np.int32),
                                                                  np.array(3, np.int32), "", "", "", "", sink], {"num_heads": N, "kv_num_heads": K, **attr}, ["y", "k", "v"], 1e-5
    for kind in [1, 2]:
        yield "GroupQueryAttention scores %d" % kind, "GroupQueryAttention", \
            [In(1, 1, N * H), In(1, 1, K * H), In(1, 1, K * H), In(1, K, 4, H), In(1, K, 4, H), np.array([4], np.int32), np.array(5, np.int32)], \
            {"num_heads": N, "kv_num_heads": K, "qk_output": kind}, ["y", "k", "v", "q"], 1e-5
    yield "GroupQueryAttention places", "GroupQueryAttention", [In(2, 3, N * H), In(2, 3, K * H), In(2, 3, K * H), "", "", np.array([2, 2], np.int32),
                                                                np.array(3, np.int32)] + tables + [np.array([[4, 5, 6], [1, 2, 3]], np.int64)], \
        {"num_heads": N, "kv_num_heads": K, "do_rotary": 1}, ["y", "k", "v"], 1e-5


# ---- running

def make(op, inputs, attributes, outputs, path):
    graph_in, init, names, specs = [], [], [], []
    for i, x in enumerate(inputs):
        name = "" if isinstance(x, str) else "in%d" % i
        names.append(name)
        if isinstance(x, In):
            graph_in.append(helper.make_tensor_value_info(name, TYPES[x.dtype], ["d%d_%d" % (i, k) for k in range(len(x.shape))]))
            specs.append((name, x))
        elif name:
            init.append(numpy_helper.from_array(np.array(x, order="C"), name))
    while names and names[-1] == "":
        names.pop()
    domain, op = ("", op[1:]) if op.startswith(":") else ("com.microsoft", op)
    outs = ["out%d" % k for k in range(outputs)] if isinstance(outputs, int) else outputs
    node = helper.make_node(op, names, outs, domain=domain, **attributes)
    graph = helper.make_graph([node], "g", graph_in, [onnx.ValueInfoProto(name=o) for o in outs if o], init)
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
    onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=8), path)
    return specs, [o for o in outs if o]


def run(command):
    done = subprocess.run(command, capture_output=True, text=True)
    return (done.stderr or done.stdout).strip()[-300:] if done.returncode else None


def largest(a, b, tolerance):
    """How far apart, in units of what is allowed: of the largest element, for codes in steps."""
    if a.shape != b.shape or a.dtype != b.dtype:
        return "is %s %s, expected %s %s" % (b.dtype, b.shape, a.dtype, a.shape)
    if a.size == 0:
        return None
    x, y = a.astype(np.float64), b.astype(np.float64)
    hidden = (x < -1e30) & (y < -1e30)  # minus infinity or the lowest number: not allowed to attend
    x, y = np.where(hidden, 0, x), np.where(hidden, 0, y)
    scale = 1.0 if tolerance > 1 else max(np.max(np.abs(x)), 1e-30)
    error = np.max(np.abs(x - y)) / scale
    return None if error <= tolerance else "differs by %.3g, allowed %.3g" % (error, tolerance)


def case(hologram, ort, op, inputs, attributes, outputs, tolerance, folder):
    model = os.path.join(folder, "m.onnx")
    specs, outs = make(op, inputs, attributes, outputs, model)
    text = ";".join("%s:%s:%s:%s" % (n, x.dtype, ",".join(map(str, x.shape)) or "-", x.fill) for n, x in specs)
    wrong = run([ort, model, "--inputs", text, "--cold", "--dump", folder])
    if wrong:
        return "skip", wrong
    command = [hologram, "run", model, "--output-dir", os.path.join(folder, "ours")]
    for i, (name, _) in enumerate(specs):
        command += ["--input", "%s=%s" % (name, glob.glob(os.path.join(folder, "in_%d_*.npy" % i))[0])]
    wrong = run(command)
    if wrong:
        return "fail", wrong
    for k in range(len(outs)):
        theirs = np.load(glob.glob(os.path.join(folder, "out_%d_*.npy" % k))[0])
        ours = np.load(glob.glob(os.path.join(folder, "ours", "%d_*.npy" % k))[0])
        wrong = largest(theirs, ours, tolerance)
        if wrong:
            return "fail", "output %d %s" % (k, wrong)
    return "pass", ""


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    part, count = "".join(sys.argv[3:4]), {"pass": 0, "fail": 0, "skip": 0}
    families = [gelus, norms, rotary, products, qlinear, nbits, attentions, groups]
    for name, op, inputs, attributes, outputs, tolerance in itertools.chain(*(f() for f in families)):
        if part not in name:
            continue
        with tempfile.TemporaryDirectory() as folder:
            result, why = case(sys.argv[1], sys.argv[2], op, inputs, attributes, outputs, tolerance, folder)
        count[result] += 1
        if result != "pass":
            shapes = ["-" if isinstance(x, str) else "x".join(map(str, x.shape)) for x in inputs]
            print("%s %s %s %s: %s" % (result.upper(), name, " ".join(shapes), attributes, why), flush=True)
    print("%(pass)d passed, %(fail)d failed, %(skip)d skipped" % count)
    sys.exit(count["fail"] != 0)


main()
