import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createServer, type AddressInfo } from 'node:net';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { cloudClient, portalClient, type CloudClient, type PortalClient } from '@granary/client';

const command = fileURLToPath(new URL('../cli/bin/granary.js', import.meta.url));
const READY_MS_MAX = 60_000;
const PAUSE_TURN_MS = 50;

export const adminPassword = 'an end to end password';

export interface Granary {
  readonly url: string;
  readonly cloudUrl: string;
  readonly dataDir: string;
  /** Everything it printed until it was ready. */
  readonly output: readonly string[];
  readonly process: ChildProcess;
  admin(): Promise<PortalClient>;
  /** The cloud's own interface, past the portal: to check its inventory. */
  cloud(): CloudClient;
  /** Asks it to stop; resolves with its exit code. */
  stop(): Promise<number | null>;
  /** As a power cut would: the process and its children, at once. */
  kill(): Promise<void>;
}

/** Loopback addresses that no other process uses: a block of our own, by the number of this process. */
export function ownAddresses(): string {
  return `127.${100 + (process.pid % 100)}.${(process.pid >> 4) % 256}.0/24`;
}

interface StartOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly addresses?: string;
  /** Fewer files and sockets than this process may open. */
  readonly openFilesMax?: number | undefined;
  /** Another `granary` than that of this source, started as a program. */
  readonly installed?: string | undefined;
}

/** `granary up` as an operator runs it, on free ports. */
export async function startGranary(
  dataDir: string,
  { env = {}, addresses = ownAddresses(), openFilesMax, installed }: StartOptions = {},
): Promise<Granary> {
  const cloudPort = await freePort();
  const args = ['up', '--data', dataDir, '--port', '0', '--cloud-port', String(cloudPort), '--addresses', addresses];
  const service = await startService(args, { env, openFilesMax, installed });
  const { url } = service;
  const cloudUrl = `http://127.0.0.1:${cloudPort}`;
  return {
    ...service,
    cloudUrl,
    dataDir,
    async admin() {
      const { data } = await portalClient({ url }).tokens.get({
        username: 'admin',
        password: env['GRANARY_ADMIN_PASSWORD'] ?? adminPassword,
      });
      return portalClient({ url, token: data.token });
    },
    cloud() {
      const key = readFileSync(join(dataDir, 'cloud', 'admin.key'), 'utf8').trim();
      return cloudClient({ url: cloudUrl, user: 'cloud', key });
    },
  };
}

/** A part of Granary in a process of its own. */
export type Service = Pick<Granary, 'url' | 'output' | 'process' | 'stop' | 'kill'>;

/** A command that serves, once it is ready; rejects with what it said when it ends before. */
export async function startService(
  args: readonly string[],
  { env = {}, openFilesMax, installed }: Omit<StartOptions, 'addresses'> = {},
): Promise<Service> {
  const [program, ...before] = installed === undefined ? [...limited(openFilesMax), command] : [installed];
  const child = spawn(program, [...before, ...args], {
    // A group of its own, so that all of it can be killed at once.
    detached: true,
    env: { ...process.env, GRANARY_ADMIN_PASSWORD: adminPassword, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const output: string[] = [];
  const url = await readyUrl(child, output);
  return {
    url,
    output,
    process: child,
    async stop() {
      if (child.exitCode !== null) return child.exitCode;
      child.kill('SIGTERM');
      const [code] = (await once(child, 'exit')) as [number | null];
      return code;
    },
    kill: () => killAll(child),
  };
}

function limited(openFilesMax: number | undefined): readonly [string, ...string[]] {
  if (openFilesMax === undefined) return [process.execPath];
  return ['sh', '-c', `ulimit -n ${openFilesMax} && exec "$0" "$@"`, process.execPath];
}

export interface FarCloud {
  readonly address: string;
  readonly adminKey: string;
  client(): CloudClient;
  /** As a power cut would. */
  kill(): Promise<void>;
}

/** `granary cloud` as a second machine runs it. */
export async function startFarCloud(dataDir: string, addresses: string): Promise<FarCloud> {
  const args = ['cloud', '--data', dataDir, '--port', '0', '--addresses', addresses];
  const { url, kill } = await startService(args);
  const adminKey = readFileSync(join(dataDir, 'cloud', 'admin.key'), 'utf8').trim();
  return {
    address: new URL(url).host,
    adminKey,
    client: () => cloudClient({ url, user: 'cloud', key: adminKey }),
    kill,
  };
}

async function killAll(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  process.kill(-(child.pid as number), 'SIGKILL');
  await once(child, 'exit');
}

export async function freePort(host = '127.0.0.1'): Promise<number> {
  const server = createServer().listen(0, host);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  return port;
}

async function readyUrl(child: ChildProcess, output: string[]): Promise<string> {
  const errors: string[] = [];
  child.stderr?.on('data', (chunk: Buffer) => errors.push(chunk.toString()));
  const printed = () => [...output, ...errors].join('\n');
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      reject(new Error(`Granary was not ready in ${READY_MS_MAX} ms:\n${printed()}`));
    }, READY_MS_MAX);
    child.on('exit', (code) => {
      clearTimeout(timer);
      reject(new Error(`Granary ended with ${code} before it was ready:\n${printed()}`));
    });
    createInterface({ input: child.stdout as NodeJS.ReadableStream }).on('line', (line) => {
      output.push(line);
      const url = /^Granary is ready.*?(https?:\/\/\S+)/.exec(line)?.[1];
      if (url === undefined) return;
      clearTimeout(timer);
      resolve(url);
    });
  });
}

/** Waits in short turns: if the machine stands still, no more than one turn counts, as for the process that is waited for. */
export async function pause(ms: number): Promise<void> {
  for (let turn = 0; turn < ms / PAUSE_TURN_MS; turn += 1) {
    await new Promise((resolve) => setTimeout(resolve, PAUSE_TURN_MS));
  }
}
