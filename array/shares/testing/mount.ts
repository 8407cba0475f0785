import { Client3 } from '../../../protocols/nfs/testing/client3.ts';
import { RpcClient } from '../../../protocols/nfs/testing/rpc-client.ts';
import type { Lasting, TestArray } from '../../testing/test-array.ts';

/** A share as a client of NFS has it, by the paths of its files. What fails says with which status. */
class MountedTestShare {
  readonly #client: Client3;

  constructor(client: Client3) {
    this.#client = client;
  }

  async write(name: string, text: string, mode = 0o644): Promise<void> {
    const known = await this.#client.lookup(this.#client.root, name);
    const { status, handle } =
      known.status === 0 ? known : await this.#client.create(this.#client.root, name, { mode });
    expectDone(status);
    expectDone((await this.#client.write(handle, 0, Buffer.from(text))).status);
  }

  async read(...path: readonly string[]): Promise<string> {
    const { status, data } = await this.#client.read(await this.#find(path), 0, 10_000);
    expectDone(status);
    return data.toString();
  }

  async attributes(...path: readonly string[]) {
    const { status, attributes } = await this.#client.getattr(await this.#find(path));
    expectDone(status);
    return attributes!;
  }

  names(): Promise<string[]> {
    return this.#client.names(this.#client.root);
  }

  async #find(path: readonly string[]): Promise<Buffer> {
    let place = this.#client.root;
    for (const name of path) {
      const { status, handle } = await this.#client.lookup(place, name);
      expectDone(status);
      place = handle;
    }
    return place;
  }
}

export async function mountShare(t: Lasting, array: TestArray, exportName: string, uid = 0): Promise<MountedTestShare> {
  const { management, filePort } = array.configuration;
  const rpc = await RpcClient.open(filePort, management.host);
  rpc.credentials = { uid, gid: uid };
  t.after(() => rpc.close());
  return new MountedTestShare(await Client3.mount(rpc, `/export/${exportName}`));
}

function expectDone(status: number): void {
  if (status !== 0) throw new Error(`status ${status}`);
}
