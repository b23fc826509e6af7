// bench.ts - one model with one runtime, for `./dev bench web`; web/test/bench.mjs drives it.
import type { Feed } from './engine';

interface Job {
  name: string;
  /** "name:type:dims:fill;...", as in bench/lib.py. */
  inputs: string;
  threads: number;
}

interface Runner {
  run(feeds: Record<string, Feed>): Promise<ArrayLike<number>[]>;
  dispose(): void;
}

type Kind = 'hologram' | 'ort';

/** xorshift: the same inputs in every run. */
function randomSource(): () => number {
  let state = 2463534242;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 4294967296;
  };
}

function fill(kind: string, random: () => number): (i: number) => number {
  const [name, argument] = kind.split('=');
  if (name === 'const') return () => Number(argument);
  if (name === 'int') return () => Math.floor(random() * Number(argument));
  if (name === 'iota') return (i) => i;
  if (name === 'rand01') return random;
  return () => random() * 2 - 1;
}

function feedsOf(inputs: string): Record<string, Feed> {
  const random = randomSource();
  return Object.fromEntries(inputs.split(';').map((text) => {
    const [name, type, sizes, kind] = text.split(':');
    const dims = sizes === '' || sizes === '-' ? [] : sizes.split(',').map(Number);
    const next = fill(kind ?? 'rand', random);
    const numbers = Array.from({ length: dims.reduce((a, b) => a * b, 1) }, (_, i) => next(i));
    const data = type === 'int64' ? BigInt64Array.from(numbers, (x) => BigInt(Math.floor(x))) : Float32Array.from(numbers);
    return [name, { type: type as Feed['type'], data, dims }];
  }));
}

/** Only what is asked for is fetched: bytes are counted. */
async function openRunner(kind: Kind, job: Job): Promise<Runner> {
  if (kind === 'ort') {
    const { Ort } = await import('./ort');
    const ort = new Ort(job.threads);
    await ort.open(job.name, `bench/${job.name}.onnx`);
    return {
      run: async (feeds) => Object.values(await ort.run(job.name, feeds)).map((t) => t.data),
      dispose: () => ort.dispose(),
    };
  }
  const { Hologram } = await import('hologram');
  const model = await Hologram.open(`bench/${job.name}.holo`, { threads: job.threads });
  return {
    run: async (feeds) => Object.values(await model.run(feeds)).map((t) => t.data as ArrayLike<number>),
    dispose: () => model.dispose(),
  };
}

/** Milliseconds from the navigation to the first result. */
async function first(kind: Kind, job: Job): Promise<number> {
  const runner = await openRunner(kind, job);
  await runner.run(feedsOf(job.inputs));
  const taken = performance.now();
  runner.dispose();
  return taken;
}

/** At most so many numbers of an output go to whoever compares. */
const SAMPLE = 50000;

let runner: Runner | null = null;
let feeds: Record<string, Feed> = {};

/** Opens a model for turns; a page holds one runtime, so that nobody's threads spin during the other's turn. */
async function open(kind: Kind, job: Job): Promise<void> {
  runner = await openRunner(kind, job);
  feeds = feedsOf(job.inputs);
}

/** Numbers of the first output, evenly spread. */
async function sample(): Promise<number[]> {
  const [values] = await runner!.run(feeds);
  const step = Math.max(1, Math.ceil(values.length / SAMPLE));
  return Array.from({ length: Math.ceil(values.length / step) }, (_, i) => Number(values[i * step]));
}

/** Milliseconds of each run in one turn, after one that is not counted. */
async function turn(budgetMs: number): Promise<number[]> {
  const times: number[] = [];
  await runner!.run(feeds);
  const start = performance.now();
  while (times.length < 2 || performance.now() - start < budgetMs) {
    const from = performance.now();
    await runner!.run(feeds);
    times.push(performance.now() - from);
  }
  return times;
}

Object.assign(window, { bench: { first, open, sample, turn } });
