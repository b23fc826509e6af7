// browser.test.mjs - the package and the example with a worker in a real browser, without npm: where chromium is.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { serve } from '../../../web/test/serve.mjs';
import { Chromium, findChromium } from './chromium.mjs';
import { fixed } from './model.mjs';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const options = { skip: findChromium() ? false : 'there is no chromium' };
const state = {};

before(async () => {
  if (options.skip) return;
  state.work = mkdtempSync(join(tmpdir(), 'hologram-browser-'));
  writeFileSync(join(state.work, 'empty.html'), '<!doctype html><title>empty</title><link rel="icon" href="data:,">');
  writeFileSync(join(state.work, 'fixed.onnx'), fixed);
  writeFileSync(join(state.work, 'broken.onnx'), fixed.subarray(0, 40));
  state.server = await serve(state.work, ROOT);
  state.browser = await Chromium.launch();
});

after(async () => {
  if (options.skip) return;
  await state.browser.close();
  await state.server.close();
  rmSync(state.work, { recursive: true });
});

/** A program in a page: compiles fixed.onnx, runs it with `settings`, tells what it got. */
const program = (settings) => `(async () => {
  const { Hologram } = await import('/bindings/js/lib/index.js');
  const { bytes } = await Hologram.compile('/fixed.onnx');
  const model = await Hologram.open(bytes, ${JSON.stringify(settings)});
  const { z } = await model.run({ x: Float32Array.of(1, 2, 3, 4, 5, 6), y: Float32Array.of(10, 20, 30) });
  model.dispose();
  return { values: Array.from(z.data), threads: model.info.threads, worker: model.info.worker, relaxed: model.info.relaxedSimd };
})()`;

for (const settings of [{ threads: 1, worker: true }, { threads: 2, worker: true }, { threads: 1, worker: false }]) {
  test(`compiled and run in a page: ${JSON.stringify(settings)}`, options, async () => {
    await state.browser.open(`${state.server.url}empty.html`);
    const answer = await state.browser.evaluate(program(settings));
    assert.deepEqual(answer.values, [11, 22, 33, 14, 25, 36]);
    assert.equal(answer.threads, settings.threads);
    assert.equal(answer.worker, settings.worker);
    assert.deepEqual(state.browser.complaints, []);
  });
}

for (const [file, wanted] of [['fixed.onnx', /z: float32\[2,3\]/], ['broken.onnx', /^E_[A-Z]+: .{10}/m]]) {
  test(`examples/web_worker with ${file}`, options, async () => {
    await state.browser.open(`${state.server.url}examples/web_worker/`);
    await state.browser.setFiles('#file', [join(state.work, file)]);
    await state.browser.wait(`${wanted}.test(document.getElementById('out').textContent)`);
    assert.deepEqual(state.browser.complaints, []);
  });
}
