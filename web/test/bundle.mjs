// bundle.mjs - the package goes through bundlers: a small program is bundled with Vite, esbuild and Rollup, opened in the
// browser, and runs a model in a worker with two threads.
import { cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as esbuild from 'esbuild';
import { rollup } from 'rollup';
import { build as vite } from 'vite';
import { fixed } from '../../bindings/js/tests/model.mjs';
import { Hologram } from '../../bindings/js/lib/index.js';
import { openPage } from './browser.mjs';
import { serve } from './serve.mjs';

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '../..');
const LIB = join(ROOT, 'bindings/js/lib');
const WORK = join(ROOT, 'build/web/bundle');
const PATIENCE_MS = 60000;

const PROGRAM = `
import { Hologram } from '${join(LIB, 'index.js')}';
async function main() {
  const model = await Hologram.open('model.holo', { threads: 2 });
  const { z } = await model.run({ x: Float32Array.of(1, 2, 3, 4, 5, 6), y: Float32Array.of(10, 20, 30) });
  return { ...model.info, values: Array.from(z.data) };
}
window.answer = main();
`;

// Without a bundler's own knowledge of workers, worker.js and thread.js are entries beside the program.
const ENTRIES = (folder) => ({ app: join(folder, 'app.js'), worker: join(LIB, 'worker.js'), thread: join(LIB, 'thread.js') });

const BUNDLERS = {
  async vite(folder, to) {
    await vite({
      root: folder, base: './', logLevel: 'error', configFile: false, worker: { format: 'es' },
      build: { outDir: to, emptyOutDir: true, target: 'es2022' },
    });
  },
  async esbuild(folder, to) {
    await esbuild.build({ entryPoints: ENTRIES(folder), bundle: true, format: 'esm', target: 'es2022', outdir: join(to, 'js') });
  },
  async rollup(folder, to) {
    const bundle = await rollup({ input: ENTRIES(folder), onwarn: (warning) => { throw new Error(warning.message); } });
    await bundle.write({ dir: join(to, 'js'), format: 'es' });
    await bundle.close();
  },
};

async function prepare(name) {
  const folder = join(WORK, name), to = join(WORK, `${name}-out`);
  for (const each of [folder, to]) {
    rmSync(each, { recursive: true, force: true });
    mkdirSync(each, { recursive: true });
  }
  writeFileSync(join(folder, 'app.js'), PROGRAM);
  const script = name === 'vite' ? '/app.js' : './js/app.js';
  writeFileSync(join(folder, 'index.html'), `<!doctype html><title>bundle</title><link rel="icon" href="data:,">
<script type="module" src="${script}"></script>\n`);
  await BUNDLERS[name](folder, to);
  if (name !== 'vite') {
    cpSync(join(folder, 'index.html'), join(to, 'index.html'));
    cpSync(join(ROOT, 'bindings/js/wasm'), join(to, 'wasm'), { recursive: true });
  }
  writeFileSync(join(to, 'model.holo'), (await Hologram.compile(fixed)).bytes);
  return to;
}

/** Throws when what the bundler made does not run. */
export async function checkBundle(name, browser) {
  const server = await serve(await prepare(name));
  const page = await openPage(browser);
  try {
    await page.goto(server.url);
    await page.waitForFunction(() => window.answer !== undefined, null, { timeout: PATIENCE_MS });
    const answer = await page.evaluate(() => window.answer);
    if (String(answer.values) !== '11,22,33,14,25,36') throw new Error(`it computed ${answer.values}`);
    if (answer.threads !== 2 || !answer.worker) throw new Error(`it ran with ${JSON.stringify(answer)}`);
    if (page.complaints.length > 0) throw new Error(page.complaints.join('\n'));
  } finally {
    await page.context().close();
    await server.close();
  }
}

export const bundlers = Object.keys(BUNDLERS);
