// chromium.mjs - a browser without packages: chromium with a fresh profile, spoken to over a pipe in its own protocol. For
// tests that run where npm does not; web/test has the others.
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const PLACES = [process.env.CHROMIUM, '/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];
const FLAGS = ['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run',
  '--disable-background-networking', '--disable-component-update', '--disable-sync', '--remote-debugging-pipe'];
const PATIENCE_MS = 60000;

export const findChromium = () => PLACES.find((path) => path && existsSync(path));

export class Chromium {
  #process;
  #profile = mkdtempSync(join(tmpdir(), 'hologram-chromium-'));
  #next = 1;
  #calls = new Map();
  #session;
  #rest = '';
  /** What pages said on the console as errors, and exceptions nobody caught. */
  complaints = [];

  /** A browser with one empty page. */
  static async launch() {
    const browser = new Chromium();
    browser.#process = spawn(findChromium(), [...FLAGS, `--user-data-dir=${browser.#profile}`, 'about:blank'],
      { stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'] });
    browser.#process.stdio[4].setEncoding('utf8').on('data', (text) => browser.#receive(text));
    browser.#process.on('exit', () => browser.#fail(new Error('chromium ended')));
    const { targetId } = await browser.#call('Target.createTarget', { url: 'about:blank' });
    const { sessionId } = await browser.#call('Target.attachToTarget', { targetId, flatten: true });
    browser.#session = sessionId;
    for (const domain of ['Page', 'Runtime', 'DOM']) await browser.#call(`${domain}.enable`);
    return browser;
  }

  #fail(error) {
    for (const { reject } of this.#calls.values()) reject(error);
    this.#calls.clear();
  }

  #receive(text) {
    const messages = (this.#rest + text).split('\0');
    this.#rest = messages.pop();
    for (const message of messages) this.#hear(JSON.parse(message));
  }

  #hear({ id, result, error, method, params }) {
    if (method === 'Runtime.exceptionThrown') this.complaints.push(params.exceptionDetails.text);
    if (method === 'Runtime.consoleAPICalled' && params.type === 'error')
      this.complaints.push(params.args.map((a) => a.value ?? a.description).join(' '));
    const call = this.#calls.get(id);
    if (call === undefined) return;
    this.#calls.delete(id);
    if (error) call.reject(new Error(error.message));
    else call.resolve(result);
  }

  #call(method, params = {}) {
    const id = this.#next++;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => this.#fail(new Error(`${method} takes more than ${PATIENCE_MS / 1000} s`)), PATIENCE_MS);
      const end = (done) => (value) => {
        clearTimeout(timer);
        done(value);
      };
      this.#calls.set(id, { resolve: end(resolve), reject: end(reject) });
      this.#process.stdio[3].write(`${JSON.stringify({ id, method, params, sessionId: this.#session })}\0`);
    });
  }

  /** Opens an address and waits until its page and modules are there. */
  async open(url) {
    await this.#call('Page.navigate', { url });
    await this.wait(`location.href === ${JSON.stringify(url)} && document.readyState === 'complete'`);
  }

  /** The value of an expression, or of the promise that it is. */
  async evaluate(expression) {
    const { result, exceptionDetails } = await this.#call('Runtime.evaluate',
      { expression, awaitPromise: true, returnByValue: true });
    if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
    return result.value;
  }

  /** Waits until an expression is true. */
  async wait(expression) {
    const end = performance.now() + PATIENCE_MS;
    while (!(await this.evaluate(expression))) {
      if (performance.now() > end) throw new Error(`still not true: ${expression}`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  /** Gives files to an <input type="file">. */
  async setFiles(selector, files) {
    const { root } = await this.#call('DOM.getDocument');
    const { nodeId } = await this.#call('DOM.querySelector', { nodeId: root.nodeId, selector });
    await this.#call('DOM.setFileInputFiles', { nodeId, files });
  }

  async close() {
    const ended = new Promise((resolve) => this.#process.once('exit', resolve));
    await this.#call('Browser.close').catch(() => {});
    await ended;
    rmSync(this.#profile, { recursive: true, force: true, maxRetries: 5 });
  }
}
