// drop.ts - any .onnx or .holo file: compile it here, show what became of it, run it on random inputs.
import { type CompileReport, type ElementType, Hologram, type Model, type Port, Tensor, type TensorData } from 'hologram';
import { get, make, save } from './dom';
import { bytes, count, median, time } from './format';

const ROUNDS = 10;

interface GraphFacts {
  kernels: { name: string; variant: string; steps: number; flops: number; bytes: number }[];
}

function say(text: string, isBad = false): void {
  const status = get('drop-status');
  status.textContent = text;
  status.classList.toggle('bad', isBad);
}

const message = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** Arrays by element type; types that have none here are not filled. */
function randomData(type: string, n: number): TensorData {
  switch (type) {
    case 'float32': return Float32Array.from({ length: n }, () => Math.random() * 2 - 1);
    case 'float64': return Float64Array.from({ length: n }, () => Math.random() * 2 - 1);
    case 'int64': return new BigInt64Array(n).fill(1n);
    case 'uint64': return new BigUint64Array(n).fill(1n);
    case 'int32': return new Int32Array(n).fill(1);
    case 'uint32': return new Uint32Array(n).fill(1);
    case 'int16': return new Int16Array(n).fill(1);
    case 'uint16': return new Uint16Array(n).fill(1);
    case 'int8': return Int8Array.from({ length: n }, () => Math.random() * 256 - 128);
    case 'uint8': return Uint8Array.from({ length: n }, () => Math.random() * 256);
    case 'bool': return Uint8Array.from({ length: n }, () => Math.round(Math.random()));
    case 'float16': return new Uint16Array(n).fill(0x3800);
    default: throw new Error(`inputs of type ${type} cannot be filled here`);
  }
}

function feedsOf(model: Model, sizes: Map<string, number>): Record<string, Tensor> {
  const feeds: Record<string, Tensor> = {};
  for (const port of model.inputs) {
    if (!port.shape) throw new Error(`the rank of input '${port.name}' is open`);
    const dims = port.shape.map((dim) => (typeof dim === 'number' ? dim : sizes.get(dim) ?? 1));
    const n = dims.reduce((a, b) => a * b, 1);
    if (n > 1e8) throw new Error(`input '${port.name}' would have ${count(n)} elements`);
    feeds[port.name] = new Tensor(port.type as ElementType, randomData(port.type, n), dims);
  }
  return feeds;
}

const shapeText = (port: Port): string => `${port.type}[${port.shape ? port.shape.join(', ') : '?'}]`;

function cards(facts: [string, string][]): HTMLElement {
  return make('dl', { class: 'cards' },
    ...facts.map(([name, value]) => make('div', {}, make('dt', {}, name), make('dd', {}, value))));
}

function portTable(title: string, ports: readonly Port[]): HTMLElement {
  return make('table', {}, make('caption', {}, title),
    make('tbody', {}, ...ports.map((port) => make('tr', {}, make('th', { scope: 'row' }, port.name), make('td', {}, shapeText(port))))));
}

function kernelTable(graph: GraphFacts): HTMLElement {
  const rows = graph.kernels.slice(0, 12).map((k) =>
    make('tr', {}, make('th', { scope: 'row' }, k.name), make('td', {}, k.variant), make('td', {}, count(k.steps)),
      make('td', {}, k.flops > 0 ? `${(k.flops / 1e6).toFixed(1)} MFLOP` : '–')));
  const head = ['Kernel', 'Variant', 'Steps', 'Work'].map((text) => make('th', { scope: 'col' }, text));
  return make('div', { class: 'scroll' }, make('table', {}, make('caption', {}, 'Kernels'),
    make('thead', {}, make('tr', {}, ...head)), make('tbody', {}, ...rows)));
}

/** Number fields for symbolic dimensions; unnamed ones are 1. */
function sizeFields(model: Model): { element: HTMLElement; sizes: () => Map<string, number> } {
  const names = new Set(model.inputs.flatMap((port) => (port.shape ?? []).filter((dim): dim is string => typeof dim === 'string' && dim !== '?')));
  const fields = [...names].map((name) => ({ name, input: make('input', { type: 'number', min: '1', max: '65536', value: '1' }) }));
  const element = make('div', { class: 'sizes' }, ...fields.map(({ name, input }) => make('label', {}, name, input)));
  return { element, sizes: () => new Map(fields.map(({ name, input }) => [name, Number(input.value) || 1])) };
}

async function measure(model: Model, sizes: Map<string, number>, result: HTMLElement): Promise<void> {
  const feeds = feedsOf(model, sizes);
  result.textContent = 'running …';
  let start = performance.now();
  const out = await model.run(feeds);
  const first = (performance.now() - start) / 1e3;
  const taken: number[] = [];
  while (taken.length < ROUNDS && taken.reduce((a, b) => a + b, 0) < 3) {
    start = performance.now();
    await model.run(feeds);
    taken.push((performance.now() - start) / 1e3);
  }
  const shapes = Object.entries(out).map(([name, t]) => `${name} ${t.type}[${t.dims.join(', ')}]`).join(', ');
  result.textContent = `first run ${time(first)}, then ${time(median(taken))} (median of ${taken.length}) → ${shapes}`;
}

/** What became of a file; one that was compiled elsewhere has no report. */
interface Compiled {
  holo: Uint8Array;
  report?: CompileReport;
  seconds: number;
}

function factsOf({ holo, report, seconds }: Compiled, graph: GraphFacts): [string, string][] {
  const steps = graph.kernels.reduce((sum, kernel) => sum + kernel.steps, 0);
  if (!report) return [['File', bytes(holo.length)], ['Kernels', count(graph.kernels.length)], ['Calls of kernels', count(steps)]];
  return [['File', bytes(report.file_bytes)], ['Nodes', `${count(report.nodes_before)} → ${count(report.nodes_after)}`],
    ['Steps', count(report.steps)], ['Weights', bytes(report.weight_bytes)],
    ['Memory', report.arena_bytes > 0 ? bytes(report.arena_bytes) : 'by input sizes'], ['Compiled in', time(seconds)]];
}

/** The report of one model; replaces the one before. */
async function show(file: File, compiled: Compiled): Promise<Model> {
  const { holo } = compiled;
  const box = get('report');
  const model = await Hologram.open(holo.slice(), {});
  const facts = JSON.parse(await Hologram.inspect(holo.slice(), 'json')) as { graphs: GraphFacts[] };
  const stem = file.name.replace(/\.(onnx|holo)$/i, '');
  const result = make('p', { class: 'status', role: 'status' });
  const { element, sizes } = sizeFields(model);
  const run = make('button', { type: 'button', class: 'primary' }, 'Run on random inputs');
  run.style.flex = 'none';
  run.addEventListener('click', () => {
    run.disabled = true;
    result.classList.remove('bad');
    measure(model, sizes(), result)
      .catch((error: unknown) => {
        result.textContent = message(error);
        result.classList.add('bad');
      })
      .finally(() => { run.disabled = false; });
  });
  const keep = make('button', { type: 'button' }, `Save ${stem}.holo`);
  keep.addEventListener('click', () => save(`${stem}.holo`, new Blob([holo as BlobPart], { type: 'application/octet-stream' })));
  const whole = make('button', { type: 'button' }, 'Whole report');
  whole.addEventListener('click', async () => {
    whole.disabled = true;
    const page = await Hologram.inspect(holo.slice(), 'html');
    box.append(make('iframe', { title: `Report of ${file.name}`, sandbox: '', srcdoc: page }));
  });
  box.replaceChildren(
    make('h3', {}, file.name),
    cards(factsOf(compiled, facts.graphs[0])),
    make('div', { class: 'scroll' }, portTable('Inputs', model.inputs), portTable('Outputs', model.outputs)),
    kernelTable(facts.graphs[0]), element, make('div', { class: 'row' }, run, keep, whole), result);
  box.hidden = false;
  box.focus();
  return model;
}

async function compile(file: File, bar: HTMLProgressElement): Promise<Compiled> {
  if (/\.holo$/i.test(file.name)) return { holo: new Uint8Array(await file.arrayBuffer()), seconds: 0 };
  say(`Compiling ${file.name} (${bytes(file.size)}) …`);
  const start = performance.now();
  const { bytes: holo, report } = await Hologram.compile(file, {
    onStage: ({ stage, done, total }) => {
      bar.value = total > 0 ? done / total : 0;
      say(`Compiling ${file.name}: ${stage}`);
    },
  });
  return { holo, report, seconds: (performance.now() - start) / 1e3 };
}

/** Files may fall anywhere: a browser would leave the page for one that misses a zone. */
function acceptFiles(zone: HTMLElement, take: (file: File) => void): void {
  for (const kind of ['dragenter', 'dragover'])
    window.addEventListener(kind, (event) => {
      event.preventDefault();
      zone.classList.add('over');
    });
  window.addEventListener('dragleave', (event) => {
    if (event.relatedTarget === null) zone.classList.remove('over');
  });
  window.addEventListener('drop', (event) => {
    event.preventDefault();
    zone.classList.remove('over');
    const file = event.dataTransfer?.files[0];
    if (!file) return;
    zone.scrollIntoView({ block: 'center' });
    take(file);
  });
}

export function startDrop(): void {
  const zone = get('drop');
  const input = get<HTMLInputElement>('file');
  const bar = get<HTMLProgressElement>('drop-progress');
  let open: Model | null = null;
  let isBusy = false;

  const take = async (file: File): Promise<void> => {
    if (isBusy) return;
    isBusy = true;
    bar.hidden = false;
    bar.value = 0;
    try {
      open?.dispose();
      open = null;
      const compiled = await compile(file, bar);
      open = await show(file, compiled);
      const size = bytes(compiled.holo.length);
      say(compiled.report ? `${file.name} became ${size} in ${time(compiled.seconds)}.` : `${file.name} is open, ${size}.`);
    } catch (error) {
      get('report').hidden = true;
      say(`${file.name} cannot be used: ${message(error)}`, true);
    } finally {
      isBusy = false;
      bar.hidden = true;
      input.value = '';
    }
  };

  input.addEventListener('change', () => { if (input.files?.[0]) void take(input.files[0]); });
  acceptFiles(zone, (file) => void take(file));
}
