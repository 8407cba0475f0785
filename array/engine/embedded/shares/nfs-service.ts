import { join } from 'node:path';
import { connectionsMax } from '@granary/kernel/edge';
import { type NfsEvent, type NfsExport, NfsServer } from '@granary/protocols/nfs';
import { OpenPortals, type Portals } from '../exports/portals.ts';
import { ClientRecords } from './client-records.ts';
import { KnownAccounts } from './nas-accounts.ts';

/** How long requests under way get to be answered when the server closes. */
const DRAIN_MS = 3_000;

interface NfsServiceSetup {
  readonly serverName: string;
  /** Where clients are recorded that may hold locks. */
  readonly folder: string;
  readonly onProblem: (problem: string, error: unknown) => void;
}

/** The one NFS server of an array. */
export class NfsService {
  readonly accounts = new KnownAccounts();
  readonly #setup: NfsServiceSetup;
  readonly #records: ClientRecords;
  readonly #server: NfsServer;
  readonly #portals: OpenPortals;

  constructor(setup: NfsServiceSetup) {
    this.#setup = setup;
    this.#records = new ClientRecords(join(setup.folder, 'nfs'));
    this.#server = new NfsServer({
      serverName: setup.serverName,
      limits: { connectionsMax: connectionsMax({ most: 1024, share: 1 / 8 }) },
      recorder: this.#records,
      identities: this.accounts.identities,
      groupsOf: (uid) => this.accounts.groupsOf(uid),
      onEvent: (event) => this.#reportEvent(event),
    });
    this.#portals = new OpenPortals({ protocol: 'NFS', server: this.#server, onProblem: setup.onProblem });
  }

  /** Opens what is missing and closes what is no longer wanted. */
  serve(portals: Portals): Promise<void> {
    return this.#portals.follow(portals);
  }

  add(added: NfsExport): void {
    this.#server.addExport(added);
  }

  replace(replacement: NfsExport): void {
    this.#server.replaceExport(replacement);
  }

  /** Resolves when no request, open or lock uses the filesystem any more. */
  remove(filesystemId: bigint): Promise<void> {
    return this.#server.removeExport(filesystemId);
  }

  connectionsByAddress(): Map<string, number> {
    return this.#server.connectionsByAddress();
  }

  dropConnections(address: string): number {
    return this.#server.dropConnections(address);
  }

  async close(): Promise<void> {
    this.#portals.close();
    await this.#server.close(DRAIN_MS);
    await this.#records.close();
  }

  #reportEvent(event: NfsEvent): void {
    const { onProblem } = this.#setup;
    if (event.type === 'internal-error') onProblem('an NFS request ended by an error of ours', event.error);
    if (event.type !== 'crowded') return;
    const facts = `${event.dropped} dropped, ${event.refused} refused, most of them from ${event.address}`;
    onProblem('NFS connections were dropped to make room for others', new Error(facts));
  }
}
