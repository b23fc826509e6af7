"""double.py - a model whose 32-bit floats have become 64-bit ones: what its arithmetic would give without rounding to
speak of. Needs Debian's python3-onnx and python3-numpy. A model with 16-bit floats rounds to them by intent: refused.

    double.py MODEL.onnx WIDE.onnx"""
import sys

import numpy
import onnx
from onnx import TensorProto, numpy_helper

FLOAT, DOUBLE = TensorProto.FLOAT, TensorProto.DOUBLE
# Operator -> inputs whose type stays float32, whatever the type of the others.
KEEPS_FLOAT = {"Resize": (2,), "Upsample": (1,), "QuantizeLinear": (0, 1), "DequantizeLinear": (1,)}


def widen_tensor(tensor):
    if tensor.data_type == FLOAT:
        tensor.CopyFrom(numpy_helper.from_array(numpy_helper.to_array(tensor).astype(numpy.float64), tensor.name))


def widen_type(value):
    kind = value.type.tensor_type
    if kind.elem_type == FLOAT:
        kind.elem_type = DOUBLE


def widen_node(node):
    for a in node.attribute:
        if a.type == onnx.AttributeProto.TENSOR:
            widen_tensor(a.t)
        elif a.type == onnx.AttributeProto.GRAPH:
            widen_graph(a.g)
        elif a.name in ("to", "dtype") and a.type == onnx.AttributeProto.INT and a.i == FLOAT:
            a.i = DOUBLE
        elif node.op_type == "Constant" and a.name in ("value_float", "value_floats"):
            numbers = a.f if a.name == "value_float" else list(a.floats)
            wide = numpy_helper.from_array(numpy.array(numbers, dtype=numpy.float64))
            a.CopyFrom(onnx.helper.make_attribute("value", wide))


def narrowed(node, made):
    """The node with casts before the inputs that must stay float32."""
    for i in KEEPS_FLOAT.get(node.op_type, ()):
        if i < len(node.input) and node.input[i]:
            name = "%s/narrow%d" % (node.output[0], i)
            made.append(onnx.helper.make_node("Cast", [node.input[i]], [name], to=FLOAT))
            node.input[i] = name


def widen_graph(graph):
    for value in list(graph.input) + list(graph.output) + list(graph.value_info):
        widen_type(value)
    for tensor in graph.initializer:
        widen_tensor(tensor)
    nodes = []
    for node in graph.node:
        widen_node(node)
        narrowed(node, nodes)
        nodes.append(node)
    del graph.node[:]
    graph.node.extend(nodes)


def main():
    model = onnx.load(sys.argv[1])
    if any(t.data_type == TensorProto.FLOAT16 for t in model.graph.initializer):
        sys.exit("double.py: %s holds 16-bit floats" % sys.argv[1])
    widen_graph(model.graph)
    onnx.save(model, sys.argv[2])


if __name__ == "__main__":
    main()
