import { Client3 } from '../protocols/nfs/testing/client3.ts';
import { RpcClient } from '../protocols/nfs/testing/rpc-client.ts';

const AT_ONCE = 64;
const READ_BYTES = 64 * 1024;

/** The contents of a tree of files, by path. */
export type Tree = Map<string, Buffer>;

/** A tree that depends on nothing but the number of its files and `seed`. */
export function generateTree(files: number, seed: string): Tree {
  const tree: Tree = new Map();
  for (let index = 0; index < files; index += 1) {
    const path = `d${index % 50}/e ${index % 3}/ü${index}.bin`;
    tree.set(path, Buffer.alloc((index * 37) % 5000, `${seed} ${index};`));
  }
  return tree;
}

/** A share by version 3, with paths. */
export class ShareFiles {
  readonly #client: Client3;
  readonly #directories = new Map<string, Promise<Buffer>>();

  private constructor(client: Client3) {
    this.#client = client;
  }

  static async mount(host: string, port: number, path: string): Promise<ShareFiles> {
    const rpc = await RpcClient.open(port, host);
    rpc.credentials = { uid: 0, gid: 0 };
    return new ShareFiles(await Client3.mount(rpc, path));
  }

  close(): void {
    this.#client.rpc.close();
  }

  /** Durable when it returns. */
  async write(tree: Tree): Promise<void> {
    await atOnce([...tree], async ([path, content]) => {
      const directory = await this.#directory(parentOf(path));
      const { handle } = done(path, await this.#client.create(directory, nameOf(path)));
      done(path, await this.#client.setattr(handle, { size: 0 }));
      if (content.length > 0) done(path, await this.#client.write(handle, 0, content));
    });
  }

  async remove(paths: readonly string[]): Promise<void> {
    await atOnce(paths, async (path) => {
      done(path, await this.#client.remove(await this.#directory(parentOf(path)), nameOf(path)));
    });
  }

  /** All the files that it finds by itself. */
  async read(): Promise<Tree> {
    const paths: string[] = [];
    for (const top of await this.#names('')) {
      for (const below of await this.#names(top)) {
        const directory = `${top}/${below}`;
        for (const name of await this.#names(directory)) paths.push(`${directory}/${name}`);
      }
    }
    const tree: Tree = new Map();
    await atOnce(paths, async (path) => {
      const { handle } = done(path, await this.#client.lookup(await this.#directory(parentOf(path)), nameOf(path)));
      tree.set(path, done(path, await this.#client.read(handle, 0, READ_BYTES)).data);
    });
    return tree;
  }

  async #names(path: string): Promise<string[]> {
    const names = await this.#client.names(await this.#directory(path), READ_BYTES);
    return names.filter((name) => !name.startsWith('.'));
  }

  /** Made if it is not there. */
  #directory(path: string): Promise<Buffer> {
    const known = this.#directories.get(path);
    if (known !== undefined) return known;
    const found = path === '' ? Promise.resolve(this.#client.root) : this.#find(path);
    this.#directories.set(path, found);
    return found;
  }

  async #find(path: string): Promise<Buffer> {
    const above = await this.#directory(parentOf(path));
    const { status, handle } = await this.#client.lookup(above, nameOf(path));
    return status === 0 ? handle : done(path, await this.#client.mkdir(above, nameOf(path))).handle;
  }
}

function done<T extends { readonly status: number }>(path: string, result: T): T {
  if (result.status !== 0) throw new Error(`${path}: status ${result.status}`);
  return result;
}

async function atOnce<T>(all: readonly T[], work: (one: T) => Promise<void>): Promise<void> {
  let next = 0;
  const worker = async () => {
    while (next < all.length) await work(all[next++] as T);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}

function parentOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf('/')));
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}
