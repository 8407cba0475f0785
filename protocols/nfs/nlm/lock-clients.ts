import type { LockedFile, LockOwner, LockTable, ShareReservation } from '../../locks/index.ts';
import type { Limits } from '../limits.ts';
import type { GracePeriod } from '../recovery/grace-period.ts';
import type { ClientRecorder, RecordedClient } from '../recovery/recorder.ts';

/** One process of one client host. */
export class NlmOwner implements LockOwner {
  readonly clientId = 0n;
  readonly name: Buffer;
  readonly processId: number;
  readonly client: NlmClient;
  /** Files it holds or waits for ranges of. */
  readonly files = new Map<string, LockedFile>();

  constructor(client: NlmClient, name: Buffer, processId: number) {
    this.client = client;
    this.name = name;
    this.processId = processId;
  }
}

export interface NlmShare extends ShareReservation {
  readonly file: LockedFile;
}

/** A host that locks by version 3. */
export class NlmClient {
  readonly name: Buffer;
  readonly address: string;
  readonly owners = new Map<string, NlmOwner>();
  readonly shares = new Map<string, NlmShare>();
  /** Takes back a request that waits, by what it asks for. */
  readonly waiting = new Map<string, () => void>();

  constructor(name: Buffer, address: string) {
    this.name = name;
    this.address = address;
  }

  get record(): RecordedClient {
    return { kind: 'lock-manager', name: this.name.toString('base64'), address: this.address };
  }

  get isIdle(): boolean {
    return this.owners.size === 0 && this.shares.size === 0 && this.waiting.size === 0;
  }
}

export interface LockClientsOptions {
  readonly locks: LockTable;
  readonly limits: Limits;
  readonly recorder: ClientRecorder;
  readonly grace: GracePeriod;
}

/** The hosts that hold locks by version 3. Each is on record for as long as it holds one. */
export class LockClients {
  readonly #options: LockClientsOptions;
  readonly #clients = new Map<string, NlmClient>();

  constructor(options: LockClientsOptions) {
    this.#options = options;
  }

  get count(): number {
    return this.#clients.size;
  }

  find(name: Buffer, address: string): NlmClient | undefined {
    return this.#clients.get(keyOf(name, address));
  }

  /** Undefined if there are too many. It is on record before it gets anything. */
  async admit(name: Buffer, address: string): Promise<NlmClient | undefined> {
    const known = this.find(name, address);
    if (known !== undefined) return known;
    if (this.#clients.size >= this.#options.limits.clientsMax) return undefined;
    const client = new NlmClient(name, address);
    await this.#options.recorder.add(client.record);
    const meanwhile = this.find(name, address);
    if (meanwhile !== undefined) return meanwhile;
    this.#clients.set(keyOf(name, address), client);
    this.#options.grace.returned(client.record);
    return client;
  }

  owner(client: NlmClient, name: Buffer, processId: number): NlmOwner {
    const key = ownerKey(name, processId);
    let owner = client.owners.get(key);
    if (owner === undefined) client.owners.set(key, (owner = new NlmOwner(client, name, processId)));
    return owner;
  }

  /** Forgets an owner that holds nothing of the file any more, and nothing at all. */
  prune(owner: NlmOwner, fileKey: string, file: LockedFile): void {
    const { locks } = this.#options;
    if ((locks.find(file)?.ranges.countOf(owner) ?? 0) === 0) owner.files.delete(fileKey);
    if (owner.files.size === 0) owner.client.owners.delete(ownerKey(owner.name, owner.processId));
    locks.prune(file);
  }

  rangesOf(client: NlmClient): number {
    const { locks } = this.#options;
    let count = 0;
    for (const owner of client.owners.values()) {
      for (const file of owner.files.values()) count += locks.find(file)?.ranges.countOf(owner) ?? 0;
    }
    return count;
  }

  /** The host restarted, or has ended: everything it held is free. */
  releaseAll(client: NlmClient): void {
    const { locks } = this.#options;
    for (const cancel of [...client.waiting.values()]) cancel();
    for (const share of client.shares.values()) {
      locks.find(share.file)?.shares.delete(share);
      locks.prune(share.file);
    }
    client.shares.clear();
    for (const owner of [...client.owners.values()]) {
      client.owners.delete(ownerKey(owner.name, owner.processId));
      for (const file of owner.files.values()) locks.unlockAll(file, owner);
    }
  }

  /** The filesystem is not served any more. */
  releaseFilesystem(filesystemId: bigint): void {
    const { locks } = this.#options;
    for (const client of this.#clients.values()) {
      for (const [key, share] of client.shares) {
        if (share.file.filesystemId !== filesystemId) continue;
        client.shares.delete(key);
        locks.find(share.file)?.shares.delete(share);
        locks.prune(share.file);
      }
      for (const owner of [...client.owners.values()]) {
        for (const [key, file] of owner.files) {
          if (file.filesystemId !== filesystemId) continue;
          locks.unlockAll(file, owner);
          this.prune(owner, key, file);
        }
      }
    }
  }

  /** Takes the hosts off the record that hold nothing any more. */
  async watch(): Promise<void> {
    if (this.#options.grace.isActive) return;
    for (const [key, client] of [...this.#clients]) {
      if (!client.isIdle) continue;
      this.#clients.delete(key);
      await this.#options.recorder.remove(client.record);
    }
  }
}

function keyOf(name: Buffer, address: string): string {
  return `${address} ${name.toString('latin1')}`;
}

function ownerKey(name: Buffer, processId: number): string {
  return `${processId} ${name.toString('latin1')}`;
}
