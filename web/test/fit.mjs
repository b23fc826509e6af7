// fit.mjs - prints the numbers of src/preview.ts: colours as a linear function of the latents, fitted to pictures that the
// decoder made of what the U-Net drew. Needs build/web/public; about a minute.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { createServer } from 'vite';

const at = (path) => fileURLToPath(new URL(path, import.meta.url));
const MODELS = at('../../build/web/public/models');
const PROMPTS = ['red heart', 'blue dragon', 'pizza', 'green cat face', 'yellow star', 'purple car', 'black cat', 'flag japan',
  'orange flower', 'brown bear', 'pink cake', 'white rabbit'];
const STEPS = 6;

/** Least squares by the normal equations. */
function solve(rows, targets) {
  const n = rows[0].length;
  const m = Array.from({ length: n }, () => new Array(n + 3).fill(0));
  rows.forEach((row, r) => {
    for (let i = 0; i < n; i++) {
      for (let j = 0; j < n; j++) m[i][j] += row[i] * row[j];
      for (let c = 0; c < 3; c++) m[i][n + c] += row[i] * targets[r][c];
    }
  });
  for (let i = 0; i < n; i++) {
    const pivot = m[i][i];
    for (let j = i; j < n + 3; j++) m[i][j] /= pivot;
    for (let k = 0; k < n; k++) {
      if (k === i) continue;
      const factor = m[k][i];
      for (let j = i; j < n + 3; j++) m[k][j] -= factor * m[i][j];
    }
  }
  return m.map((row) => row.slice(n));
}

const vite = await createServer({ root: at('..'), server: { middlewareMode: true }, appType: 'custom', logLevel: 'error' });
const { Tokenizer } = await vite.ssrLoadModule('/src/tokenizer.ts');
const { noise } = await vite.ssrLoadModule('/src/noise.ts');
const { step, timestep } = await vite.ssrLoadModule('/src/scheduler.ts');
const { Hologram, Tensor } = await import('../../bindings/js/lib/index.js');
const json = (name) => JSON.parse(readFileSync(`${MODELS}/${name}`, 'utf8'));
const s = json('scheduler.json');
const tokenizer = new Tokenizer(json('tokenizer.json'));
const [text, unet, vae] = await Promise.all(['text_encoder', 'unet', 'vae_decoder'].map((n) => Hologram.open(`${MODELS}/${n}.holo`)));
const [channels, height, width] = s.latent_shape;
const count = channels * height * width;
const cell = s.image_size / width;
const rows = [];
const targets = [];
for (const [seed, prompt] of PROMPTS.entries()) {
  const ids = BigInt64Array.from([...tokenizer.encode(''), ...tokenizer.encode(prompt)]);
  const { last_hidden_state: words } = await text.run({ input_ids: new Tensor('int64', ids, [2, s.sequence_length]) });
  const x = noise(BigInt(seed), count);
  const guess = new Float32Array(count);
  for (let i = 0; i < STEPS; i++) {
    const pair = new Float32Array(2 * count);
    pair.set(x, 0);
    pair.set(x, count);
    const t = BigInt(timestep(STEPS, i));
    const { out_sample: v } = await unet.run({
      sample: new Tensor('float32', pair, [2, channels, height, width]),
      timestep: new Tensor('int64', BigInt64Array.from([t, t]), [2]),
      encoder_hidden_states: words,
    });
    step(s, STEPS, i, s.default_guidance_scale, v.data, x, guess);
  }
  const latents = x.map((value) => value / s.scaling_factor);
  const { sample } = await vae.run({ latent_sample: new Tensor('float32', latents, [1, channels, height, width]) });
  for (let p = 0; p < height * width; p++) {
    rows.push([...Array.from({ length: channels }, (_, k) => x[k * height * width + p]), 1]);
    targets.push([0, 1, 2].map((c) => {
      let sum = 0;
      for (let dy = 0; dy < cell; dy++)
        for (let dx = 0; dx < cell; dx++) {
          const y = Math.floor(p / width) * cell + dy;
          sum += sample.data[(c * s.image_size + y) * s.image_size + (p % width) * cell + dx];
        }
      return sum / (cell * cell);
    }));
  }
}
for (const row of solve(rows, targets)) console.log(`  [${row.map((x) => x.toFixed(3)).join(', ')}],`);
for (const model of [text, unet, vae]) model.dispose();
await vite.close();
