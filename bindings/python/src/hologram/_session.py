"""_session.py - the interface of ONNX Runtime: `import hologram as ort`, and what runs models stays as it is."""
import enum
import os
from typing import Any, Dict, List, Mapping, NamedTuple, Optional, Sequence, Union

from ._compile import Source, compile_to_memory, is_path, model_bytes, options
from ._library import Error, Status
from ._model import Model, Port

_MAGIC = b"HOLO\r\n\x1a\n"
_PROVIDER = "CPUExecutionProvider"
_ORT_NAMES = {"float32": "float", "float64": "double"}


class GraphOptimizationLevel(enum.IntEnum):
    ORT_DISABLE_ALL = 0
    ORT_ENABLE_BASIC = 1
    ORT_ENABLE_EXTENDED = 2
    ORT_ENABLE_ALL = 99


class ExecutionMode(enum.IntEnum):
    ORT_SEQUENTIAL = 0
    ORT_PARALLEL = 1


class SessionOptions:
    """Options of a session. Read are intra_op_num_threads, graph_optimization_level (all or nothing), the free
    dimensions and numerics ("fast" or "exact"); the others may be set and mean nothing here."""

    def __init__(self) -> None:
        self.intra_op_num_threads = 0
        self.inter_op_num_threads = 0
        self.graph_optimization_level = GraphOptimizationLevel.ORT_ENABLE_ALL
        self.execution_mode = ExecutionMode.ORT_SEQUENTIAL
        self.log_severity_level = 2
        self.numerics = "fast"
        self._dims: Dict[str, int] = {}

    def add_free_dimension_override_by_name(self, name: str, value: int) -> None:
        self._dims[name] = value

    def add_session_config_entry(self, key: str, value: str) -> None:
        """Accepted and without a meaning here."""


class RunOptions:
    """Accepted by run and without a meaning here."""


class NodeArg(NamedTuple):
    """An input or output: shape has numbers, names of open dimensions and None."""

    name: str
    type: str
    shape: List[Union[int, str, None]]


class ModelMetadata(NamedTuple):
    producer_name: str
    graph_name: str
    domain: str
    description: str
    graph_description: str
    version: int
    custom_metadata_map: Dict[str, str]


def _node_arg(port: Port) -> NodeArg:
    kinds = {"sequence": "seq(tensor)", "optional": "optional(tensor)", "map": "map"}
    name = _ORT_NAMES.get(port.dtype, port.dtype)
    return NodeArg(port.name, kinds.get(port.dtype, f"tensor({name})"), list(port.shape or ()))


def _is_holo(source: Source) -> bool:
    if not is_path(source):
        return model_bytes(source)[: len(_MAGIC)].tobytes() == _MAGIC
    try:
        with open(source, "rb") as file:
            return file.read(len(_MAGIC)) == _MAGIC
    except OSError as reason:
        raise Error(Status.E_IO, f"{os.fspath(source)}: {reason.strerror}") from None


class InferenceSession:
    """Runs a model: .onnx (compiled in memory first) or .holo, a path or bytes. Threads may share it."""

    def __init__(
        self,
        path_or_bytes: Source,
        sess_options: Optional[SessionOptions] = None,
        providers: Optional[Sequence[Any]] = None,
        provider_options: Optional[Sequence[Any]] = None,
        **_others: Any,
    ) -> None:
        self._options = sess_options or SessionOptions()
        if not _is_holo(path_or_bytes):
            level = self._options.graph_optimization_level
            optimize = level != GraphOptimizationLevel.ORT_DISABLE_ALL
            chosen = options(self._options._dims, None, self._options.numerics, optimize)
            path_or_bytes = compile_to_memory(path_or_bytes, chosen)
        self._model = Model(path_or_bytes, threads=self._options.intra_op_num_threads)

    def run(
        self,
        output_names: Optional[Sequence[str]],
        input_feed: Mapping[str, Any],
        run_options: Optional[RunOptions] = None,
    ) -> List[Any]:
        """The outputs of those names, or all of them, in order."""
        return self._model.run_list(input_feed, output_names)

    def get_inputs(self) -> List[NodeArg]:
        return [_node_arg(port) for port in self._model.inputs]

    def get_outputs(self) -> List[NodeArg]:
        return [_node_arg(port) for port in self._model.outputs]

    def get_overridable_initializers(self) -> List[NodeArg]:
        return []

    def get_modelmeta(self) -> ModelMetadata:
        rest = self._model.metadata
        version = rest.pop("version", "0")
        return ModelMetadata(
            producer_name=rest.pop("producer", ""),
            graph_name=self._model.name,
            domain=rest.pop("domain", ""),
            description=rest.pop("doc", ""),
            graph_description="",
            version=int(version) if version.lstrip("-").isdigit() else 0,
            custom_metadata_map=rest,
        )

    def get_providers(self) -> List[str]:
        return [_PROVIDER]

    def get_provider_options(self) -> Dict[str, Dict[str, str]]:
        return {_PROVIDER: {}}

    def set_providers(self, providers: Optional[Sequence[Any]] = None, provider_options: Any = None) -> None:
        """Accepted: there is one provider, the CPU."""

    def get_session_options(self) -> SessionOptions:
        return self._options


def get_available_providers() -> List[str]:
    return [_PROVIDER]


def get_all_providers() -> List[str]:
    return [_PROVIDER]


def get_device() -> str:
    return "CPU"
