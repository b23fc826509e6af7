// pipeline.ts - from a prompt to a picture with any engine, as in examples/text2image/pipeline.c.
import type { Engine } from './engine';
import { noise } from './noise';
import { toPixels, toPreview } from './picture';
import { type Schedule, step, timestep } from './scheduler';
import type { Tokenizer } from './tokenizer';

export interface Request {
  prompt: string;
  seed: bigint;
  steps: number;
  guidance: number;
}

export interface Times {
  text: number;
  steps: number[];
  decode: number;
}

export interface Assets {
  tokenizer: Tokenizer;
  schedule: Schedule;
}

export interface Callbacks {
  /** After each step: how many are done and what the picture looks like by now. */
  onStep(done: number, preview: ImageData): void;
  isStopped(): boolean;
}

const seconds = (start: number): number => (performance.now() - start) / 1e3;

/** null when it was stopped. */
export async function generate(engine: Engine, assets: Assets, request: Request, on: Callbacks):
  Promise<{ image: ImageData; times: Times } | null> {
  const { schedule: s, tokenizer } = assets;
  const [channels, height, width] = s.latent_shape;
  const count = channels * height * width;
  const times: Times = { text: 0, steps: [], decode: 0 };

  let start = performance.now();
  const ids = BigInt64Array.from([...tokenizer.encode(''), ...tokenizer.encode(request.prompt)]);
  const embeddings = await engine.run('text_encoder', {
    input_ids: { type: 'int64', data: ids, dims: [2, s.sequence_length] },
  });
  times.text = seconds(start);

  const x = noise(request.seed, count);
  const guess = new Float32Array(count);
  const pair = new Float32Array(2 * count);
  for (let i = 0; i < request.steps; i++) {
    if (on.isStopped()) return null;
    start = performance.now();
    const t = BigInt(timestep(request.steps, i));
    pair.set(x, 0);
    pair.set(x, count);
    const v = await engine.run('unet', {
      sample: { type: 'float32', data: pair, dims: [2, channels, height, width] },
      timestep: { type: 'int64', data: BigInt64Array.from([t, t]), dims: [2] },
      encoder_hidden_states: { type: 'float32', data: embeddings, dims: [2, s.sequence_length, s.text_width] },
    });
    step(s, request.steps, i, request.guidance, v, x, guess);
    times.steps.push(seconds(start));
    on.onStep(i + 1, toPreview(guess, height, width));
  }

  if (on.isStopped()) return null;
  start = performance.now();
  const latents = x.map((value) => value / s.scaling_factor);
  const picture = await engine.run('vae_decoder', {
    latent_sample: { type: 'float32', data: latents, dims: [1, channels, height, width] },
  });
  times.decode = seconds(start);
  return { image: toPixels(picture, s.image_size), times };
}
