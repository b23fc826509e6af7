"""_binding.py - OrtValue and IOBinding of ONNX Runtime, on the arrays themselves: there is one device, the CPU."""
import ctypes
from typing import TYPE_CHECKING, Any, Dict, List, Optional, Sequence

import numpy as np

from . import _tensor
from ._library import Error, Status

if TYPE_CHECKING:
    from ._session import InferenceSession, RunOptions

_ORT_NAMES = {"float32": "float", "float64": "double"}


def _check_device(device: str) -> None:
    if device.lower() != "cpu":
        raise Error(Status.E_ARG, f"device '{device}' is not there, 'cpu' is")


class OrtValue:
    """A tensor, a list (sequence) or None (optional). Tensors are numpy arrays, shared and not copied."""

    def __init__(self, value: Any) -> None:
        self._value = value

    @staticmethod
    def ortvalue_from_numpy(numpy_obj: Any, device_type: str = "cpu", device_id: int = 0) -> "OrtValue":
        _check_device(device_type)
        return OrtValue(np.ascontiguousarray(_tensor.as_array(numpy_obj)).reshape(np.shape(numpy_obj)))

    @staticmethod
    def ortvalue_from_shape_and_type(
        shape: Sequence[int], element_type: Any, device_type: str = "cpu", device_id: int = 0
    ) -> "OrtValue":
        _check_device(device_type)
        array = _tensor.empty(_tensor.dtype_number(element_type), tuple(shape))
        if array is None:
            raise Error(Status.E_TYPE, f"no array of {element_type!r} can be made")
        return OrtValue(array)

    def numpy(self) -> Any:
        return self._value

    def is_tensor(self) -> bool:
        return isinstance(self._value, np.ndarray)

    def is_tensor_sequence(self) -> bool:
        return isinstance(self._value, list)

    def has_value(self) -> bool:
        return self._value is not None

    def shape(self) -> List[int]:
        return list(self._array().shape)

    def data_type(self) -> str:
        name = _tensor.NAME[_tensor.dtype_number(self._array().dtype)]
        return f"tensor({_ORT_NAMES.get(name, name)})"

    def data_ptr(self) -> int:
        return _tensor.address(self._array())

    def device_name(self) -> str:
        return "cpu"

    def update_inplace(self, np_arr: np.ndarray) -> None:
        """New numbers in the same memory."""
        array = self._array()
        if np_arr.shape != array.shape or np_arr.dtype != array.dtype:
            raise Error(Status.E_SHAPE, f"the array is {np_arr.dtype} {list(np_arr.shape)}, expected "
                                        f"{array.dtype} {list(array.shape)}")
        array[...] = np_arr

    def _array(self) -> np.ndarray:
        if not self.is_tensor():
            raise Error(Status.E_TYPE, f"the value is {type(self._value).__name__}, expected a tensor")
        return self._value


def _view(element_type: Any, shape: Optional[Sequence[int]], pointer: int) -> np.ndarray:
    """Memory of the caller as an array."""
    if shape is None:
        raise Error(Status.E_ARG, "a pointer was given without a shape")
    dtype = _tensor.NUMPY.get(_tensor.dtype_number(element_type))
    if dtype is None:
        raise Error(Status.E_TYPE, f"memory of {element_type!r} cannot be bound")
    size = int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
    return np.frombuffer((ctypes.c_char * size).from_address(pointer), dtype).reshape(tuple(shape))


class IOBinding:
    """What a session reads and writes, from run to run."""

    def __init__(self, session: "InferenceSession") -> None:
        self._session = session
        self._inputs: Dict[str, Any] = {}
        self._outputs: Dict[str, Optional[np.ndarray]] = {}  # None: made by the run
        self._results: List[Any] = []

    def bind_cpu_input(self, name: str, arr_on_cpu: Any) -> None:
        self._inputs[name] = arr_on_cpu

    def bind_ortvalue_input(self, name: str, ortvalue: OrtValue) -> None:
        self._inputs[name] = ortvalue

    def bind_input(
        self, name: str, device_type: str, device_id: int, element_type: Any, shape: Sequence[int], buffer_ptr: int
    ) -> None:
        """Memory of the caller, which must stay until the runs are over."""
        _check_device(device_type)
        self._inputs[name] = _view(element_type, shape, buffer_ptr)

    def bind_output(
        self,
        name: str,
        device_type: str = "cpu",
        device_id: int = 0,
        element_type: Any = None,
        shape: Optional[Sequence[int]] = None,
        buffer_ptr: Optional[int] = None,
    ) -> None:
        """Memory of the caller, or without a pointer memory that the run makes."""
        _check_device(device_type)
        self._outputs[name] = None if buffer_ptr is None else _view(element_type, shape, buffer_ptr)

    def bind_ortvalue_output(self, name: str, ortvalue: OrtValue) -> None:
        self._outputs[name] = ortvalue._array()

    def clear_binding_inputs(self) -> None:
        self._inputs.clear()

    def clear_binding_outputs(self) -> None:
        self._outputs.clear()
        self._results = []

    def synchronize_inputs(self) -> None:
        """The CPU has nothing to wait for."""

    def synchronize_outputs(self) -> None:
        """The CPU has nothing to wait for."""

    def get_outputs(self) -> List[OrtValue]:
        """What the last run gave, in the order the outputs were bound."""
        return [OrtValue(value) for value in self._results]

    def copy_outputs_to_cpu(self) -> List[Any]:
        return list(self._results)

    def _run(self, run_options: Optional["RunOptions"]) -> None:
        into = {name: array for name, array in self._outputs.items() if array is not None}
        names = list(self._outputs)
        results = self._session._run(names, self._inputs, run_options, into) if names else []
        for name, result in zip(names, results):
            if name in into and result.shape != into[name].shape:
                raise Error(Status.E_SHAPE, f"output '{name}' is {list(result.shape)}, the memory bound to it "
                                            f"{list(into[name].shape)}")
        self._results = results
