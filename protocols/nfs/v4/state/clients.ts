import type { NfsEvent } from '../../events.ts';
import type { Limits } from '../../limits.ts';
import type { GracePeriod } from '../../recovery/grace-period.ts';
import type { ClientRecorder } from '../../recovery/recorder.ts';
import { Nfs4Error, Status4 } from '../status.ts';
import { Client4, type ClientIdentity } from './client.ts';
import { ReplyStore, NfsSession, type ChannelLimits } from './session.ts';

const MAX_UNCONFIRMED_MS = 60_000;

export interface ClientsOptions {
  readonly limits: Limits;
  readonly recorder: ClientRecorder;
  readonly grace: GracePeriod;
  /** Differs from start to start. */
  readonly instance: number;
  readonly now: () => number;
  readonly report: (event: NfsEvent) => void;
  /** Gives up everything the client holds. */
  readonly release: (client: Client4) => void;
}

/** The clients of version 4, their leases and their sessions. */
export class Clients {
  readonly replies: ReplyStore;
  readonly #options: ClientsOptions;
  readonly #byNumber = new Map<number, Client4>();
  readonly #confirmed = new Map<string, Client4>();
  readonly #unconfirmed = new Map<string, Client4>();
  readonly #sessions = new Map<string, NfsSession>();
  #lastNumber = 0;

  constructor(options: ClientsOptions) {
    this.#options = options;
    this.replies = new ReplyStore(options.limits.cachedRepliesBytesMax);
  }

  get count(): number {
    return this.#byNumber.size;
  }

  all(): Iterable<Client4> {
    return this.#byNumber.values();
  }

  byNumber(number: number): Client4 | undefined {
    return this.#byNumber.get(number);
  }

  confirmedByName(name: Buffer): Client4 | undefined {
    return this.#confirmed.get(name.toString('latin1'));
  }

  unconfirmedByName(name: Buffer): Client4 | undefined {
    return this.#unconfirmed.get(name.toString('latin1'));
  }

  /** By the id that the client got, confirmed or not. */
  byId(id: bigint): Client4 {
    const client = this.#byNumber.get(Number(id & 0xffff_ffffn));
    if (client?.id !== id) throw new Nfs4Error(Status4.staleClientId);
    return client;
  }

  confirmedById(id: bigint): Client4 {
    const isOurs = id >> 32n === BigInt(this.#options.instance);
    const client = this.#byNumber.get(Number(id & 0xffff_ffffn));
    if (!isOurs) throw new Nfs4Error(Status4.staleClientId);
    if (client?.isConfirmed !== true) throw new Nfs4Error(client ? Status4.staleClientId : Status4.expired);
    return client;
  }

  /** Replaces an unconfirmed one of the same name. */
  addUnconfirmed(identity: ClientIdentity, minorVersion: number): Client4 {
    const older = this.unconfirmedByName(identity.name);
    if (older !== undefined) this.remove(older);
    if (this.#byNumber.size >= this.#options.limits.clientsMax) throw new Nfs4Error(Status4.resource);
    this.#lastNumber += 1;
    const id = (BigInt(this.#options.instance) << 32n) | BigInt(this.#lastNumber);
    const client = new Client4(id, this.#lastNumber, minorVersion, identity, this.#options.now());
    this.#byNumber.set(client.number, client);
    this.#unconfirmed.set(identity.name.toString('latin1'), client);
    return client;
  }

  /** From here on it may hold opens and locks. An older one of the same name has restarted and holds nothing any more. */
  async confirm(client: Client4): Promise<void> {
    const key = client.identity.name.toString('latin1');
    const { grace, recorder, report } = this.#options;
    const { address } = client.identity;
    await recorder.add({ kind: 'v4', name: client.recordName, address });
    // Another request may have been faster.
    if (client.isConfirmed) return;
    if (this.#unconfirmed.get(key) !== client) throw new Nfs4Error(Status4.staleClientId);
    const older = this.#confirmed.get(key);
    if (older !== undefined) this.remove(older);
    this.#unconfirmed.delete(key);
    this.#confirmed.set(key, client);
    client.isConfirmed = true;
    grace.returned({ kind: 'v4', name: client.recordName });
    this.renew(client);
    report({ type: 'client-confirmed', address, client: printable(client.identity.name) });
  }

  renew(client: Client4): void {
    client.renewedAt = this.#options.now();
  }

  /** With everything it holds. It stays on record: `forget` takes it off. */
  remove(client: Client4): void {
    this.#options.release(client);
    for (const session of client.sessions) this.removeSession(session);
    const key = client.identity.name.toString('latin1');
    this.#byNumber.delete(client.number);
    if (this.#confirmed.get(key) === client) this.#confirmed.delete(key);
    if (this.#unconfirmed.get(key) === client) this.#unconfirmed.delete(key);
  }

  async drop(client: Client4): Promise<void> {
    this.remove(client);
    await this.#options.recorder.remove({
      kind: 'v4',
      name: client.recordName,
      address: client.identity.address,
    });
  }

  isExpired(client: Client4): boolean {
    const age = this.#options.now() - client.renewedAt;
    return age > (client.isConfirmed ? this.#options.limits.leaseMs : MAX_UNCONFIRMED_MS);
  }

  /** Called periodically: a client that was silent for longer than its lease loses its state. */
  async expire(): Promise<void> {
    for (const client of [...this.#byNumber.values()]) {
      if (!this.isExpired(client) || [...client.sessions].some(isBusy)) continue;
      if (!client.isConfirmed) {
        this.remove(client);
        continue;
      }
      this.#options.report({ type: 'client-expired', client: printable(client.identity.name) });
      await this.drop(client);
    }
  }

  session(id: Buffer): NfsSession | undefined {
    return this.#sessions.get(id.toString('latin1'));
  }

  addSession(client: Client4, limits: ChannelLimits): NfsSession {
    if (client.sessions.size >= this.#options.limits.sessionsPerClientMax) throw new Nfs4Error(Status4.resource);
    const session = new NfsSession(client, limits);
    client.sessions.add(session);
    this.#sessions.set(session.id.toString('latin1'), session);
    return session;
  }

  removeSession(session: NfsSession): void {
    session.client.sessions.delete(session);
    this.#sessions.delete(session.id.toString('latin1'));
    for (const slot of session.slots) this.replies.replace(slot, undefined);
  }
}

function isBusy({ slots }: NfsSession): boolean {
  return slots.some((slot) => slot.isBusy);
}

function printable(name: Buffer): string {
  return name.toString('latin1').replace(/[^\x20-\x7e]/g, '?');
}
