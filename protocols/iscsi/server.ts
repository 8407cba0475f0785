import { createServer, type Server, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { ConnectionLimits } from '@granary/kernel/edge';
import { KeptBuffers, type BufferSource } from './buffers.ts';
import type { IscsiEvent } from './events.ts';
import { DEFAULT_LIMITS, type Limits } from './limits.ts';
import type { ChapSecrets } from './login/chap.ts';
import { describeTargets, portalAddress } from './login/discovery.ts';
import type { Admission, Doorkeeper, LoginResult } from './login/exchange.ts';
import { LoginRefused, LoginStatus } from './login/status.ts';
import type { ReservationStore } from './scsi/reservations/reservation-store.ts';
import { IscsiConnection, type ConnectionHost, type OpenedSession } from './session/connection.ts';
import { IscsiSession } from './session/session.ts';
import { IscsiTarget, isProvenBy, type TargetOptions } from './target.ts';
import { Units } from './units.ts';

const WATCH_INTERVAL_MS = 1_000;
const NAME = /^(iqn\.|eui\.|naa\.)[^\s,]{1,219}$/;

export interface Portal {
  readonly host: string;
  /** 0 lets the system choose. */
  readonly port: number;
}

export interface IscsiServerOptions {
  readonly reservations: ReservationStore;
  readonly limits?: Partial<Limits>;
  readonly buffers?: BufferSource;
  /** What an initiator must prove before it may ask which targets there are. Left out: nothing. */
  authoriseDiscovery?(initiatorName: string, remoteAddress: string): { readonly chap?: ChapSecrets } | undefined;
  onEvent?(event: IscsiEvent): void;
  /** Milliseconds, never going back. */
  now?(): number;
}

export class IscsiServer implements ConnectionHost {
  readonly limits: Limits;
  readonly #options: IscsiServerOptions;
  readonly #buffers: BufferSource;
  readonly #units: Units;
  readonly #listeners = new Map<string, Server>();
  readonly #targets = new Map<string, IscsiTarget>();
  readonly #connections = new Set<IscsiConnection>();
  readonly #connectionLimits: ConnectionLimits;
  #watch: NodeJS.Timeout | undefined;
  #lastHandle = 0;

  constructor(options: IscsiServerOptions) {
    this.#options = options;
    this.limits = { ...DEFAULT_LIMITS, ...options.limits };
    this.#buffers = options.buffers ?? new KeptBuffers();
    this.#units = new Units(this.limits, options.reservations);
    this.#connectionLimits = new ConnectionLimits({
      max: this.limits.connectionsMax,
      onCrowded: ({ address, dropped, refused }) => this.report({ type: 'crowded', address, dropped, refused }),
      now: () => this.now(),
    });
  }

  /** Every target is reached at every portal. */
  async listen({ host, port }: Portal): Promise<Portal> {
    const listener = createServer({ noDelay: true, pauseOnConnect: true }, (socket) => this.#accept(socket));
    await new Promise<void>((resolve, reject) => {
      listener.once('error', reject);
      // Exclusive: in a cluster, too, it is this process that listens.
      listener.listen({ host, port, exclusive: true }, () => {
        listener.off('error', reject);
        resolve();
      });
    });
    listener.on('error', (error) => this.report({ type: 'internal-error', address: '', error }));
    this.#watch ??= setInterval(() => this.#watchConnections(), WATCH_INTERVAL_MS).unref();
    const address = listener.address();
    if (address === null || typeof address === 'string') throw new Error('an iSCSI server listens on TCP only');
    const portal = { host: address.address, port: address.port };
    this.#listeners.set(portalAddress(portal.host, portal.port), listener);
    return portal;
  }

  /** Closes the listener at that address; connections stay. */
  stopListening({ host, port }: Portal): void {
    const address = portalAddress(host, port);
    this.#listeners.get(address)?.close();
    this.#listeners.delete(address);
  }

  addTarget(options: TargetOptions): IscsiTarget {
    if (!NAME.test(options.iqn)) {
      throw new RangeError(`${options.iqn} is not an iSCSI name; give one like iqn.2026-01.com.example:disk`);
    }
    if (this.#targets.has(options.iqn)) throw new RangeError(`there is a target ${options.iqn} already`);
    if (this.#targets.size >= this.limits.targetsMax) throw new RangeError('no more targets; remove one first');
    const target = new IscsiTarget(options, this.#units);
    this.#targets.set(options.iqn, target);
    return target;
  }

  target(iqn: string): IscsiTarget | undefined {
    return this.#targets.get(iqn);
  }

  targets(): IscsiTarget[] {
    return [...this.#targets.values()];
  }

  /** Resolves when no command uses any device of the target any more. */
  async removeTarget(iqn: string): Promise<void> {
    const target = this.#targets.get(iqn);
    this.#targets.delete(iqn);
    await target?.close();
  }

  /** Commands that have reached a device get so long to end and be answered; what has not is dropped. */
  async close(drainMs = 0): Promise<void> {
    clearInterval(this.#watch);
    const closed = Promise.all([...this.#listeners.values()].map((listener) => closing(listener)));
    this.#listeners.clear();
    if (drainMs > 0) await this.#drain(drainMs);
    await Promise.all([...this.#targets.keys()].map((iqn) => this.removeTarget(iqn)));
    for (const connection of this.#connections) connection.end('the server closes');
    await closed;
  }

  async #drain(ms: number): Promise<void> {
    for (const connection of this.#connections) connection.stopListening();
    const sessions = [...this.#connections].map(async ({ session }) => session?.executor.whenIdle());
    const late = new AbortController();
    await Promise.race([Promise.all(sessions), delay(ms, undefined, late).catch(() => undefined)]);
    late.abort();
  }

  #accept(socket: Socket): void {
    // Until the connection takes the socket over.
    socket.on('error', () => undefined);
    const place = this.#connectionLimits.admit(socket.remoteAddress ?? '', () => {
      connection.destroy('others needed its place before it logged in');
    });
    if (place === undefined) {
      socket.destroy();
      return;
    }
    const connection = new IscsiConnection(socket, this, place);
    this.#connections.add(connection);
  }

  #watchConnections(): void {
    for (const connection of this.#connections) connection.watch();
  }

  doorkeeper(address: string): Doorkeeper {
    return {
      limits: this.limits,
      admitTo: (targetName, initiatorName) => this.#admission(targetName, initiatorName, address),
      admitToDiscovery: (initiatorName) =>
        this.#options.authoriseDiscovery === undefined ? {} : this.#options.authoriseDiscovery(initiatorName, address),
    };
  }

  #admission(targetName: string, initiatorName: string, address: string): Admission | undefined {
    const target = this.#targets.get(targetName);
    const access = target?.authorise(initiatorName, address);
    if (target === undefined || access === undefined) return undefined;
    return {
      ...(access.chap === undefined ? {} : { chap: access.chap }),
      ...(target.alias === undefined ? {} : { alias: target.alias }),
    };
  }

  openSession(login: LoginResult, connection: IscsiConnection, statusNumber: number): OpenedSession {
    const handle = this.#nextHandle();
    const make = (target: IscsiTarget | undefined, label = '') =>
      new IscsiSession({
        handle,
        login,
        target,
        label,
        limits: this.limits,
        buffers: this.#buffers,
        statusNumber,
        link: connection,
        // An empty name asks for the target one is logged in to.
        listTargets: (name) => this.#describeTargets(login, connection, name === '' ? login.targetName : name),
      });
    if (login.targetName === undefined) return { session: make(undefined), ready: undefined };

    const target = this.#targets.get(login.targetName);
    const access = target?.authorise(login.initiatorName, connection.address);
    if (target === undefined || access === undefined) {
      throw new LoginRefused(LoginStatus.notFound, 'the target was taken away during the login');
    }
    if (!isProvenBy(login.admission.chap, access.chap)) {
      throw new LoginRefused(LoginStatus.authenticationFailure, 'the secret was changed during the login');
    }
    const older = target.sessionOf(login.initiatorName, login.isid);
    if (older === undefined && target.sessionCount >= this.limits.sessionsPerTargetMax) {
      throw new LoginRefused(LoginStatus.outOfResources, 'the target has no room for more sessions');
    }
    const ready = older?.close();
    if (older !== undefined) target.removeSession(older);
    older?.link.end('the initiator logged in again');
    const session = make(target, access.label);
    target.admit(session, access);
    return { session, ready };
  }

  #nextHandle(): number {
    this.#lastHandle = (this.#lastHandle % 0xffff) + 1;
    return this.#lastHandle;
  }

  #describeTargets(login: LoginResult, connection: IscsiConnection, name: string | undefined): Buffer {
    const candidates = name === undefined ? this.targets() : [this.#targets.get(name)];
    const shown = candidates.filter(
      (target) => target?.authorise(login.initiatorName, connection.address) !== undefined,
    ) as IscsiTarget[];
    return describeTargets(shown, connection.portal);
  }

  closed(connection: IscsiConnection): void {
    this.#connections.delete(connection);
    const { session, address, endingReason } = connection;
    this.report({ type: 'connection-dropped', address, reason: endingReason });
    if (session === undefined) return;
    this.#targets.get(session.targetName)?.removeSession(session);
    void session.close();
    const { initiatorName: initiator, targetName: target, label, counters } = session;
    if (target !== '') {
      this.report({ type: 'session-ended', address, initiator, target, label, reason: endingReason, counters });
    }
  }

  report(event: IscsiEvent): void {
    this.#options.onEvent?.(event);
  }

  now(): number {
    return this.#options.now?.() ?? performance.now();
  }
}

function closing(listener: Server): Promise<void> {
  return new Promise((resolve) => listener.close(() => resolve()));
}
