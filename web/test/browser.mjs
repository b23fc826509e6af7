// browser.mjs - Debian's chromium with a fresh profile, driven by playwright-core.
import { existsSync } from 'node:fs';
import { chromium } from 'playwright-core';

const PLACES = [process.env.CHROMIUM, '/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];
const FLAGS = ['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run',
  '--disable-background-networking', '--disable-component-update', '--disable-sync'];

export function findBrowser() {
  return PLACES.find((path) => path && existsSync(path));
}

export async function launch() {
  return chromium.launch({ executablePath: findBrowser(), args: FLAGS, timeout: 60000 });
}

/** A page whose console errors, exceptions and refused requests are collected in `page.complaints`. */
export async function openPage(browser, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
  const page = await context.newPage();
  page.complaints = [];
  page.on('console', (message) => {
    if (message.type() === 'error') page.complaints.push(`console: ${message.text()}`);
  });
  page.on('pageerror', (error) => page.complaints.push(`exception: ${error.message}`));
  page.on('response', (response) => {
    if (response.status() >= 400) page.complaints.push(`response: ${response.url()} ${response.status()}`);
  });
  return page;
}
