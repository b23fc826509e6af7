"""graph.py - writes the models of the zoo: a graph that grows call by call, weights drawn from a seed.

A model is a function with the decorator `model` in a file of this folder; its name is the model's:

    @model
    def two_layers(g):
        x = g.input("x", [1, 3, 32, 32])
        g.output(g.relu(g.conv(x, 3, 16, 3)))
"""
import zlib

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper

MODELS = {}  # by name: the function that makes it
KINDS = {"float32": TensorProto.FLOAT, "int64": TensorProto.INT64, "int32": TensorProto.INT32,
         "bool": TensorProto.BOOL, "uint8": TensorProto.UINT8, "int8": TensorProto.INT8,
         "float16": TensorProto.FLOAT16, "float64": TensorProto.DOUBLE}
ONNX_OPSET = 17
VERSIONS = {"ai.onnx.ml": 3}  # of other domains: 1 where nothing is said


def model(function):
    MODELS[function.__name__] = function
    return function


def variants(function, **sizes):
    """One model for each keyword, which is its name; its value has the further arguments of the function."""
    for name, values in sizes.items():
        MODELS[name] = lambda g, values=values: function(g, *values)


class Graph:
    def __init__(self, name, opset=ONNX_OPSET):
        self.name, self.opset, self.domains = name, opset, {""}
        self.nodes, self.constants, self.inputs, self.outputs, self.lines = [], [], [], [], []
        self.random = numpy.random.default_rng(zlib.crc32(name.encode()))

    # ---- values ----

    def new(self, stem):
        return "%s_%d" % (stem, len(self.nodes) + len(self.constants))

    def input(self, name, dims, kind="float32", fill="rand"):
        """dims are the ones measured, a pair is (its name, the one measured); fill is one of ort_bench.c's: rand,
        rand01, int=N, const=X."""
        names, sizes = zip(*[d if isinstance(d, tuple) else (d, d) for d in dims]) if dims else ((), ())
        self.inputs.append(helper.make_tensor_value_info(name, KINDS[kind], names))
        self.lines.append("%s:%s:%s:%s" % (name, kind, ",".join(map(str, sizes)) or "-", fill))
        return name

    def output(self, value, kind="float32"):
        self.outputs.append(helper.make_empty_tensor_value_info(value))
        self.outputs[-1].type.tensor_type.elem_type = KINDS[kind]

    def const(self, values, kind="float32"):
        name = self.new("c")
        self.constants.append(numpy_helper.from_array(numpy.asarray(values, dtype=kind), name))
        return name

    def ints(self, *values):
        return self.const(values, "int64")

    def weight(self, *dims, fan=None, kind="float32"):
        """Numbers that keep the size of what they are multiplied with; fan is how many are added up."""
        fan = fan or int(numpy.prod(dims[1:])) or 1
        return self.const(self.random.standard_normal(dims) / numpy.sqrt(fan), kind)

    # ---- nodes ----

    def op(self, kind, *inputs, outs=1, domain="", **attributes):
        """One node; its result, or a list of results. An input that is left out is ""."""
        names = [self.new(kind.lower()) + ("" if outs == 1 else "_%d" % i) for i in range(outs)]
        self.nodes.append(helper.make_node(kind, list(inputs), names, name=names[0], domain=domain, **attributes))
        self.domains.add(domain)
        return names[0] if outs == 1 else names

    # ---- layers that many models have ----

    def conv(self, x, before, after, kernel, stride=1, pad=None, groups=1, dilation=1, bias=True):
        """kernel is a number (two axes) or a list, one for each axis."""
        kernel = [kernel, kernel] if isinstance(kernel, int) else list(kernel)
        each = lambda v: [v] * len(kernel) if isinstance(v, int) else list(v)
        dilation, stride = each(dilation), each(stride)
        pad = each(pad) if pad is not None else [d * (k - 1) // 2 for d, k in zip(dilation, kernel)]
        inputs = [x, self.weight(after, before // groups, *kernel)] + ([self.weight(after, fan=9)] if bias else [])
        return self.op("Conv", *inputs, kernel_shape=kernel, strides=stride, pads=pad + pad, dilations=dilation,
                       group=groups)

    def batchnorm(self, x, channels):
        ones = numpy.ones(channels)
        near = lambda: self.const(ones + 0.1 * self.random.standard_normal(channels))
        return self.op("BatchNormalization", x, near(), self.weight(channels, fan=9), self.weight(channels, fan=9),
                       self.const(ones + 0.1 * self.random.random(channels)))

    def embedding(self, ids, count, width):
        return self.op("Gather", self.weight(count, width, fan=width), ids)

    def linear(self, x, before, after, bias=True):
        x = self.op("MatMul", x, self.weight(before, after, fan=before))
        return self.op("Add", x, self.weight(after, fan=9)) if bias else x

    def layernorm(self, x, width, axis=-1):
        return self.op("LayerNormalization", x, self.const(numpy.ones(width)), self.weight(width, fan=9), axis=axis)

    def relu(self, x):
        return self.op("Relu", x)

    def silu(self, x):
        return self.op("Mul", x, self.op("Sigmoid", x))

    def gelu(self, x):
        half = self.op("Mul", x, self.const(0.5))
        erf = self.op("Erf", self.op("Div", x, self.const(1.4142135)))
        return self.op("Mul", half, self.op("Add", erf, self.const(1.0)))

    def add(self, a, b):
        return self.op("Add", a, b)

    def mul(self, a, b):
        return self.op("Mul", a, b)

    def concat(self, *values, axis=1):
        return self.op("Concat", *values, axis=axis)

    def split(self, x, *sizes, axis=1):
        return self.op("Split", x, self.ints(*sizes), outs=len(sizes), axis=axis)

    def reshape(self, x, *dims):
        return self.op("Reshape", x, self.ints(*dims))

    def unsqueeze(self, x, *axes):
        return self.op("Unsqueeze", x, self.ints(*axes))

    def slice(self, x, begin, end, axis=-1, step=1):
        return self.op("Slice", x, self.ints(begin), self.ints(end), self.ints(axis), self.ints(step))

    def size(self, x, axis):
        """The way exporters ask for one dimension: a number without axes."""
        return self.op("Gather", self.op("Shape", x), self.const(axis, "int64"), axis=0)

    def shaped(self, x, *dims):
        """Reshape to numbers and to what size() gave, as exporters write it."""
        parts = [self.unsqueeze(d, 0) if isinstance(d, str) else self.ints(d) for d in dims]
        return self.op("Reshape", x, self.concat(*parts, axis=0))

    def transpose(self, x, *perm):
        return self.op("Transpose", x, perm=list(perm))

    # ---- the file ----

    def save(self, path):
        """Writes PATH and, beside it, the inputs line."""
        graph = helper.make_graph(self.nodes, self.name, self.inputs, self.outputs, self.constants)
        opsets = [helper.make_opsetid(d, VERSIONS.get(d, 1) if d else self.opset) for d in sorted(self.domains)]
        made = helper.make_model(graph, opset_imports=opsets, producer_name="hologram zoo")
        made.ir_version = 8
        onnx.save(made, path)
        with open(path[:-5] + ".inputs", "w") as f:
            f.write(";".join(self.lines) + "\n")
