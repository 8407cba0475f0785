import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { skipWithout } from '@granary/protocols/iscsi/testing';

const START_MS_MAX = 30_000;

/** Debian's NFS server in user space, version 4, with a local directory as `/share`: what ours is held against. */
export class Ganesha {
  readonly name = 'ganesha';
  readonly port: number;
  readonly #process: ChildProcess;

  static async start(folder: string): Promise<Ganesha> {
    const missing = await skipWithout('nfs-ganesha', 'nfs-ganesha-vfs');
    if (missing !== false) throw new Error(`${missing}: apt-get install nfs-ganesha nfs-ganesha-vfs`);
    const exported = join(folder, 'export');
    for (const path of [exported, join(folder, 'recovery')]) mkdirSync(path, { recursive: true });
    chmodSync(exported, 0o777);
    const port = await freePort();
    writeFileSync(join(folder, 'ganesha.conf'), configurationOf(folder, exported, port));
    const ganesha = new Ganesha(folder, port);
    await ganesha.#ready(join(folder, 'ganesha.log'));
    return ganesha;
  }

  private constructor(folder: string, port: number) {
    this.port = port;
    const files = ['-f', 'ganesha.conf', '-L', 'ganesha.log', '-p', 'ganesha.pid'].map((word) =>
      word.startsWith('-') ? word : join(folder, word),
    );
    this.#process = spawn('ganesha.nfsd', ['-F', '-N', 'NIV_WARN', ...files], { stdio: 'ignore' });
  }

  async stop(): Promise<void> {
    if (this.#process.exitCode !== null || this.#process.signalCode !== null) return;
    const gone = once(this.#process, 'exit');
    this.#process.kill('SIGKILL');
    await gone;
  }

  async #ready(log: string): Promise<void> {
    const giveUpAt = performance.now() + START_MS_MAX;
    while (performance.now() < giveUpAt && this.#process.exitCode === null) {
      if (await answers(this.port)) return;
      await sleep(200);
    }
    await this.stop();
    throw new Error(`nfs-ganesha did not start: ${readFileSync(log, 'utf8').slice(-2000)}`);
  }
}

function configurationOf(folder: string, exported: string, port: number): string {
  return `
NFS_CORE_PARAM { NFS_Protocols = 4; NFS_Port = ${port}; Bind_addr = 127.0.0.1; Enable_RQUOTA = false; Enable_NLM = false; }
NFSv4 { RecoveryBackend = fs; RecoveryRoot = ${join(folder, 'recovery')}; Graceless = true; }
EXPORT_DEFAULTS { Protocols = 4; Transports = TCP; SecType = sys; Squash = None; Access_Type = RW; }
EXPORT { Export_Id = 1; Path = ${exported}; Pseudo = /share; MaxRead = 1048576; MaxWrite = 1048576; FSAL { Name = VFS; } }
`;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

async function answers(port: number): Promise<boolean> {
  const socket = connect({ port, host: '127.0.0.1' });
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
