// scheduler.ts - DDIM for a model that predicts v, as in examples/text2image/scheduler.c:
//
//     v   = v_empty + guidance * (v_prompt - v_empty)
//     x0  = sqrt(a) x - sqrt(1 - a) v        the picture as it is guessed now
//     eps = sqrt(a) v + sqrt(1 - a) x        the noise as it is guessed now
//     x   = sqrt(b) x0 + sqrt(1 - b) eps     both again, with less noise
import { roundEven } from './noise';

export interface Schedule {
  alphas_cumprod: number[];
  scaling_factor: number;
  default_steps: number;
  default_guidance_scale: number;
  latent_shape: [number, number, number];
  image_size: number;
  sequence_length: number;
  text_width: number;
}

const TRAIN_STEPS = 1000;

/** The training step at position i of `steps`. */
export function timestep(steps: number, i: number): number {
  return roundEven(TRAIN_STEPS - (i * TRAIN_STEPS) / steps) - 1;
}

/** Moves x one step; `guess` receives the picture as it is guessed now. */
export function step(s: Schedule, steps: number, i: number, guidance: number, v: Float32Array, x: Float32Array,
  guess: Float32Array): void {
  const a = s.alphas_cumprod[timestep(steps, i)];
  const b = i + 1 === steps ? 1 : s.alphas_cumprod[timestep(steps, i + 1)];
  const keep = Math.sqrt(a);
  const noise = Math.sqrt(1 - a);
  const nextKeep = Math.sqrt(b);
  const nextNoise = Math.sqrt(1 - b);
  const count = x.length;
  for (let k = 0; k < count; k++) {
    const empty = v[k];
    const guided = empty + guidance * (v[count + k] - empty);
    const picture = keep * x[k] - noise * guided;
    const eps = keep * guided + noise * x[k];
    guess[k] = picture;
    x[k] = nextKeep * picture + nextNoise * eps;
  }
}
