"""single.py - models of one operator: what makes them from a row of a table. The rows are in single_*.py.

    single("Clip", "100k", "f32 100000", 0.1, 0.9)

A text is an input: kind, dims and, where it is not the usual one, how it is filled. Anything else is a constant: a
number is a float32 scalar, a list int64, an array what it is, None an input that is left out. The model is called
op_<operator>_<variant>."""
import functools

import numpy

import graph

KINDS = {"f32": "float32", "f16": "float16", "f64": "float64", "i64": "int64", "i32": "int32", "i8": "int8",
         "u8": "uint8", "bool": "bool"}
FILLS = {"f32": "rand", "f16": "rand", "i64": "int=100", "i32": "int=100", "i8": "int=100", "u8": "int=250",
         "bool": "int=2"}
OPSET = 20


def operand(g, number, value):
    if value is None:
        return ""
    if isinstance(value, str):
        kind, dims, *fill = value.split()
        dims = [] if dims == "-" else [int(d) for d in dims.split("x")]
        return g.input("x%d" % number, dims, KINDS[kind], fill[0] if fill else FILLS[kind])
    if isinstance(value, list):
        return g.ints(*value)
    if isinstance(value, float):
        return g.const(value)
    return g.const(value, value.dtype.name)


def make(g, operator, operands, outs, out, opset, domain, attributes):
    g.opset = opset
    names = [operand(g, i, value) for i, value in enumerate(operands)]
    results = g.op(operator, *names, outs=outs, domain=domain, **attributes)
    kinds = out.split() * outs if " " not in out else out.split()
    for result, kind in zip([results] if outs == 1 else results, kinds):
        g.output(result, KINDS[kind])


def single(operator, variant, *operands, outs=1, out=None, opset=OPSET, domain="", **attributes):
    """out: kind of the result, or of each; without it the kind of the first input."""
    first = next((v.split()[0] for v in operands if isinstance(v, str)), "f32")
    name = "op_%s_%s" % (operator.lower(), variant)
    assert name not in graph.MODELS, name
    graph.MODELS[name] = functools.partial(make, operator=operator, operands=operands, outs=outs, out=out or first,
                                           opset=opset, domain=domain, attributes=attributes)


def draw(*dims, kind="float32", low=-1.0, high=1.0):
    """The same numbers each time; integers up to but without high."""
    random = numpy.random.default_rng(int(numpy.prod(dims)))
    if numpy.dtype(kind).kind in "iu":
        return random.integers(int(low), int(high), dims).astype(kind)
    return random.uniform(low, high, dims).astype(kind)
