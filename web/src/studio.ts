// studio.ts - the form, the two columns and their times.
import { get, make } from './dom';
import type { Engine, LoadReport } from './engine';
import { HologramEngine } from './engine_hologram';
import { OrtEngine } from './engine_ort';
import { bytes, median, time } from './format';
import { addToGallery } from './gallery';
import { draw } from './picture';
import { type Assets, generate, type Request, type Times } from './pipeline';
import { Tokenizer } from './tokenizer';

/** One column: an engine, what it loaded, and its last picture. */
class Column {
  readonly canvas: HTMLCanvasElement;
  private readonly figure: HTMLElement;
  private readonly note: HTMLElement;
  private readonly bar: HTMLProgressElement;
  private loaded: Promise<LoadReport> | null = null;
  private threads = 0;
  report: LoadReport | null = null;
  times: Times | null = null;

  constructor(id: string, readonly engine: Engine) {
    this.figure = get(id);
    this.canvas = this.figure.querySelector('canvas')!;
    this.note = this.figure.querySelector('.note')!;
    this.bar = this.figure.querySelector('progress')!;
  }

  say(text: string): void {
    this.note.textContent = text;
  }

  enable(isOn: boolean): void {
    this.figure.classList.toggle('off', !isOn);
  }

  /** Loads once; again when the number of threads changes. */
  private async load(folder: string, threads: number): Promise<void> {
    if (this.loaded && this.threads !== threads) {
      await this.loaded.catch(() => undefined);
      this.engine.dispose();
      this.loaded = null;
    }
    this.threads = threads;
    this.loaded ??= this.engine.load(folder, threads, (done, total) => {
      this.bar.value = total > 0 ? done / total : 0;
      this.say(`loading ${bytes(done)}`);
    });
    try {
      this.report = await this.loaded;
    } catch (error) {
      this.loaded = null;
      throw error;
    }
  }

  async draw(folder: string, threads: number, assets: Assets, request: Request, isStopped: () => boolean): Promise<boolean> {
    this.bar.value = 0;
    this.times = null;
    await this.load(folder, threads);
    this.bar.value = 0;
    this.say('reading the prompt');
    const size = assets.schedule.image_size;
    const result = await generate(this.engine, assets, request, {
      isStopped,
      onStep: (done, preview) => {
        this.bar.value = done / (request.steps + 1);
        this.say(`step ${done} of ${request.steps}`);
        this.canvas.setAttribute('aria-label', `${request.prompt}: step ${done} of ${request.steps}`);
        draw(this.canvas, preview, size);
      },
    });
    if (!result) {
      this.say('stopped');
      return false;
    }
    draw(this.canvas, result.image, size);
    this.canvas.setAttribute('aria-label', `${request.prompt}, drawn by ${this.engine.name}`);
    this.bar.value = 1;
    this.times = result.times;
    this.say(time(total(result.times)));
    return true;
  }
}

const sum = (list: readonly number[]): number => list.reduce((a, b) => a + b, 0);
const total = (t: Times): number => t.text + sum(t.steps) + t.decode;

interface Row {
  name: string;
  of: (column: Column) => number;
  show: (value: number) => string;
}

const ROWS: Row[] = [
  { name: 'Runtime download', of: (c) => c.report?.runtimeBytes ?? NaN, show: bytes },
  { name: 'Models download', of: (c) => c.report?.modelBytes ?? NaN, show: bytes },
  { name: 'Ready after download', of: (c) => c.report?.readySeconds ?? NaN, show: time },
  { name: 'Text encoder', of: (c) => c.times?.text ?? NaN, show: time },
  { name: 'U-Net step, median', of: (c) => median(c.times?.steps ?? []), show: time },
  { name: 'Decoder', of: (c) => c.times?.decode ?? NaN, show: time },
  { name: 'Picture', of: (c) => (c.times ? total(c.times) : NaN), show: time },
];

function showTimes(ours: Column, theirs: Column): void {
  const rows = ROWS.map((row) => {
    const a = row.of(ours);
    const b = row.of(theirs);
    const cell = (value: number, best: boolean): HTMLElement =>
      make('td', best ? { class: 'best' } : {}, Number.isFinite(value) ? row.show(value) : '–');
    const ratio = b / a;
    return make('tr', {}, make('th', { scope: 'row' }, row.name), cell(a, a <= b), cell(b, b < a),
      make('td', {}, Number.isFinite(ratio) ? `${ratio.toFixed(ratio < 10 ? 1 : 0)}×` : '–'));
  });
  get('times').querySelector('tbody')!.replaceChildren(...rows);
}

async function json(url: string): Promise<unknown> {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`cannot fetch ${url}: ${response.status} ${response.statusText}`);
  return response.json();
}

async function loadAssets(): Promise<Assets> {
  const [words, schedule] = await Promise.all([json('models/tokenizer.json'), json('models/scheduler.json')]);
  return { tokenizer: new Tokenizer(words as never), schedule: schedule as Assets['schedule'] };
}

/** `?models=exact` draws with models/exact: compiled with --numerics exact. */
function modelFolder(): string {
  const name = new URLSearchParams(location.search).get('models') ?? '';
  return /^[a-z]+$/.test(name) ? `models/${name}` : 'models';
}

export class Studio {
  private readonly ours = new Column('run-hologram', new HologramEngine());
  private readonly theirs = new Column('run-ort', new OrtEngine());
  private readonly form = get<HTMLFormElement>('form');
  private readonly status = get('status');
  private assets: Promise<Assets> | null = null;
  private isRunning = false;
  private isStopped = false;

  start(): void {
    const link = (id: string): void => {
      const range = get<HTMLInputElement>(id);
      const show = (): void => { get<HTMLOutputElement>(`${id}-value`).value = range.value; };
      range.addEventListener('input', show);
      show();
    };
    link('steps');
    link('guidance');
    this.fillThreads();
    for (const chip of document.querySelectorAll<HTMLButtonElement>('[data-prompt]'))
      chip.addEventListener('click', () => { get<HTMLInputElement>('prompt').value = chip.dataset.prompt!; });
    get('dice').addEventListener('click', () => {
      get<HTMLInputElement>('seed').value = String(crypto.getRandomValues(new Uint32Array(1))[0]);
    });
    const compare = get<HTMLInputElement>('compare');
    compare.addEventListener('change', () => this.theirs.enable(compare.checked));
    get('stop').addEventListener('click', () => { this.isStopped = true; });
    this.form.addEventListener('submit', (event) => {
      event.preventDefault();
      void this.run();
    });
    showTimes(this.ours, this.theirs);
  }

  private fillThreads(): void {
    const select = get<HTMLSelectElement>('threads');
    const most = crossOriginIsolated ? Math.min(navigator.hardwareConcurrency || 1, 8) : 1;
    for (let n = 1; n <= most; n++) select.append(make('option', { value: String(n) }, String(n)));
    select.value = String(Math.min(most, 4));
    select.disabled = most === 1;
    if (!crossOriginIsolated) select.title = 'Threads need a page that is cross-origin isolated';
  }

  private request(): Request {
    const value = (id: string): string => get<HTMLInputElement>(id).value;
    return {
      prompt: value('prompt').trim(),
      seed: BigInt(Math.floor(Number(value('seed')))),
      steps: Number(value('steps')),
      guidance: Number(value('guidance')),
    };
  }

  private choose(request: Request): void {
    get<HTMLInputElement>('prompt').value = request.prompt;
    get<HTMLInputElement>('seed').value = String(request.seed);
    for (const id of ['steps', 'guidance'] as const) {
      const range = get<HTMLInputElement>(id);
      range.value = String(request[id]);
      range.dispatchEvent(new Event('input'));
    }
    get('prompt').focus();
  }

  private say(text: string, isBad = false): void {
    this.status.textContent = text;
    this.status.classList.toggle('bad', isBad);
  }

  private setRunning(isRunning: boolean): void {
    this.isRunning = isRunning;
    get<HTMLButtonElement>('generate').disabled = isRunning;
    get('stop').hidden = !isRunning;
    this.form.dataset.state = isRunning ? 'running' : 'idle';
  }

  private async run(): Promise<void> {
    if (this.isRunning) return;
    this.isStopped = false;
    this.setRunning(true);
    try {
      await this.draw();
    } catch (error) {
      this.say(error instanceof Error ? error.message : String(error), true);
    } finally {
      this.setRunning(false);
    }
  }

  /** One column after the other: side by side they would slow each other down. */
  private async draw(): Promise<void> {
    const request = this.request();
    const threads = Number(get<HTMLSelectElement>('threads').value);
    const isStopped = (): boolean => this.isStopped;
    this.say('Loading the models …');
    this.assets ??= loadAssets();
    const assets = await this.assets.catch((error: unknown) => {
      this.assets = null;
      throw error;
    });
    this.theirs.times = null;
    this.say('Drawing with Hologram …');
    let done = await this.ours.draw(modelFolder(), threads, assets, request, isStopped);
    showTimes(this.ours, this.theirs);
    if (done) addToGallery(this.ours.canvas, request, (chosen) => this.choose(chosen));
    if (done && get<HTMLInputElement>('compare').checked) {
      this.say('Drawing with onnxruntime-web …');
      done = await this.theirs.draw('models', threads, assets, request, isStopped);
      showTimes(this.ours, this.theirs);
    }
    this.say(done ? this.summary() : 'Stopped.');
  }

  private summary(): string {
    const a = this.ours.times;
    const b = this.theirs.times;
    if (!a) return 'Stopped.';
    if (!b) return `Done in ${time(total(a))}.`;
    return `Done: ${time(total(a))} with Hologram, ${time(total(b))} with onnxruntime-web.`;
  }
}
