import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { getHeapStatistics } from 'node:v8';
import { Worker } from 'node:worker_threads';
import type { HostedConfiguration } from '../../kernel/process/configuration.ts';
import type { EncryptionChange } from '../../kernel/process/messages.ts';
import { runProgram, type HostedProgram, type ProgramHost } from '../../kernel/process/program.ts';

const PULSES = `
const { pulseWriter } = require(${JSON.stringify(fileURLToPath(new URL('../../kernel/process/pulse.ts', import.meta.url)))});
const pulse = pulseWriter();
setInterval(pulse, 10);
require('node:worker_threads').parentPort.postMessage('pulses');`;

/**
 * An array process that behaves as a file named `mood` in its folder says:
 * `serve` (also without a file), `fail` (reports a failure at its start), `exit` (ends without a word),
 * `never ready`, `stubborn` (does not stop when asked), `threaded` (its data path has a thread of its own). Asked over
 * HTTP it crashes, stops answering there, blocks its main thread for a while, gives a drive or proxy controllers back, or
 * says that it is encrypted or not;
 * it tells how many drives it has, which certificate it was given and which limits it runs in.
 */
async function start(configuration: HostedConfiguration, cloud: ProgramHost): Promise<HostedProgram> {
  const mood = moodOf(configuration);
  writeFileSync(join(configuration.folder, 'data'), 'kept');
  if (mood === 'fail') throw new Error('The cellar is flooded.');
  if (mood === 'exit') process.exit(7);
  if (mood === 'never ready') await new Promise(() => setInterval(() => undefined, 1000));
  if (mood === 'stubborn') process.prependListener('SIGTERM', () => setInterval(() => undefined, 1000));
  if (mood === 'threaded') await once(new Worker(PULSES, { eval: true }), 'message');
  let current = configuration;
  let deaf = false;
  const changes: EncryptionChange[] = [];
  const server = createServer((request, response) => {
    if (request.url === '/crash') throw new Error('A beam broke.');
    if (request.url === '/deaf') deaf = true;
    if (deaf) return;
    const encrypted = /^\/encryption\/(on|off)$/.exec(request.url ?? '')?.[1];
    if (encrypted !== undefined) {
      const change = { id: `change-${changes.length + 1}`, active: encrypted === 'on', at: Date.now() };
      changes.push(change);
      void cloud.reportEncryption(changes).then(() => response.end('told'));
      return;
    }
    if (request.url === '/hang') hangWhile(join(configuration.folder, 'hang'));
    const returned = /^\/return\/(.+)$/.exec(request.url ?? '')?.[1];
    const proxiesKept = /^\/proxies\/(\d+)$/.exec(request.url ?? '')?.[1];
    if (returned !== undefined || proxiesKept !== undefined) {
      const given = returned === undefined ? cloud.returnProxies(Number(proxiesKept)) : cloud.returnDrive(returned);
      const answer = given.then(() => 'taken');
      void answer.catch((error: unknown) => String(error)).then((text) => response.end(text));
      return;
    }
    process.stdout.write(`asked for ${request.url}\n`);
    if (request.url === '/limits') {
      const heapMb = Math.round(getHeapStatistics().heap_size_limit / 2 ** 20);
      response.end(JSON.stringify({ heapMb, ioThreads: process.env['UV_THREADPOOL_SIZE'] }));
      return;
    }
    if (request.url === '/certificate') response.end(current.tls?.cert ?? '');
    else response.end(request.url === '/drives' ? String(current.drives.length) : 'ok');
  });
  const { host, port } = configuration.management;
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen({ host, port }, resolve));
  return {
    get bound() {
      return [host, ...current.interfaces.map(({ address }) => address)];
    },
    async change(next) {
      if (moodOf(next) === 'refuse') throw new Error('No more room.');
      current = next;
    },
    async stop() {
      if (mood === 'stubborn') await new Promise(() => undefined);
      server.close();
    },
  };
}

/** Blocks this thread for as long as the file is there. */
function hangWhile(file: string): void {
  const never = new Int32Array(new SharedArrayBuffer(4));
  while (existsSync(file)) Atomics.wait(never, 0, 0, 20);
}

function moodOf({ folder }: HostedConfiguration): string {
  const file = join(folder, 'mood');
  return existsSync(file) ? readFileSync(file, 'utf8') : 'serve';
}

runProgram(start);
