import type { Database, Transaction } from '@granary/kernel/sqlite';
import { StorageError } from '../../errors.ts';
import type { PoolCommits } from '../../metadata/pool-commits.ts';
import { digestBytes } from './digest.ts';

interface SharedChunk {
  readonly digest: string;
  address: number;
  /** Map entries that refer to it; 0 when it is released. */
  owners: number;
  /** Counts changes, to distinguish what a commit has written from later changes. */
  version: number;
}

interface Row {
  readonly digest: Uint8Array;
  readonly address: number;
  readonly owners: number;
}

const CACHED_MAX = 16_384;

/**
 * The chunks that can be shared, by digest. The index is in the pool's file; memory holds only the changes that are not
 * written yet, and recently used rows.
 */
export class ChunkIndex {
  readonly #database: Database;
  readonly #commits: PoolCommits;
  /** Changed since the last commit began. */
  readonly #changed = new Set<SharedChunk>();
  /** Changed and not written to the file yet. */
  readonly #unsaved = new Map<string, SharedChunk>();
  readonly #cached = new Map<string, SharedChunk>();
  readonly #byAddress = new Map<number, SharedChunk>();

  constructor(database: Database, commits: PoolCommits) {
    this.#database = database;
    this.#commits = commits;
    commits.beforeEach(() => this.#handOver());
  }

  /** Rows changed since the last commit began. */
  get changedCount(): number {
    return this.#changed.size;
  }

  /** Adds an owner to the chunk of this digest; returns its address, when there is one. */
  share(digest: string): number | undefined {
    const chunk = this.#find(digest);
    if (!chunk || chunk.owners === 0) return undefined;
    chunk.owners++;
    this.#change(chunk);
    return chunk.address;
  }

  /** Adds a new chunk with one owner. The digest must not exist. */
  add(digest: string, address: number): void {
    const chunk = this.#unsaved.get(digest) ?? { digest, address, owners: 0, version: 0 };
    chunk.address = address;
    chunk.owners = 1;
    this.#byAddress.set(address, chunk);
    this.#change(chunk);
  }

  /** Removes an owner of the chunk; true when it was the last. */
  leave(address: number): boolean {
    const chunk = this.#findAt(address);
    if (!chunk) {
      throw new StorageError('invalid', `The pool's index lacks the chunk at ${address}; run the check of the pool.`);
    }
    chunk.owners--;
    this.#change(chunk);
    if (chunk.owners > 0) return false;
    this.#byAddress.delete(address);
    return true;
  }

  #find(digest: string): SharedChunk | undefined {
    const known = this.#unsaved.get(digest) ?? this.#cached.get(digest);
    if (known) return known;
    const row = this.#database.get<Row>(
      'SELECT digest, address, owners FROM shared_chunks WHERE digest = ?',
      digestBytes(digest),
    );
    return row && this.#remember(row);
  }

  #findAt(address: number): SharedChunk | undefined {
    const known = this.#byAddress.get(address);
    if (known) return known;
    const row = this.#database.get<Row>('SELECT digest, address, owners FROM shared_chunks WHERE address = ?', address);
    return row && this.#remember(row);
  }

  #remember(row: Row): SharedChunk {
    const digest = Buffer.from(row.digest).toString('latin1');
    const chunk: SharedChunk = { digest, address: row.address, owners: row.owners, version: 0 };
    this.#byAddress.set(row.address, chunk);
    this.#cache(chunk);
    return chunk;
  }

  #cache(chunk: SharedChunk): void {
    this.#cached.set(chunk.digest, chunk);
    if (this.#cached.size <= CACHED_MAX) return;
    for (const [digest, oldest] of this.#cached) {
      this.#cached.delete(digest);
      this.#byAddress.delete(oldest.address);
      return;
    }
  }

  #change(chunk: SharedChunk): void {
    chunk.version++;
    this.#cached.delete(chunk.digest);
    this.#unsaved.set(chunk.digest, chunk);
    this.#changed.add(chunk);
  }

  #handOver(): void {
    if (this.#changed.size === 0) return;
    // Copied now, like the maps of this commit.
    const rows = [...this.#changed].map((chunk) => ({ ...chunk, chunk }));
    this.#changed.clear();
    this.#commits.enqueue((tx) => {
      for (const row of rows) writeRow(tx, row);
    });
    this.#commits.afterNext(() => {
      for (const { chunk, version } of rows) if (chunk.version === version) this.#saved(chunk);
    });
  }

  #saved(chunk: SharedChunk): void {
    this.#unsaved.delete(chunk.digest);
    if (chunk.owners > 0) this.#cache(chunk);
  }
}

function writeRow(tx: Transaction, { digest, address, owners }: SharedChunk): void {
  if (owners === 0) {
    tx.run('DELETE FROM shared_chunks WHERE digest = ?', digestBytes(digest));
    return;
  }
  tx.run(
    `INSERT INTO shared_chunks (digest, address, owners) VALUES (?, ?, ?)
     ON CONFLICT (digest) DO UPDATE SET address = excluded.address, owners = excluded.owners`,
    digestBytes(digest),
    address,
    owners,
  );
}
