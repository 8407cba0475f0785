import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);
const START_MS_MAX = 10_000;
const CONTROL_PORTS = { from: 1024, to: 32_768 };
const LOG_CHARACTERS_MAX = 64 * 1024;

export interface TgtdOptions {
  /** The file behind logical unit 1; it must be there and have its size. */
  readonly file: string;
  /** CHAP that initiators must pass, and what tgtd proves to them in turn. */
  readonly chap?: { readonly username: string; readonly secret: string };
  readonly mutualChap?: { readonly username: string; readonly secret: string };
  /** iSCSI keys of the target, by the names of RFC 7143. */
  readonly keys?: Readonly<Record<string, string>>;
  readonly thinProvisioning?: boolean;
}

/** Debian's iSCSI target on a free port of the loopback, with one target and logical unit 1: what ours is held against. */
export class Tgtd {
  readonly host = '127.0.0.1';
  readonly port: number;
  readonly targetName: string;
  readonly lun = 1;
  readonly #process: ChildProcess;
  readonly #controlPort: number;
  #log = '';

  /** Throws where tgtd is not installed: ask `skipWithout('tgt')` first. */
  static async start(options: TgtdOptions): Promise<Tgtd> {
    const tgtd = new Tgtd(await freePort(), randomInt(CONTROL_PORTS.from, CONTROL_PORTS.to));
    try {
      await tgtd.#ready();
      await tgtd.#configure(options);
      return tgtd;
    } catch (error) {
      await tgtd.stop();
      throw new Error(`tgtd did not start: ${tgtd.#log}`, { cause: error });
    }
  }

  private constructor(port: number, controlPort: number) {
    this.port = port;
    this.#controlPort = controlPort;
    this.targetName = `iqn.2026-01.com.granary.test:tgtd-${controlPort}`;
    const args = ['-f', '-C', String(controlPort), '--iscsi', `portal=127.0.0.1:${port}`];
    this.#process = spawn('tgtd', args, { stdio: ['ignore', 'pipe', 'pipe'], detached: false });
    for (const stream of [this.#process.stdout, this.#process.stderr]) {
      stream?.on('data', (text: Buffer) => (this.#log = (this.#log + text.toString()).slice(-LOG_CHARACTERS_MAX)));
    }
    this.#process.on('error', (error) => (this.#log += error.message));
  }

  get pid(): number | undefined {
    return this.#process.pid;
  }

  /** The address as libiscsi and qemu write it. */
  get url(): string {
    return `iscsi://${this.host}:${this.port}/${this.targetName}/${this.lun}`;
  }

  async stop(): Promise<void> {
    if (this.#process.pid !== undefined && this.#process.exitCode === null && this.#process.signalCode === null) {
      const gone = once(this.#process, 'exit');
      // tgtd does not heed SIGTERM while it has targets.
      this.#process.kill('SIGKILL');
      await gone;
    }
    for (const end of ['', '.lock']) rmSync(`/var/run/tgtd/socket.${this.#controlPort}${end}`, { force: true });
  }

  async #ready(): Promise<void> {
    const deadlineMs = Date.now() + START_MS_MAX;
    for (;;) {
      try {
        await this.#admin('show', 'system');
        return;
      } catch (error) {
        if (Date.now() > deadlineMs || this.#process.pid === undefined || this.#process.exitCode !== null) throw error;
        await sleep(50);
      }
    }
  }

  async #configure({ file, chap, mutualChap, keys, thinProvisioning }: TgtdOptions): Promise<void> {
    const target = ['--tid', '1'];
    const unit = [...target, '--lun', String(this.lun)];
    await this.#admin('new', 'target', ...target, '--targetname', this.targetName);
    await this.#admin('new', 'logicalunit', ...unit, '--backing-store', file);
    if (thinProvisioning === true)
      await this.#admin('update', 'logicalunit', ...unit, '--params', 'thin_provisioning=1');
    for (const [name, value] of Object.entries(keys ?? {})) {
      await this.#admin('update', 'target', ...target, '--name', name, '--value', value);
    }
    if (chap !== undefined) await this.#account(chap, target);
    if (mutualChap !== undefined) await this.#account(mutualChap, [...target, '--outgoing']);
    await this.#admin('bind', 'target', ...target, '--initiator-address', 'ALL');
  }

  async #account({ username, secret }: { username: string; secret: string }, bind: readonly string[]): Promise<void> {
    await this.#admin('new', 'account', '--user', username, '--password', secret);
    await this.#admin('bind', 'account', ...bind, '--user', username);
  }

  async #admin(operation: string, mode: string, ...rest: string[]): Promise<void> {
    const control = ['-C', String(this.#controlPort), '--lld', 'iscsi'];
    await run('tgtadm', [...control, '--op', operation, '--mode', mode, ...rest]);
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
