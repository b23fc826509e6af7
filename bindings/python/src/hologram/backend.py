"""backend.py - the interface of onnx.backend, for the official test runner and other tools. Needs the onnx package."""
from typing import Any, List, Sequence, Tuple

import numpy as np
import onnx
from onnx import helper
from onnx.backend.base import Backend, BackendRep, namedtupledict

from ._compile import compile_to_memory, options
from ._model import Model


class HologramRep(BackendRep):
    """A compiled model."""

    def __init__(self, model: Model) -> None:
        self._model = model

    def run(self, inputs: Any, **kwargs: Any) -> Tuple[Any, ...]:
        feeds = inputs if isinstance(inputs, (dict, list, tuple)) else [inputs]
        names = [port.name for port in self._model.outputs]
        return namedtupledict("Outputs", names)(*self._model.run_list(feeds))


def _value_info(name: str, value: Any) -> onnx.ValueInfoProto:
    if isinstance(value, (list, tuple)):
        first = np.asarray(value[0]) if value else np.zeros(0, np.float32)
        return helper.make_tensor_sequence_value_info(name, _element(first), None)
    array = np.asarray(value)
    return helper.make_tensor_value_info(name, _element(array), array.shape)


def _element(array: np.ndarray) -> int:
    if array.dtype.kind in "USO":
        return onnx.TensorProto.STRING
    return onnx.mapping.NP_TYPE_TO_TENSOR_TYPE[array.dtype] if hasattr(onnx, "mapping") else (
        helper.np_dtype_to_tensor_dtype(array.dtype))


class HologramBackend(Backend):
    @classmethod
    def is_compatible(cls, model: onnx.ModelProto, device: str = "CPU", **kwargs: Any) -> bool:
        return cls.supports_device(device)

    @classmethod
    def prepare(cls, model: onnx.ModelProto, device: str = "CPU", **kwargs: Any) -> HologramRep:
        """kwargs: dims, shapes, numerics and the other options of hologram.compile."""
        if not cls.supports_device(device):
            raise ValueError(f"device '{device}' is not supported, 'CPU' is")
        return HologramRep(Model(compile_to_memory(model, options(**kwargs))))

    @classmethod
    def run_model(cls, model: onnx.ModelProto, inputs: Any, device: str = "CPU", **kwargs: Any) -> Tuple[Any, ...]:
        return cls.prepare(model, device, **kwargs).run(inputs)

    @classmethod
    def run_node(
        cls, node: onnx.NodeProto, inputs: Sequence[Any], device: str = "CPU", outputs_info: Any = None, **kwargs: Any
    ) -> Tuple[Any, ...]:
        """Runs one node of the newest opset, or of opset_version."""
        opset = kwargs.pop("opset_version", onnx.defs.onnx_opset_version())
        names: List[str] = list(dict.fromkeys(name for name in node.input if name))
        ins = [_value_info(name, value) for name, value in zip(names, inputs)]
        outs = [onnx.ValueInfoProto(name=name) for name in node.output if name]
        graph = helper.make_graph([node], "node", ins, outs)
        imports = [helper.make_opsetid("", opset)]
        if node.domain not in ("", "ai.onnx"):
            imports.append(helper.make_opsetid(node.domain, 1))
        return cls.run_model(helper.make_model(graph, opset_imports=imports), list(inputs), device, **kwargs)

    @classmethod
    def supports_device(cls, device: str) -> bool:
        return device.split(":")[0].upper() == "CPU"


is_compatible = HologramBackend.is_compatible
prepare = HologramBackend.prepare
run_model = HologramBackend.run_model
run_node = HologramBackend.run_node
supports_device = HologramBackend.supports_device
