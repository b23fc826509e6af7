"""_session.py - the interface of ONNX Runtime: `import hologram as ort`, and what runs models stays as it is."""
import enum
import os
import threading
import warnings
from typing import Any, Callable, Dict, List, Mapping, NamedTuple, Optional, Sequence, Set, Union

from ._binding import IOBinding, OrtValue
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
    """Options of a run. `terminate = True`, from any thread, stops the runs that were given these options, and those that
    begin while it is set; the others may be set and mean nothing here."""

    def __init__(self) -> None:
        self.log_severity_level = 2
        self.log_verbosity_level = 0
        self.logid = ""
        self.only_execute_path_to_fetches = False
        self._lock = threading.Lock()
        self._terminate = False
        self._running: Set[Callable[[], None]] = set()

    @property
    def terminate(self) -> bool:
        return self._terminate

    @terminate.setter
    def terminate(self, value: bool) -> None:
        with self._lock:
            self._terminate = bool(value)
            for cancel in self._running if value else ():
                cancel()

    def add_run_config_entry(self, key: str, value: str) -> None:
        """Accepted and without a meaning here."""

    def _start(self, cancel: Callable[[], None]) -> Callable[[], bool]:
        with self._lock:
            self._running.add(cancel)
            if self._terminate:
                cancel()

        def ended() -> bool:
            with self._lock:
                self._running.discard(cancel)
                return self._terminate

        return ended


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


def _warn_about(providers: Optional[Sequence[Any]]) -> None:
    names = [p if isinstance(p, str) else p[0] for p in providers or ()]
    for unknown in (name for name in names if name != _PROVIDER):
        warnings.warn(f"Specified provider '{unknown}' is not in available provider names. "
                      f"Available providers: '{_PROVIDER}'", stacklevel=3)


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
        _warn_about(providers)
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
        return self._run(output_names, input_feed, run_options)

    def _run(
        self,
        names: Optional[Sequence[str]],
        feeds: Mapping[str, Any],
        run_options: Optional[RunOptions],
        into: Optional[Mapping[str, Any]] = None,
    ) -> List[Any]:
        feeds = {name: value.numpy() if isinstance(value, OrtValue) else value for name, value in feeds.items()}
        on_start = run_options._start if run_options is not None else None
        return self._model.run_list(feeds, names, into=into, on_start=on_start)

    def run_with_ort_values(
        self,
        output_names: Optional[Sequence[str]],
        input_dict_ort_values: Mapping[str, OrtValue],
        run_options: Optional[RunOptions] = None,
    ) -> List[OrtValue]:
        """As run, with OrtValues in and out."""
        return [OrtValue(value) for value in self._run(output_names, input_dict_ort_values, run_options)]

    def io_binding(self) -> IOBinding:
        """Inputs and outputs that stay bound from run to run."""
        return IOBinding(self)

    def run_with_iobinding(self, iobinding: IOBinding, run_options: Optional[RunOptions] = None) -> None:
        """Reads what is bound as inputs and writes to what is bound as outputs."""
        iobinding._run(run_options)

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
        """There is one provider, the CPU."""
        _warn_about(providers)

    def disable_fallback(self) -> None:
        """Accepted and without a meaning here."""

    def enable_fallback(self) -> None:
        """Accepted and without a meaning here."""

    def get_session_options(self) -> SessionOptions:
        return self._options


def get_available_providers() -> List[str]:
    return [_PROVIDER]


def get_all_providers() -> List[str]:
    return [_PROVIDER]


def get_device() -> str:
    return "CPU"


def set_default_logger_severity(_severity: int) -> None:
    """Accepted and without a meaning here: the library never prints."""
