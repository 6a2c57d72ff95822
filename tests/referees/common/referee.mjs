// What the referees in JavaScript have in common: how they judge, and how they start what they judge.
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

let failed = 0;

/** Judges one thing, in a line. */
export async function judge(name, check) {
  try {
    await check();
    console.log(`ok    ${name}`);
  } catch (error) {
    failed += 1;
    console.log(`FAIL  ${name}: ${String(error?.stack ?? error).split('\n').slice(0, 3).join(' | ')}`);
  }
}

export function expect(good, otherwise) {
  if (!good) throw new Error(typeof otherwise === 'string' ? otherwise : JSON.stringify(otherwise));
}

/** What the process ends with. */
export const status = () => (failed ? 1 : 0);

/**
 * A demo server whose log goes to a stream. Gives its address; `stop`, which waits for its end; and `log`, for what it has said so
 * far. One that does not start has no address but an exit `code`.
 */
export async function serve(kobana, log, { options = [], settings = {} } = {}) {
  const env = { ...process.env, ...settings };
  const child = spawn(kobana, ['serve', '--demo', '--listen', '127.0.0.1:0', ...options], { env });
  let said = '';
  child.stderr.on('data', (data) => { said += data; log.write(data); });
  const ended = new Promise((resolve) => child.on('exit', resolve));
  for await (const line of createInterface(child.stdout)) {
    const found = /REST\s+(http:\/\/\S+)\/api\/v1/.exec(line);
    if (found) {
      const stop = () => { child.kill(); return ended; };
      return { base: found[1], stop, log: () => said };
    }
  }
  return { code: await ended, log: () => said };
}
