import type { Credentials } from './files/access.ts';
import type { FilesystemChanges, Context } from './files/context.ts';
import { dropXattr, readXattr, setXattr, type XattrMode, xattrNames } from './files/xattr-operations.ts';
import type { Awaitable } from './store/filesystem-store.ts';

/** Extended attributes of files, ACLs among them. Changes are durable when they resolve. */
export class FilesystemXattrs {
  readonly #context: Context;
  readonly #changes: FilesystemChanges;

  constructor(context: Context, changes: FilesystemChanges) {
    this.#context = context;
    this.#changes = changes;
  }

  get(credentials: Credentials, inode: number, name: Buffer): Awaitable<Buffer> {
    const { store } = this.#context;
    return store.read(() => readXattr(store.tree, credentials, inode, name));
  }

  list(credentials: Credentials, inode: number): Awaitable<Buffer[]> {
    const { store } = this.#context;
    return store.read(() => xattrNames(store.tree, credentials, inode));
  }

  async set(
    credentials: Credentials,
    inode: number,
    name: Buffer,
    value: Buffer,
    mode: XattrMode = 'set',
  ): Promise<void> {
    await this.#changes.durably((transaction) =>
      setXattr(transaction, this.#context, credentials, inode, { name, value, mode }),
    );
  }

  async remove(credentials: Credentials, inode: number, name: Buffer): Promise<void> {
    await this.#changes.durably((transaction) => dropXattr(transaction, this.#context, credentials, inode, name));
  }
}
