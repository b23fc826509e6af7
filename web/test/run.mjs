// run.mjs - the page in a real browser: it draws the picture that the native program draws, compiles what is dropped on
// it, and says nothing on the console. Screenshots stay in build/web/shots. Ends with "N passed, N failed".
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findBrowser, launch, openPage } from './browser.mjs';
import { bundlers, checkBundle } from './bundle.mjs';
import { serve } from './serve.mjs';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const SHOTS = join(ROOT, 'build/web/shots');
const MODELS = join(ROOT, 'examples/text2image/models');
const PATIENCE_MS = 180e3;
const STEPS = '6';

function expect(condition, sentence) {
  if (!condition) throw new Error(sentence);
}

/** The picture that examples/text2image draws from the same models, as a PNG. */
function drawNative(folder, prompt, seed) {
  const work = mkdtempSync(join(tmpdir(), 'hologram-web-'));
  try {
    const png = join(work, 'native.png');
    execFileSync(join(ROOT, 'build/release/text2image'), [prompt, '--models', folder, '--assets', MODELS,
      '--seed', String(seed), '--steps', STEPS, '--threads', '1', '-o', png], { stdio: 'ignore' });
    return readFileSync(png).toString('base64');
  } finally {
    rmSync(work, { recursive: true });
  }
}

/** Pixels of a PNG, decoded by the browser. */
const pixelsOf = (page, base64) => page.evaluate(async (text) => {
  const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  const bitmap = await createImageBitmap(new Blob([bytes], { type: 'image/png' }), { colorSpaceConversion: 'none' });
  const canvas = new OffscreenCanvas(bitmap.width, bitmap.height);
  const context = canvas.getContext('2d');
  context.drawImage(bitmap, 0, 0);
  return Array.from(context.getImageData(0, 0, bitmap.width, bitmap.height).data);
}, base64);

const pixelsOn = (page, id) => page.evaluate((name) => {
  const canvas = document.querySelector(`#${name} canvas`);
  return Array.from(canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data);
}, id);

function largestDifference(a, b) {
  expect(a.length === b.length, `pictures of ${a.length} and ${b.length} bytes`);
  return a.reduce((most, value, i) => Math.max(most, Math.abs(value - b[i])), 0);
}

const idle = (page) => page.waitForFunction(() => document.getElementById('form').dataset.state === 'idle', null,
  { timeout: PATIENCE_MS });

/** Fills the form as a person would and waits for the picture. */
async function draw(page, { prompt, seed, compare }) {
  await page.fill('#prompt', prompt);
  await page.fill('#seed', String(seed));
  await page.fill('#steps', STEPS);
  await page.setChecked('#compare', compare);
  await page.click('#generate');
  await idle(page);
  const status = await page.textContent('#status');
  expect(/^Done/.test(status), `the page says: ${status}`);
}

/** A module of the page, loaded here. */
async function loadModule(path) {
  const { createServer } = await import('vite');
  const vite = await createServer({ root: join(ROOT, 'web'), server: { middlewareMode: true }, appType: 'custom', logLevel: 'error' });
  try {
    return await vite.ssrLoadModule(path);
  } finally {
    await vite.close();
  }
}

const CASES = {
  async 'the tokenizer gives the numbers that the models were trained with'() {
    const { Tokenizer } = await loadModule('/src/tokenizer.ts');
    const tokenizer = new Tokenizer(JSON.parse(readFileSync(join(MODELS, 'tokenizer.json'), 'utf8')));
    const reference = JSON.parse(readFileSync(join(MODELS, 'reference/token_ids.json'), 'utf8'));
    const wrong = Object.entries(reference).filter(([prompt, ids]) =>
      tokenizer.encode(prompt).join() !== ids.join()).map(([prompt]) => prompt);
    expect(Object.keys(reference).length > 20, 'there are no reference prompts');
    expect(wrong.length === 0, `other numbers for ${JSON.stringify(wrong)}`);
  },

  async 'exact numerics: the bits of the native program'({ page, url }) {
    await page.goto(`${url}?models=exact`);
    await draw(page, { prompt: 'red heart', seed: 3, compare: false });
    const native = drawNative(join(ROOT, 'build/web/public/models/exact'), 'red heart', 3);
    expect(largestDifference(await pixelsOn(page, 'run-hologram'), await pixelsOf(page, native)) === 0,
      'the pictures differ');
  },

  async 'fast numerics: within one level of the native program and of onnxruntime-web'({ page, url }) {
    await page.goto(url);
    await draw(page, { prompt: 'blue dragon', seed: 7, compare: true });
    await page.screenshot({ path: join(SHOTS, 'light.png'), fullPage: true });
    const ours = await pixelsOn(page, 'run-hologram');
    const native = await pixelsOf(page, drawNative(join(ROOT, 'build/web/public/models'), 'blue dragon', 7));
    const difference = largestDifference(ours, native);
    expect(difference <= 1, `${difference} levels from the native picture`);
    const other = largestDifference(ours, await pixelsOn(page, 'run-ort'));
    expect(other <= 1, `${other} levels from the picture of onnxruntime-web`);
  },

  async 'a picture goes to the gallery and brings its settings back'({ page, url }) {
    await page.goto(url);
    await draw(page, { prompt: 'pizza', seed: 11, compare: false });
    await page.fill('#prompt', 'something else');
    await page.click('#gallery button');
    expect((await page.inputValue('#prompt')) === 'pizza', 'the prompt did not come back');
    expect((await page.inputValue('#seed')) === '11', 'the seed did not come back');
  },

  async 'stop stops, and the page goes on'({ page, url }) {
    await page.goto(url);
    await page.fill('#steps', '50');
    await page.setChecked('#compare', false);
    await page.click('#generate');
    await page.waitForFunction(() => /step/.test(document.querySelector('#run-hologram .note').textContent), null,
      { timeout: PATIENCE_MS });
    await page.click('#stop');
    await idle(page);
    expect((await page.textContent('#status')) === 'Stopped.', 'it did not say that it stopped');
    await draw(page, { prompt: 'pizza', seed: 0, compare: false });
  },

  async 'a dropped model is compiled, inspected and run'({ page, url }) {
    await page.goto(url);
    await page.setInputFiles('#file', join(MODELS, 'text_encoder.onnx'));
    await page.waitForSelector('#report:not([hidden])', { timeout: PATIENCE_MS });
    await page.click('#report button.primary');
    await page.waitForFunction(() => /median/.test(document.querySelector('#report .status').textContent), null,
      { timeout: PATIENCE_MS });
    const said = await page.textContent('#report .status');
    expect(said.includes('last_hidden_state float32[1, 24, 256]'), `the run says: ${said}`);
    await page.screenshot({ path: join(SHOTS, 'drop.png'), fullPage: true });
  },

  async 'a compiled model that falls beside the zone is opened and run'({ page, url }) {
    await page.goto(url);
    const holo = readFileSync(join(ROOT, 'build/web/public/models/text_encoder.holo')).toString('base64');
    await page.evaluate((text) => {
      const files = new DataTransfer();
      files.items.add(new File([Uint8Array.from(atob(text), (c) => c.charCodeAt(0))], 'text_encoder.holo'));
      document.querySelector('h1').dispatchEvent(new DragEvent('drop', { dataTransfer: files, bubbles: true, cancelable: true }));
    }, holo);
    await page.waitForSelector('#report:not([hidden])', { timeout: PATIENCE_MS });
    await page.click('#report button.primary');
    await page.waitForFunction(() => /median/.test(document.querySelector('#report .status').textContent), null,
      { timeout: PATIENCE_MS });
    expect((await page.textContent('#drop-status')).includes('is open'), 'it does not say that it is open');
  },

  async 'a file that is no model gets a sentence'({ page, url }) {
    await page.goto(url);
    await page.setInputFiles('#file', { name: 'no.onnx', mimeType: 'application/octet-stream', buffer: Buffer.from('no model') });
    await page.waitForSelector('#drop-status.bad', { timeout: PATIENCE_MS });
    const said = await page.textContent('#drop-status');
    expect(/^no\.onnx cannot be used: .{10}/.test(said), `the page says: ${said}`);
    await page.screenshot({ path: join(SHOTS, 'drop-bad.png'), fullPage: true });
  },

  async 'dark, with both columns'({ browser, url }) {
    const page = await openPage(browser, { colorScheme: 'dark' });
    await page.goto(url);
    expect((await page.textContent('#theme')) === 'Light', 'the button does not offer light');
    await draw(page, { prompt: 'pizza', seed: 5, compare: true });
    await page.screenshot({ path: join(SHOTS, 'dark.png'), fullPage: true });
    expect(page.complaints.length === 0, page.complaints.join('\n'));
    await page.context().close();
  },

  async 'dark, and 390 pixels wide, without scrolling sideways'({ browser, url }) {
    const page = await openPage(browser, { viewport: { width: 390, height: 844 }, colorScheme: 'dark' });
    await page.goto(url);
    await draw(page, { prompt: 'green cat face', seed: 1, compare: false });
    await page.screenshot({ path: join(SHOTS, 'phone-dark.png'), fullPage: true });
    const wide = await page.evaluate(() => document.documentElement.scrollWidth);
    expect(wide <= 390, `the page is ${wide} pixels wide`);
    expect(page.complaints.length === 0, page.complaints.join('\n'));
    await page.context().close();
  },

  async 'everything can be reached and used with the keyboard'({ page, url }) {
    await page.goto(url);
    const reached = new Set();
    for (let i = 0; i < 24; i++) {
      await page.keyboard.press('Tab');
      reached.add(await page.evaluate(() => document.activeElement?.id ?? ''));
    }
    for (const id of ['theme', 'prompt', 'seed', 'steps', 'guidance', 'compare', 'generate', 'file'])
      expect(reached.has(id), `Tab does not reach #${id}`);
    await page.focus('#theme');
    await page.keyboard.press('Enter');
    expect((await page.getAttribute('html', 'data-theme')) === 'dark', 'Enter did not change the theme');
    const unnamed = await page.$$eval('button, input, select, canvas, progress', (list) => list
      .filter((e) => !e.labels?.length && !e.getAttribute('aria-label') && !e.textContent.trim() && !e.title)
      .map((e) => e.outerHTML.slice(0, 80)));
    expect(unnamed.length === 0, `without a name: ${unnamed.join(' ')}`);
  },
};

for (const name of bundlers) {
  CASES[`the package goes through ${name}`] = ({ browser }) => checkBundle(name, browser);
}

async function run(name, test, browser, url) {
  const page = await openPage(browser);
  try {
    await test({ page, url, browser });
    expect(page.complaints.length === 0, page.complaints.join('\n'));
    return true;
  } catch (error) {
    console.log(`FAIL ${name}: ${error.message}`);
    await page.screenshot({ path: join(SHOTS, `failed-${name.replace(/[^a-z0-9]+/gi, '-')}.png`) }).catch(() => {});
    return false;
  } finally {
    await page.context().close();
  }
}

async function main() {
  if (!findBrowser()) {
    console.log('there is no chromium: apt-get install chromium');
    process.exit(1);
  }
  mkdirSync(SHOTS, { recursive: true });
  const server = await serve(join(ROOT, 'build/web/page'));
  const browser = await launch();
  let passed = 0;
  const wanted = Object.entries(CASES).filter(([name]) => name.includes(process.argv[2] ?? ''));
  for (const [name, test] of wanted) if (await run(name, test, browser, server.url)) passed++;
  await browser.close();
  await server.close();
  console.log(`${passed} passed, ${wanted.length - passed} failed`);
  process.exit(passed === wanted.length ? 0 : 1);
}

await main();
