import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Arguments } from '../../operations.ts';
import type { Bucket, Place, StagedBlob, WrittenVersion } from '../../records.ts';
import { IndexWriter } from '../writer.ts';

export const ACCOUNT = 'a'.repeat(32);
export const AT = 20_000 * 86_400_000;

export function stagedBlob(size: number, places?: readonly (Place | null)[], partition = 7): StagedBlob {
  const kept = places ?? [1, 2].map((drive) => ({ drive, segment: 1, offset: 0 }));
  return { partition, id: randomBytes(16), size, key: 0, places: kept, pieceBytes: size + 100 };
}

/** An index of its own, with the changes that tests make most. */
export class IndexFixture implements AsyncDisposable {
  readonly folder = mkdtempSync(path.join(tmpdir(), 'granary-index-'));
  readonly file = path.join(this.folder, 'index.db');
  #writer = new IndexWriter(this.file);

  get writer(): IndexWriter {
    return this.#writer;
  }

  bucket(name = 'bucket', more: Partial<Arguments<'createBucket'>> = {}): Promise<Bucket> {
    const wanted = { account: ACCOUNT, name, policy: 0, lockable: false, settings: {}, at: AT, ...more };
    return this.#writer.commit('createBucket', wanted);
  }

  put(bucket: Bucket, key: string, more: Partial<Arguments<'putObject'>> = {}): Promise<WrittenVersion> {
    return this.#writer.commit('putObject', {
      bucket: bucket.id,
      key,
      content: { kind: 'staged', blobs: [stagedBlob(1000)] },
      size: 1000,
      etag: '0'.repeat(32),
      owner: 'b'.repeat(32),
      attributes: {},
      at: AT,
      ...more,
    });
  }

  async reopen(): Promise<void> {
    await this.#writer.close();
    this.open();
  }

  /** After its writer was closed. */
  open(): void {
    this.#writer = new IndexWriter(this.file);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#writer.close();
    rmSync(this.folder, { recursive: true, force: true });
  }
}
