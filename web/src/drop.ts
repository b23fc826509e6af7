// drop.ts - any .onnx file: compile it here, show what became of it, run it on random inputs.
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

/** The report of one compiled model; replaces the one before. */
async function show(file: File, holo: Uint8Array, report: CompileReport, seconds: number): Promise<Model> {
  const box = get('report');
  const model = await Hologram.open(holo.slice(), {});
  const facts = JSON.parse(await Hologram.inspect(holo.slice(), 'json')) as { graphs: GraphFacts[] };
  const stem = file.name.replace(/\.onnx$/i, '');
  const result = make('p', { class: 'status', role: 'status' });
  const { element, sizes } = sizeFields(model);
  const run = make('button', { type: 'button', class: 'primary' }, 'Run on random inputs');
  run.style.flex = 'none';
  run.addEventListener('click', () => {
    run.disabled = true;
    measure(model, sizes(), result)
      .catch((error: unknown) => { result.textContent = message(error); })
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
    cards([['File', bytes(report.file_bytes)], ['Nodes', `${count(report.nodes_before)} → ${count(report.nodes_after)}`],
      ['Steps', count(report.steps)], ['Weights', bytes(report.weight_bytes)],
      ['Memory', report.arena_bytes > 0 ? bytes(report.arena_bytes) : 'by input sizes'], ['Compiled in', time(seconds)]]),
    make('div', { class: 'scroll' }, portTable('Inputs', model.inputs), portTable('Outputs', model.outputs)),
    kernelTable(facts.graphs[0]), element, make('div', { class: 'row' }, run, keep, whole), result);
  box.hidden = false;
  box.focus();
  return model;
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
      say(`Compiling ${file.name} (${bytes(file.size)}) …`);
      const start = performance.now();
      const { bytes: holo, report } = await Hologram.compile(file, {
        onStage: ({ stage, done, total }) => {
          bar.value = total > 0 ? done / total : 0;
          say(`Compiling ${file.name}: ${stage}`);
        },
      });
      const seconds = (performance.now() - start) / 1e3;
      open = await show(file, holo, report, seconds);
      say(`${file.name} became ${bytes(holo.length)} in ${time(seconds)}.`);
    } catch (error) {
      get('report').hidden = true;
      say(message(error), true);
    } finally {
      isBusy = false;
      bar.hidden = true;
      input.value = '';
    }
  };

  input.addEventListener('change', () => { if (input.files?.[0]) void take(input.files[0]); });
  for (const kind of ['dragenter', 'dragover'])
    zone.addEventListener(kind, (event) => {
      event.preventDefault();
      zone.classList.add('over');
    });
  for (const kind of ['dragleave', 'drop']) zone.addEventListener(kind, () => zone.classList.remove('over'));
  zone.addEventListener('drop', (event) => {
    event.preventDefault();
    const file = event.dataTransfer?.files[0];
    if (file) void take(file);
  });
}
