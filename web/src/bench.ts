// bench.ts - one model with one runtime or both, for `./dev bench web`; web/test/bench.mjs drives it.
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

function largestError(a: ArrayLike<number>, b: ArrayLike<number>): number {
  let difference = 0;
  let size = 1e-6;
  for (let i = 0; i < b.length; i++) {
    difference = Math.max(difference, Math.abs(Number(a[i]) - Number(b[i])));
    size = Math.max(size, Math.abs(Number(b[i])));
  }
  return difference / size;
}

interface Result {
  hologram: number[];
  ort: number[];
  error: number;
}

/** Both after warm-up, in turn, so that what slows the machine slows both. */
async function compare(job: Job, rounds: number, budgetMs: number): Promise<Result> {
  const feeds = feedsOf(job.inputs);
  const ours = await openRunner('hologram', job);
  const theirs = await openRunner('ort', job);
  const result: Result = { hologram: [], ort: [], error: 0 };
  for (let i = 0; i < 3; i++) {
    const a = await ours.run(feeds);
    const b = await theirs.run(feeds);
    result.error = largestError(a[0], b[0]);
  }
  const start = performance.now();
  while (result.ort.length < 3 || (result.ort.length < rounds && performance.now() - start < budgetMs)) {
    let from = performance.now();
    await ours.run(feeds);
    result.hologram.push(performance.now() - from);
    from = performance.now();
    await theirs.run(feeds);
    result.ort.push(performance.now() - from);
  }
  ours.dispose();
  theirs.dispose();
  return result;
}

Object.assign(window, { bench: { first, compare } });
