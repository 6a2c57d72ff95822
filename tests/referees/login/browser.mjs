// What a person does on the pages, and what must hold on each of them, whoever looks at it and on what.
import { mkdirSync } from 'node:fs';
import { chromium } from 'playwright-core';

const PATIENCE = 20_000;

export async function launch() {
  const executablePath = process.env.CHROMIUM ?? '/usr/bin/chromium';
  return chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-dev-shm-usage'] });
}

/** A browser of its own, with its own cookies. What a page complains about is kept. */
export async function open(browser, options = {}) {
  const context = await browser.newContext({ locale: 'en-US', ...options });
  const page = await context.newPage();
  page.setDefaultTimeout(PATIENCE);
  page.complaints = [];
  page.on('console', (message) => { if (message.type() === 'error' || message.type() === 'warning') page.complaints.push(message.text()); });
  page.on('pageerror', (error) => page.complaints.push(error.message));
  return page;
}

export const ANA = { email: 'ana.souza@acme.example', password: 'demo-password' };
export const MARCOS = { email: 'marcos.reis@acme.example', password: 'demo-password' };

export async function signIn(page, { email, password }) {
  await page.fill('#email', email);
  await page.fill('#password', password);
  await page.click('#submit');
}

/** The scopes on the page, and which are ticked. */
export function scopes(page) {
  return page.$$eval('#consent input[name=scope]', (boxes) => boxes.map((box) => [box.value, box.checked]));
}

/** Leaves exactly these scopes ticked. */
export async function choose(page, wanted) {
  for (const [scope] of await scopes(page)) {
    await page.setChecked(`#consent input[value="${scope}"]`, wanted.includes(scope));
  }
}

/** Visits the address as somebody who signs in and lets the client in, with these scopes or with those that are proposed. */
export function visitor(page, who = ANA, wanted = undefined) {
  return async (url) => {
    await page.goto(url);
    if (await page.$('#login')) await signIn(page, who);
    await page.waitForSelector('#consent');
    if (wanted) await choose(page, wanted);
    await page.click('#allow');
    await page.waitForURL(/\/callback\?/);
  };
}

/** What is wrong with a page for whoever reads it. */
export async function faults(page) {
  const found = await page.evaluate(() => {
    const wrong = [];
    const root = document.documentElement;
    if (!root.lang) wrong.push('the page has no language');
    if (!document.title) wrong.push('the page has no title');
    if (document.querySelectorAll('h1').length !== 1) wrong.push('there is not one heading');
    if (!document.querySelector('main')) wrong.push('there is no main part');
    if (root.scrollWidth > root.clientWidth) wrong.push(`it is ${root.scrollWidth} wide in a window of ${root.clientWidth}`);
    for (const field of document.querySelectorAll('input:not([type=hidden]), button, a')) {
      const name = (field.labels?.[0] ?? field).innerText?.trim();
      if (!name) wrong.push(`nothing says what this is: ${field.outerHTML}`);
      const touched = (field.closest('label') ?? field).getBoundingClientRect();
      if (touched.height < 24) wrong.push(`too small to touch: ${field.outerHTML}`);
    }
    if (document.querySelector('script, [onclick], [style]')) wrong.push('there is a script or a style in the page');
    return [...wrong, ...contrasts()];

    /** Texts that stand out too little from what is behind them (WCAG 2.2, 1.4.3). */
    function contrasts() {
      const pale = [];
      for (const element of document.querySelectorAll('body *')) {
        const own = [...element.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && node.data.trim());
        if (!own || !element.getClientRects().length) continue;
        const style = getComputedStyle(element);
        const ratio = contrast(color(style.color), behind(element));
        const large = parseFloat(style.fontSize) >= 24 || (parseFloat(style.fontSize) >= 18.66 && style.fontWeight >= 700);
        if (ratio < (large ? 3 : 4.5)) pale.push(`contrast ${ratio.toFixed(2)}: ${element.textContent.trim().slice(0, 40)}`);
      }
      return pale;
    }

    function color(text) {
      const canvas = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
      canvas.fillStyle = text;
      canvas.fillRect(0, 0, 1, 1);
      return [...canvas.getImageData(0, 0, 1, 1).data];
    }

    function behind(element) {
      for (let at = element; at; at = at.parentElement) {
        const found = color(getComputedStyle(at).backgroundColor);
        if (found[3] === 255) return found;
      }
      return matchMedia('(prefers-color-scheme: dark)').matches ? [18, 18, 18, 255] : [255, 255, 255, 255];
    }

    function contrast(one, other) {
      const light = ([r, g, b]) => {
        const [x, y, z] = [r, g, b].map((part) => part / 255).map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
        return 0.2126 * x + 0.7152 * y + 0.0722 * z;
      };
      const [high, low] = [light(one), light(other)].sort((a, b) => b - a);
      return (high + 0.05) / (low + 0.05);
    }
  });
  return [...found, ...page.complaints];
}

export const LOOKS = [
  ['desktop-light', { viewport: { width: 1280, height: 900 }, colorScheme: 'light' }],
  ['desktop-dark', { viewport: { width: 1280, height: 900 }, colorScheme: 'dark' }],
  ['phone-light', { viewport: { width: 360, height: 740 }, colorScheme: 'light', isMobile: true, hasTouch: true }],
  ['phone-dark', { viewport: { width: 360, height: 740 }, colorScheme: 'dark', isMobile: true, hasTouch: true }],
];

export async function picture(page, folder, name) {
  mkdirSync(folder, { recursive: true });
  await page.screenshot({ path: `${folder}/${name}.png`, fullPage: true });
}
