import { connectionsMax } from '@granary/kernel/edge';
import { DEFAULT_LIMITS, FileReservationStore, IscsiServer, type IscsiEvent } from '@granary/protocols/iscsi';
import type { IscsiTarget, SessionInfo } from '@granary/protocols/iscsi';
import { allocate, release, type BlockDevice } from '@granary/storage';
import type { ExportedServer, OnEngineEvent } from '../../engine.ts';
import type { IoTotals, ServerReport, SessionReport } from '../../report.ts';
import { ExportedUnits, UNITS_MAX } from './exported-units.ts';
import { OpenPortals, type Portals } from './portals.ts';
import { Refusals } from './refusals.ts';
import { ServerAccess } from './server-access.ts';
import { NO_IO, plus } from '../reports/totals.ts';

export interface ExportsSetup {
  /** IQNs of the targets of the array: each shows all volumes. */
  readonly targets: readonly string[];
  /** Name of the controller that serves it. */
  readonly controller: string;
  /** Where persistent reservations are kept. */
  readonly folder: string;
  /** The device of a volume, if it can be used now. */
  readonly device: (volume: string) => BlockDevice | undefined;
  readonly onEvent: OnEngineEvent;
  readonly onProblem: (problem: string, error: unknown) => void;
}

/** How long commands that have reached a volume may take before their session is cut. */
const DRAIN_MS = 3_000;

const LIMITS = {
  ...DEFAULT_LIMITS,
  connectionsMax: connectionsMax({ most: 1024, share: 1 / 8 }),
  sessionsPerTargetMax: 1024,
  lunsPerTargetMax: UNITS_MAX,
};

/** The volumes of an array as disks of servers, over iSCSI. */
export class EngineExports {
  readonly #setup: ExportsSetup;
  readonly #server: IscsiServer;
  readonly #targets: readonly IscsiTarget[];
  readonly #units: ExportedUnits;
  readonly #portals: OpenPortals;
  readonly #access = new ServerAccess();
  readonly #refusals = new Refusals();
  /** What each server moved in sessions that have ended. */
  readonly #ended = new Map<string, IoTotals>();
  #turn: Promise<unknown> = Promise.resolve();

  constructor(setup: ExportsSetup) {
    this.#setup = setup;
    const reservations = new FileReservationStore(setup.folder);
    const authorise = (initiator: string, address: string) => this.#access.find(initiator, address);
    this.#server = new IscsiServer({
      limits: LIMITS,
      reservations,
      buffers: { allocate, release },
      authoriseDiscovery: authorise,
      onEvent: (event) => this.#reportEvent(event),
    });
    this.#targets = setup.targets.map((iqn) => this.#server.addTarget({ iqn, authorise }));
    this.#units = new ExportedUnits(this.#targets, reservations, setup.device);
    this.#portals = new OpenPortals({ protocol: 'iSCSI', server: this.#server, onProblem: setup.onProblem });
  }

  /** Opens what is missing and closes what is no longer wanted. */
  serve(portals: Portals): Promise<void> {
    return this.#inTurn(() => this.#portals.follow(portals));
  }

  putServer(server: ExportedServer): Promise<void> {
    return this.#inTurn(() => this.#put(server));
  }

  removeServer(id: string): Promise<void> {
    return this.#inTurn(async () => {
      const volumes = this.#volumesOf(id);
      this.#access.remove(id);
      this.#ended.delete(id);
      this.#accessChanged();
      await this.#units.leave(id, volumes);
    });
  }

  /** Before its device is closed: resolves when no command uses it any more. */
  removeVolume(volume: string): Promise<void> {
    return this.#inTurn(() =>
      this.#units.remove(volume, async (servers) => {
        for (const id of servers) {
          const server = this.#access.get(id);
          if (server) await this.#put({ ...server, units: server.units.filter((unit) => unit.volume !== volume) });
        }
      }),
    );
  }

  volumeResized(volume: string): void {
    this.#units.resized(volume);
  }

  endSessions(initiator: string, target: string): number {
    const found = this.#targets.find(({ iqn }) => iqn === target);
    const sessions = found?.sessions().filter((session) => session.initiator === initiator) ?? [];
    return sessions.filter(({ id }) => found?.dropSession(id)).length;
  }

  sessions(): SessionReport[] {
    return this.#targets.flatMap((target) => target.sessions().map((session) => this.#report(session, target.iqn)));
  }

  /** Those that have been here. */
  servers(): ServerReport[] {
    const totals = new Map(this.#ended);
    for (const { label, ...session } of this.#targets.flatMap((target) => target.sessions())) {
      totals.set(label, plus(totals.get(label) ?? NO_IO, movedBy(session)));
    }
    return Array.from(totals, ([id, io]) => ({ id, io }));
  }

  /** Commands under way are answered before sessions end; afterwards no command uses any device. */
  async close(): Promise<void> {
    this.#portals.close();
    await this.#inTurn(() => this.#server.close(DRAIN_MS));
  }

  async #put(server: ExportedServer): Promise<void> {
    const before = this.#volumesOf(server.id);
    const luns = await this.#units.show(server);
    this.#access.put(server, luns);
    this.#accessChanged();
    for (const { volume } of server.units) before.delete(volume);
    await this.#units.leave(server.id, before);
  }

  #accessChanged(): void {
    for (const target of this.#targets) target.accessChanged();
  }

  #volumesOf(id: string): Set<string> {
    return new Set(this.#access.get(id)?.units.map(({ volume }) => volume));
  }

  #report(session: SessionInfo, target: string): SessionReport {
    const { label: server, initiator, address, connections } = session;
    const { controller } = this.#setup;
    const names = { protocol: 'ISCSI', server, initiator, address: plain(address), target, controller } as const;
    return { ...names, connections, io: movedBy(session) };
  }

  #reportEvent(event: IscsiEvent): void {
    const { onEvent, onProblem } = this.#setup;
    switch (event.type) {
      case 'login': {
        const { label: server, initiator, address } = event;
        if (event.target !== undefined) {
          onEvent({ type: 'session-opened', server, initiator, address: plain(address) });
        }
        return;
      }
      case 'session-ended':
        if (this.#access.get(event.label)) {
          this.#ended.set(event.label, plus(this.#ended.get(event.label) ?? NO_IO, movedBy(event.counters)));
        }
        onEvent({ type: 'session-closed', server: event.label, initiator: event.initiator, reason: event.reason });
        return;
      case 'login-refused': {
        const { initiator, address, reason } = event;
        if (!this.#refusals.isNews(initiator, address, performance.now())) return;
        onEvent({ type: 'login-refused', initiator, address: plain(address), reason });
        return;
      }
      case 'internal-error':
        onProblem('an iSCSI session ended by an error of ours', event.error);
        return;
      case 'crowded': {
        const { address, dropped, refused } = event;
        const facts = `${dropped} dropped, ${refused} refused, most of them from ${plain(address)}`;
        onProblem('iSCSI connections were dropped to make room for others', new Error(facts));
      }
    }
  }

  /** Changes are made one after the other, so that none sees another half done. */
  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#turn.then(work);
    this.#turn = done.catch(() => undefined);
    return done;
  }
}

type Moved = Pick<
  SessionInfo,
  'reads' | 'bytesRead' | 'readMilliseconds' | 'writes' | 'bytesWritten' | 'writeMilliseconds'
>;

function movedBy(session: Moved): IoTotals {
  return {
    reads: { count: session.reads, bytes: session.bytesRead, microseconds: micros(session.readMilliseconds) },
    writes: { count: session.writes, bytes: session.bytesWritten, microseconds: micros(session.writeMilliseconds) },
  };
}

function micros(milliseconds: number): number {
  return Math.round(milliseconds * 1000);
}

/** IPv4 that came over an IPv6 socket. */
function plain(address: string): string {
  return address.startsWith('::ffff:') ? address.slice('::ffff:'.length) : address;
}
