import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, globSync, mkdirSync, openSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { BUCKET, listedKey, SwiftTarget } from './target.ts';

const run = promisify(execFile);
const PYTHON = '/usr/bin/python3';
const PROGRAMS = ['proxy', 'account', 'container', 'object'] as const;
const HOST = '127.0.0.1';
const DEVICES = ['d1', 'd2', 'd3'];
const WORKERS = 2;
const START_MS_MAX = 30_000;

type Program = (typeof PROGRAMS)[number];

export interface SwiftPeer {
  readonly target: SwiftTarget;
  stop(): Promise<void>;
}

/** Debian's Swift as an all-in-one on the disk of `folder`, or why it cannot be had. */
export async function startSwift(folder: string, keys: number): Promise<SwiftPeer | string> {
  const missing = ['/usr/bin/memcached', ...PROGRAMS.map(programOf)].filter((file) => !existsSync(file));
  if (missing.length > 0)
    return `${missing.join(', ')}: apt-get install swift-proxy swift-account swift-container swift-object memcached`;
  const own = join(folder, 'swift');
  mkdirSync(own);
  const swift = new Swift(own);
  try {
    return { target: await swift.start(keys), stop: () => swift.stop() };
  } catch (error) {
    await swift.stop();
    return `Swift could not be started (${error instanceof Error ? error.message : String(error)})`;
  }
}

function programOf(program: Program): string {
  return `/usr/bin/swift-${program}-server`;
}

/** Three copies on three folders, one account with a token, `WORKERS` processes for each server. */
class Swift {
  readonly #folder: string;
  readonly #servers: ChildProcess[] = [];
  #memcached: ChildProcess | undefined;
  #ports: Readonly<Record<Program | 'memcached', number>> | undefined;

  constructor(folder: string) {
    this.#folder = folder;
  }

  async start(keys: number): Promise<SwiftTarget> {
    const [proxy, account, container, object, memcached] = await freePorts(5);
    this.#ports = { proxy, account, container, object, memcached } as Record<Program | 'memcached', number>;
    for (const device of DEVICES) mkdirSync(join(this.#folder, 'devices', device), { recursive: true });
    this.#configure();
    for (const ring of ['account', 'container', 'object'] as const) await this.#makeRing(ring);
    this.#memcached = this.#spawn('/usr/bin/memcached', [
      '-l',
      HOST,
      '-p',
      String(memcached),
      '-u',
      userInfo().username,
    ]);
    for (const program of PROGRAMS) this.#servers.push(this.#spawn(PYTHON, ['-c', this.#launcher(program)]));
    const target = await this.#signIn();
    await this.#fill(target, keys);
    return target;
  }

  async stop(): Promise<void> {
    // Each server is a group of processes: its workers are children of its own.
    await Promise.all(this.#servers.map((server) => end(server, (pid) => process.kill(-pid, 'SIGKILL'))));
    if (this.#memcached) await end(this.#memcached, (pid) => process.kill(pid, 'SIGKILL'));
  }

  #port(program: Program | 'memcached'): number {
    return this.#ports?.[program] ?? 0;
  }

  #configure(): void {
    this.#write('swift.conf', [
      '[swift-hash]\nswift_hash_path_suffix = bench\nswift_hash_path_prefix = bench',
      '[storage-policy:0]\nname = three-copies\ndefault = yes',
    ]);
    const own = (program: Program) =>
      `[DEFAULT]\nbind_ip = ${HOST}\nbind_port = ${this.#port(program)}\nworkers = ${WORKERS}\n` +
      `user = ${userInfo().username}\nswift_dir = ${this.#folder}\ndevices = ${join(this.#folder, 'devices')}\n` +
      'mount_check = false\nlog_level = ERROR';
    this.#write('proxy-server.conf', [
      own('proxy'),
      '[pipeline:main]\npipeline = cache tempauth proxy-server',
      '[app:proxy-server]\nuse = egg:swift#proxy\naccount_autocreate = true',
      '[filter:tempauth]\nuse = egg:swift#tempauth\nuser_bench_bench = bench .admin',
      `[filter:cache]\nuse = egg:swift#memcache\nmemcache_servers = ${HOST}:${this.#port('memcached')}`,
    ]);
    for (const program of ['account', 'container', 'object'] as const) {
      const app = `[app:${program}-server]\nuse = egg:swift#${program}`;
      this.#write(`${program}-server.conf`, [own(program), `[pipeline:main]\npipeline = ${program}-server`, app]);
    }
  }

  #write(name: string, sections: readonly string[]): void {
    writeFileSync(join(this.#folder, name), `${sections.join('\n\n')}\n`);
  }

  async #makeRing(ring: 'account' | 'container' | 'object'): Promise<void> {
    const build = (...args: string[]) =>
      run('/usr/bin/swift-ring-builder', [`${ring}.builder`, ...args], { cwd: this.#folder });
    await build('create', '8', '3', '1');
    for (const [index, device] of DEVICES.entries()) {
      await build('add', `r1z${index + 1}-${HOST}:${this.#port(ring)}/${device}`, '1');
    }
    await build('rebalance');
  }

  /** Debian's own program in a group of its own, with this folder's swift.conf instead of the one in /etc. */
  #launcher(program: Program): string {
    const arguments_ = [programOf(program), join(this.#folder, `${program}-server.conf`)];
    return `${this.#ownConf()}os.setpgid(0, 0); sys.argv = ${JSON.stringify(arguments_)}; runpy.run_path(sys.argv[0], run_name='__main__')`;
  }

  #ownConf(): string {
    const conf = JSON.stringify(join(this.#folder, 'swift.conf'));
    return `import os, runpy, sys, swift.common.utils as utils; utils.SWIFT_CONF_FILE = ${conf}; `;
  }

  #spawn(program: string, args: readonly string[]): ChildProcess {
    const log = openSync(join(this.#folder, 'log'), 'a');
    const child = spawn(program, args, { cwd: this.#folder, stdio: ['ignore', log, log] });
    child.on('error', () => undefined);
    return child;
  }

  async #signIn(): Promise<SwiftTarget> {
    const url = `http://${HOST}:${this.#port('proxy')}`;
    const headers = { 'x-auth-user': 'bench:bench', 'x-auth-key': 'bench' };
    const end = performance.now() + START_MS_MAX;
    for (;;) {
      const reply = await fetch(`${url}/auth/v1.0`, { headers }).catch(() => undefined);
      const token = reply?.headers.get('x-auth-token');
      const path = new URL(reply?.headers.get('x-storage-url') ?? url).pathname;
      if (token && (await this.#makeContainer(`${url}${path}`, token))) {
        return new SwiftTarget('Swift', { host: HOST, port: this.#port('proxy') }, { path, token });
      }
      if (performance.now() > end) throw new Error(`it does not answer; see ${join(this.#folder, 'log')}`);
      await sleep(500);
    }
  }

  async #makeContainer(account: string, token: string): Promise<boolean> {
    const headers = { 'x-auth-token': token };
    const reply = await fetch(`${account}/${BUCKET}`, { method: 'PUT', headers }).catch(() => undefined);
    return reply?.ok === true;
  }

  /** Enters keys into each copy of the container's database by Swift's own code: by PUTs it would take an hour. */
  async #fill(target: SwiftTarget, keys: number): Promise<void> {
    const files = globSync(join(this.#folder, 'devices/*/containers/*/*/*/*.db'));
    if (files.length !== DEVICES.length) throw new Error(`${target.name} has ${files.length} copies of its container`);
    const first = listedKey(0);
    const script = `${this.#ownConf()}from swift.container.backend import ContainerBroker
for file in ${JSON.stringify(files)}:
    broker = ContainerBroker(file)
    for start in range(0, ${keys}, 10000):
        broker.merge_items([{'name': '${first.slice(0, -7)}%07d' % number, 'created_at': '1700000000.00000', 'size': 16,
            'content_type': 'text/plain', 'etag': 'd41d8cd98f00b204e9800998ecf8427e', 'deleted': 0,
            'storage_policy_index': 0} for number in range(start, start + 10000)])
`;
    await run(PYTHON, ['-c', script]);
  }
}

async function end(child: ChildProcess, kill: (pid: number) => void): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, 'exit');
  kill(child.pid);
  await exit;
}

/** Free at this moment: all are held until all are known. */
async function freePorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => createServer());
  const ports: number[] = [];
  for (const server of servers) {
    server.listen(0, HOST);
    await once(server, 'listening');
    ports.push((server.address() as AddressInfo).port);
  }
  for (const server of servers) server.close();
  return ports;
}
