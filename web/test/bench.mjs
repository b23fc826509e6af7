// bench.mjs JOBS.json FOLDER [MODEL...] - measures both runtimes in one browser, each in a page of its own, in turns; the
// result is a line of JSON. bench/web.py calls it.
//
// Pages of their own, and a pause before each turn: threads that wait for work keep a processor busy for a while, and with as
// many threads as processors one runtime would be measured against the waiting of the other.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { launch, openPage } from './browser.mjs';
import { serve } from './serve.mjs';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const TURNS = 6;
const TURN_MS = 600;
const PAUSE_MS = 150;
const KINDS = ['hologram', 'ort'];

async function openBench(browser, url) {
  const page = await openPage(browser);
  await page.goto(`${url}bench.html`);
  await page.waitForFunction(() => 'bench' in window);
  return page;
}

async function close(page) {
  if (page.complaints.length > 0) throw new Error(page.complaints.join('; '));
  await page.context().close();
}

/** A visitor without a cache: time to the first result, and bytes. */
async function firstVisit(browser, server, kind, job) {
  const before = server.counter.sent;
  const page = await openBench(browser, server.url);
  const ms = await page.evaluate(([k, j]) => window.bench.first(k, j), [kind, job]);
  await close(page);
  return { first_ms: ms, bytes: server.counter.sent - before };
}

/** The largest difference, as a part of the largest number. */
function largestError(a, b) {
  const size = b.reduce((most, x) => Math.max(most, Math.abs(x)), 1e-6);
  return a.reduce((most, x, i) => Math.max(most, Math.abs(x - b[i])), 0) / size;
}

async function compare(browser, server, job) {
  const result = { hologram: [], ort: [], error: 0 };
  const pages = {};
  for (const kind of KINDS) {
    pages[kind] = await openBench(browser, server.url);
    await pages[kind].evaluate(([k, j]) => window.bench.open(k, j), [kind, job]);
  }
  const [ours, theirs] = [await pages.hologram.evaluate(() => window.bench.sample()), await pages.ort.evaluate(() => window.bench.sample())];
  result.error = largestError(ours, theirs);
  for (let i = 0; i < TURNS; i++) {
    for (const kind of KINDS) {
      await pages[kind].bringToFront();
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
      result[kind].push(...await pages[kind].evaluate((budget) => window.bench.turn(budget), TURN_MS));
    }
  }
  for (const kind of KINDS) await close(pages[kind]);
  return result;
}

const [, , jobsPath, folder, ...only] = process.argv;
const jobs = JSON.parse(readFileSync(jobsPath));
const server = await serve(join(ROOT, 'build/web/page'), folder);
const browser = await launch();
const results = [];
for (const job of jobs) {
  if (only.length > 0 && !only.includes(job.name)) continue;
  for (const threads of [1, 2]) {
    const at = { ...job, threads };
    const result = { name: job.name, threads };
    if (threads === 1)
      for (const kind of KINDS) result[`${kind}_visit`] = await firstVisit(browser, server, kind, at);
    results.push(Object.assign(result, await compare(browser, server, at)));
  }
}
console.log(JSON.stringify({ browser: browser.version(), results }));
await browser.close();
await server.close();
