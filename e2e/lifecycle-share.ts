import assert from 'node:assert/strict';
import type { HostedConfiguration } from '@granary/kernel';
import { until } from '../testing/waiting.ts';
import type { TestArrayProcess } from '../array/testing/array-process.ts';
import { Client3 } from '../protocols/nfs/testing/client3.ts';
import { RpcClient } from '../protocols/nfs/testing/rpc-client.ts';
import { makePool } from './block-array.ts';

const AT_ONCE = 64;
const WRITE_BYTES = 256 * 1024;
const READ_BYTES = 64 * 1024;
const LISTED_BYTES = 64 * 1024;
const UNSTABLE = 0;
const COMMITTED = 2;
const JUKEBOX = 10_008;
const SCAN_MS_MAX = 1_800_000;

/** A file as a test wants it. */
export interface ModelFile {
  readonly directory: string;
  readonly name: string;
  readonly content: Buffer;
  /** Seconds since 1970; unchanged by default. */
  readonly modified?: number;
}

/** A pool, and a server that stands for all clients on this machine. */
export async function makeSurroundings({ client }: TestArrayProcess): Promise<{ pool: string; server: string }> {
  const { pool } = await makePool(client, 'main');
  const { server_name: server } = await client.servers.create({ display_name: 'web', iscsi: '127.0.0.0/8' });
  return { pool, server };
}

/** A share that the server may mount; its name. */
export async function makeShare(
  { client }: TestArrayProcess,
  { pool, server }: { readonly pool: string; readonly server: string },
  name: string,
  capacityMb: number,
): Promise<string> {
  const wanted = { name, capacity: capacityMb, pool, block: false, mountsync: false };
  const { vol_name: share } = await client.volumes.create(wanted);
  await client.servers.attachVolumes({ id: [server], volume_name: [share], access_type: 'NFS' });
  return share;
}

export async function startScan({ client }: TestArrayProcess, share: string): Promise<void> {
  await client.lifecyclePolicies.scan({ volume_name: share });
}

/** Until no scan is under way. */
export async function scanned({ client }: TestArrayProcess, share: string): Promise<void> {
  const isIdle = async () => (await client.volumes.get({ id: share })).volume.flc_scan_state === 'idle';
  await until(isIdle, 'the share was scanned', SCAN_MS_MAX);
}

/** A share with directories below its root, over version 3. */
export class MountedShare {
  readonly client: Client3;
  readonly #directories = new Map<string, Buffer>();

  private constructor(client: Client3) {
    this.client = client;
  }

  static async mount({ management, filePort }: HostedConfiguration, name: string): Promise<MountedShare> {
    const rpc = await RpcClient.open(filePort, management.host);
    rpc.credentials = { uid: 0, gid: 0 };
    return new MountedShare(await Client3.mount(rpc, `/export/${name}`));
  }

  close(): void {
    this.client.rpc.close();
  }

  async directory(name: string): Promise<Buffer> {
    const known = this.#directories.get(name);
    if (known) return known;
    const { client } = this;
    const found = await client.lookup(client.root, name);
    const { status, handle } = found.status === 0 ? found : await client.mkdir(client.root, name);
    assert.equal(status, 0, name);
    this.#directories.set(name, handle);
    return handle;
  }

  /** Durable, all of them, when it resolves; the numbers of their inodes, in the same order. */
  async create(files: readonly ModelFile[]): Promise<number[]> {
    for (const name of new Set(files.map(({ directory }) => directory))) await this.directory(name);
    const inodes: number[] = [];
    let last: Buffer | undefined;
    await eachAtOnce([...files.entries()], async ([index, file]) => {
      const made = await this.client.create(await this.directory(file.directory), file.name, { mode: 0o666 });
      assert.equal(made.status, 0, file.name);
      inodes[index] = Number(made.attributes?.fileid);
      await this.#write(made.handle, file.content, UNSTABLE);
      const { modified } = file;
      if (modified !== undefined) await this.client.setattr(made.handle, { mtime: [modified, 0] });
      last = made.handle;
    });
    if (last) assert.equal((await this.client.commit(last)).status, 0);
    return inodes;
  }

  /** Over what is there, as a client does that retries when asked to. */
  async overwrite({ directory, name, content }: ModelFile): Promise<void> {
    const { handle } = await this.client.lookup(await this.directory(directory), name);
    await this.#write(handle, content, COMMITTED);
  }

  async names(directory: string): Promise<string[]> {
    return this.client.names(await this.directory(directory), LISTED_BYTES);
  }

  /** What is wrong with files, of those that are not as they should be. */
  async compare(files: readonly ModelFile[]): Promise<string[]> {
    const wrong: string[] = [];
    await eachAtOnce(files, async ({ directory, name, content }) => {
      const { status, handle, attributes } = await this.client.lookup(await this.directory(directory), name);
      if (status !== 0) wrong.push(`${directory}/${name}: status ${status}`);
      else if (attributes?.size !== content.length) wrong.push(`${directory}/${name}: size ${attributes?.size}`);
      else {
        const found = await this.read(handle, content.length);
        if (typeof found === 'number') wrong.push(`${directory}/${name}: reading it ended with ${found}`);
        else if (!found.equals(content)) wrong.push(`${directory}/${name}: other bytes`);
      }
    });
    return wrong;
  }

  /** The bytes, or the status it was refused with. */
  async read(handle: Buffer, length: number): Promise<Buffer | number> {
    const pieces: Buffer[] = [];
    for (let at = 0; at < length;) {
      const { status, data } = await this.client.read(handle, at, READ_BYTES);
      if (status === JUKEBOX) continue;
      if (status !== 0) return status;
      assert.ok(data.length > 0, 'it ends early');
      pieces.push(data);
      at += data.length;
    }
    return Buffer.concat(pieces);
  }

  async #write(handle: Buffer, content: Buffer, stable: number): Promise<void> {
    for (let at = 0; at < content.length;) {
      const { status } = await this.client.write(handle, at, content.subarray(at, at + WRITE_BYTES), stable);
      if (status === JUKEBOX) continue;
      assert.equal(status, 0);
      at += WRITE_BYTES;
    }
  }
}

/** Objects are named after the inodes whose data they hold. */
export function inodeOf(key: string): number {
  return Number(/\/(\d+)-\d+-[0-9a-f]+$/.exec(key)?.[1]);
}

async function eachAtOnce<T>(all: readonly T[], work: (one: T) => Promise<void>): Promise<void> {
  let next = 0;
  const worker = async () => {
    while (next < all.length) await work(all[next++] as T);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}
