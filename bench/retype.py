"""retype.py - a model whose 32-bit floats have become 64-bit ones (what its arithmetic would give without rounding to
speak of) or 16-bit ones. Needs Debian's python3-onnx and python3-numpy. 16-bit floats of the model become 64-bit ones
too; its Casts to 16 bits still round.

    retype.py double|half MODEL.onnx RESULT.onnx"""
import sys

import numpy
import onnx
from onnx import TensorProto, numpy_helper

FLOAT, HALF = TensorProto.FLOAT, TensorProto.FLOAT16
KINDS = {"double": (TensorProto.DOUBLE, numpy.float64), "half": (TensorProto.FLOAT16, numpy.float16)}
# Operator -> inputs whose type stays float32, whatever the type of the others.
KEEPS_FLOAT = {"Resize": (2,), "Upsample": (1,), "QuantizeLinear": (0, 1), "DequantizeLinear": (1,)}


def change_tensor(tensor, kind):
    if tensor.data_type in (FLOAT, HALF):
        numbers = numpy_helper.to_array(tensor).astype(KINDS[kind][1])
        tensor.CopyFrom(numpy_helper.from_array(numbers, tensor.name))


def change_type(value, kind):
    tensor = value.type.tensor_type
    if tensor.elem_type in (FLOAT, HALF):
        tensor.elem_type = KINDS[kind][0]


def change_node(node, kind):
    for a in node.attribute:
        if a.type == onnx.AttributeProto.TENSOR:
            change_tensor(a.t, kind)
        elif a.type == onnx.AttributeProto.GRAPH:
            change_graph(a.g, kind)
        elif a.name in ("to", "dtype") and a.type == onnx.AttributeProto.INT and a.i == FLOAT:
            a.i = KINDS[kind][0]
        elif node.op_type == "Constant" and a.name in ("value_float", "value_floats"):
            numbers = a.f if a.name == "value_float" else list(a.floats)
            changed = numpy_helper.from_array(numpy.array(numbers, dtype=KINDS[kind][1]))
            a.CopyFrom(onnx.helper.make_attribute("value", changed))


def keep_float(node, made):
    """Puts casts before the inputs that must stay float32."""
    for i in KEEPS_FLOAT.get(node.op_type, ()):
        if i < len(node.input) and node.input[i]:
            name = "%s/float%d" % (node.output[0], i)
            made.append(onnx.helper.make_node("Cast", [node.input[i]], [name], to=FLOAT))
            node.input[i] = name


def round_half(node, made):
    """A Cast to 16 bits rounds, then widens again."""
    if node.op_type == "Cast" and node.attribute[0].i == HALF:
        rounded = node.output[0] + "/half"
        made.append(onnx.helper.make_node("Cast", [rounded], [node.output[0]], to=TensorProto.DOUBLE))
        node.output[0] = rounded


def change_graph(graph, kind):
    for value in list(graph.input) + list(graph.output) + list(graph.value_info):
        change_type(value, kind)
    for tensor in graph.initializer:
        change_tensor(tensor, kind)
    nodes = []
    for node in graph.node:
        change_node(node, kind)
        keep_float(node, nodes)
        nodes.append(node)
        if kind == "double":
            round_half(node, nodes)
    del graph.node[:]
    graph.node.extend(nodes)


def main():
    kind, path, result = sys.argv[1:]
    model = onnx.load(path)
    if kind == "half" and any(t.data_type == HALF for t in model.graph.initializer):
        sys.exit("retype.py: %s holds 16-bit floats already" % path)
    change_graph(model.graph, kind)
    onnx.save(model, result)


if __name__ == "__main__":
    main()
