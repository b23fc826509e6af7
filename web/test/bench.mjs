// bench.mjs JOBS.json FOLDER - measures both runtimes in one browser; the result is a line of JSON. bench/web.py calls it.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { launch, openPage } from './browser.mjs';
import { serve } from './serve.mjs';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const ROUNDS = 40;
const BUDGET_MS = 4000;
const KINDS = ['hologram', 'ort'];

async function visit(browser, url, use) {
  const page = await openPage(browser);
  try {
    await page.goto(`${url}bench.html`);
    await page.waitForFunction(() => 'bench' in window);
    const result = await use(page);
    if (page.complaints.length > 0) throw new Error(page.complaints.join('; '));
    return result;
  } finally {
    await page.context().close();
  }
}

/** A visitor without a cache: time to the first result, and bytes. */
async function firstVisit(browser, server, kind, job) {
  const before = server.counter.sent;
  const ms = await visit(browser, server.url, (page) => page.evaluate(([k, j]) => window.bench.first(k, j), [kind, job]));
  return { first_ms: ms, bytes: server.counter.sent - before };
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
    Object.assign(result, await visit(browser, server.url, (page) =>
      page.evaluate(([j, rounds, budget]) => window.bench.compare(j, rounds, budget), [at, ROUNDS, BUDGET_MS])));
    results.push(result);
  }
}
console.log(JSON.stringify({ browser: browser.version(), results }));
await browser.close();
await server.close();
