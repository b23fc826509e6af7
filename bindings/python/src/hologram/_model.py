"""_model.py - opening a model and running it, from any number of threads."""
import os
import weakref
from ctypes import byref, c_void_p, sizeof
from typing import Any, Callable, Dict, List, Mapping, NamedTuple, Optional, Sequence, Tuple, Union

import numpy as np

from . import _library as native
from . import _tensor
from ._compile import Source, is_path, model_bytes
from ._library import Error, Status, call, lib, name, path, whole

Outputs = Dict[str, Any]


class Port(NamedTuple):
    """What a graph takes or gives."""

    name: str
    dtype: str  # "float32", "string", "sequence", ...
    shape: Optional[Tuple[Union[int, str, None], ...]]  # a word is an open dimension; None: known only at run time

    def sizes(self, symbols: Mapping[str, int]) -> Optional[Tuple[int, ...]]:
        """The shape in numbers if the symbols decide it."""
        if self.shape is None:
            return None
        sizes = tuple(symbols.get(d, -1) if isinstance(d, str) else -1 if d is None else d for d in self.shape)
        return None if -1 in sizes else sizes


def _port(handle: int, graph: int, index: int, function: Callable[..., int]) -> Port:
    port = native.holo_port()
    if function(handle, graph, index, byref(port)) != 0:
        raise Error(Status.E_BUG, f"port {index} of graph {graph} cannot be read")
    dims = zip(port.dim[: max(0, port.rank)], port.dim_name)
    shape = tuple(size if size >= 0 else name(symbol) or None for size, symbol in dims)
    return Port(name(port.name), _tensor.NAME.get(port.dtype, "none"), None if port.rank < 0 else shape)


class Cache:
    """One array as an input and as the output that continues it, for keys and values of a decoder.

    The first `length` rows of `array` along `axis` are the input; a run writes new rows behind them in place and
    adds their number to `length`. `array.shape[axis]` is the capacity."""

    def __init__(self, array: np.ndarray, output: str, *, axis: int = 2, length: int = 0) -> None:
        if not array.flags.c_contiguous or not array.flags.writeable:
            raise Error(Status.E_ARG, "a cache must be a contiguous array that can be written")
        self.array = array
        self.output = output
        self.axis = axis
        self.length = length

    def rows(self) -> np.ndarray:
        """The rows that are used: a view."""
        return self.array[(slice(None),) * self.axis + (slice(0, self.length),)]


class _Session:
    """One holo_session: memory for one run at a time."""

    def __init__(self, model: "Model") -> None:
        chosen = native.holo_session_options(struct_size=sizeof(native.holo_session_options), graph=model.graph)
        chosen.flags = native.SESSION_GROW
        chosen.pool = model._pool
        handle = c_void_p()
        call(lib.holo_session_new, model._handle, byref(chosen), byref(handle))
        self.handle = handle.value
        self.input = [native.holo_tensor() for _ in model.inputs]
        self.pid = os.getpid()

    def bind_inputs(self, model: "Model", values: Sequence[Any], keep: List[Any]) -> Dict[str, int]:
        """Binds the arrays themselves; returns the sizes they give to named dimensions."""
        symbols: Dict[str, int] = {}
        for i, (port, tensor, value) in enumerate(zip(model.inputs, self.input, values)):
            array = value.array if isinstance(value, Cache) else value
            try:
                _tensor.fill(tensor, array, _tensor.NUMBER.get(port.dtype, 0), keep)
            except Error as error:
                raise Error(error.status, f"input '{port.name}': {error}") from None
            if isinstance(value, Cache):
                if tensor.data != _tensor.address(array):
                    raise Error(Status.E_TYPE, f"input '{port.name}': the cache is {array.dtype}, expected {port.dtype}")
                call(lib.holo_session_set_cache, self.handle, i, model._output(value.output), byref(tensor),
                     value.axis, value.length)
                tensor.dim[value.axis] = value.length
            else:
                call(lib.holo_session_set_input, self.handle, i, byref(tensor))
            for size, symbol in zip(tensor.dim, port.shape or ()):
                if isinstance(symbol, str):
                    symbols[symbol] = size
        return symbols

    def bind_outputs(
        self, model: "Model", symbols: Mapping[str, int], caches: Mapping[int, Cache], into: Mapping[int, np.ndarray]
    ) -> List[Optional[np.ndarray]]:
        """The caller's arrays, or new ones for the outputs whose size is known before the run: results are written in
        place."""
        arrays: List[Optional[np.ndarray]] = []
        for i, port in enumerate(model.outputs):
            if i in caches:
                arrays.append(None)
                continue
            array = into.get(i)
            if array is not None:
                _check_into(port, array)
            else:
                array = self.new_output(port, port.sizes(symbols))
            if array is not None and array.nbytes == 0:
                array = None
            call(lib.holo_session_set_output, self.handle, i,
                 None if array is None else _tensor.address(array), 0 if array is None else array.nbytes)
            arrays.append(array)
        return arrays

    def new_output(self, port: Port, sizes: Optional[Tuple[int, ...]]) -> Optional[np.ndarray]:
        try:
            return None if sizes is None else _tensor.empty(_tensor.NUMBER.get(port.dtype, 0), sizes)
        except (MemoryError, ValueError):  # the library says better what is too large
            return None

    def run(
        self, model: "Model", values: Sequence[Any], wanted: Sequence[int], into: Mapping[int, np.ndarray]
    ) -> List[Any]:
        keep: List[Any] = []
        caches = {model._output(value.output): value for value in values if isinstance(value, Cache)}
        symbols = self.bind_inputs(model, values, keep)
        arrays = self.bind_outputs(model, symbols, caches, into)
        try:
            call(lib.holo_session_run, self.handle)
        except Error as error:
            if error.status != Status.E_ARG or caches or into:
                raise
            # The model declares a smaller output than it gives: take it from the session's memory instead.
            arrays = [None] * len(arrays)
            for i in range(len(arrays)):
                call(lib.holo_session_set_output, self.handle, i, None, 0)
            call(lib.holo_session_run, self.handle)
        for i, cache in caches.items():
            cache.length = lib.holo_session_cache_length(self.handle, i)
        return [caches[i].rows() if i in caches else self.result(i, arrays[i]) for i in wanted]

    def result(self, index: int, array: Optional[np.ndarray]) -> Any:
        tensor = native.holo_tensor()
        call(lib.holo_session_output, self.handle, index, byref(tensor))
        if array is None:
            return _tensor.read(tensor)
        shape = tuple(tensor.dim[: tensor.rank])
        if array.shape == shape:
            return array
        return array.reshape(-1)[: int(np.prod(shape, dtype=np.int64))].reshape(shape)


def _check_into(port: Port, array: np.ndarray) -> None:
    """An array that a result can be written to: what the library cannot see."""
    wanted = _tensor.NUMBER.get(port.dtype, 0)
    if _tensor.dtype_number(array.dtype) != wanted:
        raise Error(Status.E_TYPE, f"output '{port.name}': the array is {array.dtype}, expected {port.dtype}")
    if not array.flags.c_contiguous or not array.flags.writeable:
        raise Error(Status.E_ARG, f"output '{port.name}': the array must be contiguous and writeable")


def _release(handle: int, pool: Optional[int], pid: int, sessions: List[_Session]) -> None:
    for session in sessions:
        if session.pid == os.getpid():
            lib.holo_session_free(session.handle)
    if pool is not None and pid == os.getpid():  # after a fork its threads are elsewhere
        lib.holo_pool_free(pool)
    lib.holo_model_free(handle)


def _new_pool(threads: int) -> Optional[int]:
    if threads <= 1:
        return None
    pool = c_void_p()
    call(lib.holo_pool_new, whole(threads, "threads", 32), None, byref(pool))
    return pool.value


def usable_cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class Model:
    """An opened model. Immutable: threads may share it, each run takes a session of its own.

    threads: how many a run may use, 0 for all cores of this process. Results do not depend on it."""

    def __init__(self, source: Source, *, graph: int = 0, threads: int = 0) -> None:
        self._memory: Optional[np.ndarray] = None if is_path(source) else model_bytes(source)
        self._handle = self._open(source)
        try:
            self.graph = graph
            self.threads = threads or usable_cores()
            self._sessions: List[_Session] = []
            self._start()
        except BaseException:
            lib.holo_model_free(self._handle)
            raise
        self.inputs = self._ports(lib.holo_model_input_count, lib.holo_model_input)
        self.outputs = self._ports(lib.holo_model_output_count, lib.holo_model_output)

    def _open(self, source: Source) -> int:
        chosen = native.holo_open_options(struct_size=sizeof(native.holo_open_options), extra=native.EXTRA)
        handle = c_void_p()
        if self._memory is None:
            call(lib.holo_model_open_file, path(source), native.KERNELS, byref(chosen), byref(handle))
            return handle.value
        pointer = _tensor.address(self._memory)
        # Memory that others may write to, or that is not aligned, is copied.
        if pointer % 64 != 0 or self._memory.flags.writeable:
            chosen.flags = native.OPEN_COPY
        size = self._memory.size
        call(lib.holo_model_open_memory, pointer, size, native.KERNELS, byref(chosen), byref(handle))
        if chosen.flags:
            self._memory = None
        return handle.value

    def _start(self) -> None:
        """The thread pool, and a new list of idle sessions."""
        count = lib.holo_model_graph_count(self._handle)
        if not 0 <= self.graph < count:
            raise Error(Status.E_ARG, f"graph {self.graph} was asked for, the model has {count}")
        self._pool = _new_pool(self.threads)
        self._pid = os.getpid()
        self._sessions = []
        # At exit nothing is freed: a daemon thread may still be running the model.
        self._finalizer = weakref.finalize(self, _release, self._handle, self._pool, self._pid, self._sessions)
        self._finalizer.atexit = False

    def _ports(self, count: Callable[..., int], port: Callable[..., int]) -> Tuple[Port, ...]:
        n = count(self._handle, self.graph)
        return tuple(_port(self._handle, self.graph, i, port) for i in range(n))

    @property
    def name(self) -> str:
        return name(lib.holo_model_graph_name(self._handle, self.graph))

    @property
    def metadata(self) -> Dict[str, str]:
        """What the model says about itself: producer, doc, license, ..."""
        found: Dict[str, str] = {}

        def visit(_user: Any, key: bytes, value: bytes) -> None:
            found[name(key)] = name(value)

        lib.holo_model_metadata(self._handle, native.VISIT(visit), None)
        return found

    def _session(self) -> _Session:
        """An idle session or a new one. The threads of a pool do not survive a fork, so a child starts its own."""
        if self._pid != os.getpid():
            self._finalizer.detach()
            self._start()
        try:
            return self._sessions.pop()
        except IndexError:
            return _Session(self)

    def _values(self, feeds: Union[Mapping[str, Any], Sequence[Any]]) -> List[Any]:
        names = [port.name for port in self.inputs]
        if not isinstance(feeds, Mapping):
            if len(feeds) != len(names):
                raise Error(Status.E_ARG, f"{len(feeds)} inputs were given, the model has {len(names)}: {names}")
            return list(feeds)
        for given in feeds:
            if given not in names:
                raise Error(Status.E_ARG, f"there is no input '{given}', the model has {names}")
        for needed in names:
            if needed not in feeds:
                raise Error(Status.E_STATE, f"input '{needed}' was not given, the model has {names}")
        return [feeds[needed] for needed in names]

    def _output(self, name: str) -> int:
        known = [port.name for port in self.outputs]
        if name not in known:
            raise Error(Status.E_ARG, f"there is no output '{name}', the model has {known}")
        return known.index(name)

    def run_list(
        self,
        feeds: Union[Mapping[str, Any], Sequence[Any]],
        names: Optional[Sequence[str]] = None,
        *,
        into: Optional[Mapping[str, np.ndarray]] = None,
        on_start: Optional[Callable[[Callable[[], None]], Callable[[], bool]]] = None,
    ) -> List[Any]:
        """Runs the model once; the outputs called `names`, or all, in order.

        into: arrays that outputs are written to. on_start is given a function that cancels the run from another thread, and
        returns one that is called when it has ended and says whether it was cancelled."""
        wanted = [self._output(asked) for asked in names] if names else range(len(self.outputs))
        given = {self._output(name): array for name, array in (into or {}).items()}
        values = self._values(feeds)
        session = self._session()
        sessions = self._sessions
        ended = on_start(lambda: lib.holo_session_cancel(session.handle)) if on_start else lambda: False
        try:
            return session.run(self, values, wanted, given)
        finally:
            if ended():  # a cancel that came too late would be for the next run
                lib.holo_session_free(session.handle)
            else:
                sessions.append(session)

    def run(self, feeds: Union[Mapping[str, Any], Sequence[Any], None] = None, /, **inputs: Any) -> Outputs:
        """Runs the model once: {"x": array}, a list in the order of the inputs, or x=array. Returns outputs by name.

        Arrays go in without a copy; those that come out belong to the caller."""
        results = self.run_list(inputs if feeds is None else feeds)
        return dict(zip((port.name for port in self.outputs), results))

    def __repr__(self) -> str:
        def show(ports: Sequence[Port]) -> str:
            return ", ".join(f"{p.name}: {p.dtype} {list(p.shape) if p.shape is not None else '?'}" for p in ports)

        return f"<hologram.Model {self.name!r}: {show(self.inputs)} -> {show(self.outputs)}>"


def open_model(source: Source, *, graph: int = 0, threads: int = 0) -> Model:
    """Opens a .holo file, which is mapped, or the bytes of one.

    graph: which, when the file holds several; threads: how many a run may use, 0 for all cores."""
    return Model(source, graph=graph, threads=threads)
