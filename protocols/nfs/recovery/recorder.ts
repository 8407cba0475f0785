import type { Awaitable } from '../filesystem.ts';

/** A client that may hold opens or locks. After a restart it, and no other, may claim them again. */
export interface RecordedClient {
  /** Version 4 knows clients by a name of their choice, the lock manager of version 3 by a host name. */
  readonly kind: 'v4' | 'lock-manager';
  /** Any bytes, as base64. */
  readonly name: string;
  /** Where the lock manager's client is notified of a restart. */
  readonly address: string;
}

/** Keeps what must survive a restart or a failover: a few bytes for each client. */
export interface ClientRecorder {
  load(): Awaitable<readonly RecordedClient[]>;
  /** Durable when it returns. Adding a client again has no effect. */
  add(client: RecordedClient): Awaitable<void>;
  remove(client: RecordedClient): Awaitable<void>;
}

export class MemoryRecorder implements ClientRecorder {
  readonly #clients = new Map<string, RecordedClient>();

  load(): RecordedClient[] {
    return [...this.#clients.values()];
  }

  add(client: RecordedClient): void {
    this.#clients.set(recordKey(client), client);
  }

  remove(client: RecordedClient): void {
    this.#clients.delete(recordKey(client));
  }
}

export function recordKey({ kind, name }: Pick<RecordedClient, 'kind' | 'name'>): string {
  return `${kind} ${name}`;
}
