import { createHash } from 'node:crypto';
import { chmodSync, rmSync } from 'node:fs';
import { connect, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import type { Log } from '@granary/kernel';

/**
 * A socket in the data folder, for its owner alone, over which other commands on this machine reach the services that
 * run there: one line of JSON each way. A database is locked by the process that has it, so only that process can copy it.
 */
type Request = { readonly copy: string; readonly to: string } | { readonly hello: true };
type Reply = { readonly ok: true; readonly parts: readonly string[] } | { readonly problem: string };

/** What can be copied of each service, by its name. */
export type Copies = ReadonlyMap<string, (target: string) => Promise<void>>;

/** Longer names of sockets are refused by the system. */
const PATH_LENGTH_MAX = 100;
const LINE_LENGTH_MAX = 10_000;
const ANSWER_MS_MAX = 600_000;

export async function serveControl(folder: string, copies: () => Copies, log: Log): Promise<() => Promise<void>> {
  const path = socketOf(folder);
  const server = createServer((socket) => {
    socket.on('error', () => socket.destroy());
    createInterface({ input: socket }).once('line', (line) => {
      void answer(line, copies()).then((reply) => socket.end(`${JSON.stringify(reply)}\n`));
    });
  });
  server.on('error', (error) => log.warn({ error }, 'the control socket failed'));
  // The socket of a process that was killed; one that lives has the databases locked, and this start fails of that.
  rmSync(path, { force: true });
  if (!(await listening(server, path))) {
    log.warn({ path }, 'there is no control socket; a backup needs the services to be stopped');
    return () => Promise.resolve();
  }
  chmodSync(path, 0o600);
  server.unref();
  return () => new Promise((done) => server.close(() => done()));
}

/** Names of the services that run on the folder; undefined when none answers. */
export async function runningParts(folder: string): Promise<readonly string[] | undefined> {
  try {
    const reply = await requestControl(folder, { hello: true });
    return 'ok' in reply ? reply.parts : undefined;
  } catch {
    return undefined;
  }
}

export async function copyOfRunning(folder: string, part: string, target: string): Promise<void> {
  const reply = await requestControl(folder, { copy: part, to: target });
  if ('problem' in reply) throw new Error(reply.problem);
}

async function answer(line: string, copies: Copies): Promise<Reply> {
  try {
    if (line.length > LINE_LENGTH_MAX) throw new Error('The request is too long.');
    const request = JSON.parse(line) as Request;
    if ('copy' in request) {
      const copy = copies.get(request.copy);
      if (!copy) throw new Error(`No service named ${request.copy} runs here.`);
      await copy(request.to);
    }
    return { ok: true, parts: [...copies.keys()] };
  } catch (error) {
    return { problem: error instanceof Error ? error.message : String(error) };
  }
}

function requestControl(folder: string, request: Request): Promise<Reply> {
  return new Promise((settle, reject) => {
    const socket = connect(socketOf(folder));
    socket.setTimeout(ANSWER_MS_MAX, () => socket.destroy(new Error('Granary did not answer in time.')));
    socket.on('error', reject);
    socket.on('close', () => reject(new Error('Granary went away.')));
    createInterface({ input: socket })
      .once('line', (line) => settle(JSON.parse(line) as Reply))
      .on('error', reject);
    socket.write(`${JSON.stringify(request)}\n`);
  });
}

function listening(server: Server, path: string): Promise<boolean> {
  return new Promise((settle) => {
    server.once('listening', () => settle(true));
    server.once('error', () => settle(false));
    server.listen(path);
  });
}

function socketOf(folder: string): string {
  const path = join(resolve(folder), 'control.sock');
  if (path.length <= PATH_LENGTH_MAX) return path;
  return join(tmpdir(), `granary-${createHash('sha256').update(path).digest('hex').slice(0, 24)}.sock`);
}
