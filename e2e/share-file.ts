import { Client3 } from '../protocols/nfs/testing/client3.ts';
import { RpcClient } from '../protocols/nfs/testing/rpc-client.ts';

const NFS_PORT = 2049;
const NAME = 'content';
const MISSING = 2;

/** One file of a share, read and written over NFS as a disk is over iSCSI; what was never written reads as zeros. */
export class ShareFile {
  readonly #host: string;
  readonly #path: string;

  /** By the `nfs_export_path` of the share. */
  constructor(exportPath: string) {
    const [host = '', path = ''] = exportPath.split(':');
    this.#host = host;
    this.#path = path;
  }

  /** Durable when this resolves. */
  async write(offset: number, bytes: Buffer): Promise<void> {
    await this.#mounted(async (client) => {
      const known = await client.lookup(client.root, NAME);
      const { status, handle } =
        known.status === MISSING ? await client.create(client.root, NAME, { mode: 0o644 }) : known;
      expectDone(status);
      expectDone((await client.write(handle, offset, bytes)).status);
    });
  }

  read(offset: number, length: number): Promise<Buffer> {
    return this.#mounted(async (client) => {
      const content = Buffer.alloc(length);
      const { status, handle } = await client.lookup(client.root, NAME);
      if (status === MISSING) return content;
      expectDone(status);
      const read = await client.read(handle, offset, length);
      expectDone(read.status);
      read.data.copy(content);
      return content;
    });
  }

  async #mounted<T>(work: (client: Client3) => Promise<T>): Promise<T> {
    const rpc = await RpcClient.open(NFS_PORT, this.#host);
    try {
      // A server that is killed leaves its callers without an answer.
      const gone = new Promise<never>((_, reject) => rpc.socket.once('close', () => reject(new Error('cut off'))));
      gone.catch(() => undefined);
      return await Promise.race([Client3.mount(rpc, this.#path).then(work), gone]);
    } finally {
      rpc.close();
    }
  }
}

function expectDone(status: number): void {
  if (status !== 0) throw new Error(`NFS status ${status}`);
}
