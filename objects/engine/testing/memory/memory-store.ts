import { ObjectError, type NewContent, type ObjectStore, type PolicyLayout } from '@granary/storage/object-store';
import { MemoryChanges } from './changes.ts';
import { MemoryReads } from './reads.ts';
import { MemoryState } from './state.ts';

interface StoreOptions {
  readonly policies: () => readonly PolicyLayout[];
  readonly defaultPolicy: () => number | null;
  readonly fullPolicies: () => readonly number[];
}

/** Buckets, objects and their bytes in memory. */
export class MemoryObjectStore extends MemoryReads implements ObjectStore {
  readonly isEncrypting = false;
  readonly canEncrypt = false;
  readonly commit: ObjectStore['commit'];
  readonly #options: StoreOptions;
  readonly #state: MemoryState;

  constructor(options: StoreOptions) {
    const state = new MemoryState();
    super(state);
    this.#options = options;
    this.#state = state;
    this.commit = new MemoryChanges(state).commit;
  }

  get policies(): readonly PolicyLayout[] {
    return this.#options.policies();
  }

  get defaultPolicy(): number | null {
    return this.#options.defaultPolicy();
  }

  /** Bytes of all accounts under a policy. */
  bytesOf(policy: number): number {
    return this.#state.usage.bytesOf(policy);
  }

  isEncrypted(): boolean {
    return false;
  }

  async stage(policy: number, body: Uint8Array | AsyncIterable<Uint8Array>, size?: number): Promise<NewContent> {
    if (this.#options.fullPolicies().includes(policy)) throw new ObjectError('no-space', 'The storage policy is full.');
    const chunks: Buffer[] = [];
    if (body instanceof Uint8Array) chunks.push(Buffer.from(body));
    else for await (const chunk of body) chunks.push(Buffer.from(chunk));
    const bytes = Buffer.concat(chunks);
    if (size !== undefined && bytes.length !== size)
      throw new ObjectError('incomplete-body', `The body has ${bytes.length} bytes, not ${size}.`);
    return bytes.length === 0 ? { kind: 'empty' } : { kind: 'bytes', policy, bytes };
  }
}
