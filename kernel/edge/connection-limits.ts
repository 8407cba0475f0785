/**
 * Shares the connections of a listener among the addresses they come from.
 *
 * A connection has a stage, which says how much would be lost if it were dropped:
 *
 *   silent   no complete request or login yet                                 dropped first, oldest first
 *   idle     between two requests, unauthenticated                            then these
 *   resting  between two requests, authenticated                              then these
 *   serving  an unauthenticated request is being answered                     only from an address over its share
 *   busy     an authenticated request is being answered                       then these, under the same rule
 *   held     a session that must not be interrupted                           never
 *
 * When all places are taken, a new connection takes the place of one of the address that has the most connections
 * that can be dropped. An address never displaces one that has fewer connections than itself, and never has more than
 * three quarters of all places. So a client with thousands of connections competes with itself, and a client from
 * another address is admitted. Every decision takes constant time, however many connections and addresses there are.
 */
import { Ranking } from './ranking.ts';

export const stages = { silent: 0, idle: 1, resting: 2, serving: 3, busy: 4, held: 5 } as const;
export type Stage = keyof typeof stages;

const FREE_STAGES = ['silent', 'idle', 'resting'] as const;
const SHARED_STAGES = ['serving', 'busy'] as const;
const ADDRESS_SHARE = 3 / 4;
const REPORT_INTERVAL_MS = 60_000;

export interface CrowdingReport {
  /** The address with the most connections among those dropped or refused last. */
  readonly address: string;
  /** Since the last report. */
  readonly dropped: number;
  readonly refused: number;
}

export interface ConnectionLimitsOptions {
  /** The number of places. */
  readonly max: number;
  /** Called when connections had to be dropped or refused, at most once a minute. */
  readonly onCrowded?: ((report: CrowdingReport) => void) | undefined;
  readonly now?: () => number;
}

interface AddressGroup {
  readonly key: string;
  readonly byStage: Readonly<Record<Stage, Set<AdmittedConnection>>>;
  size: number;
}

export class ConnectionLimits {
  readonly max: number;
  readonly perAddressMax: number;
  readonly #options: ConnectionLimitsOptions;
  readonly #groups = new Map<string, AddressGroup>();
  /** Addresses by their connections in one of the stages. */
  readonly #free = new Ranking<AddressGroup>();
  readonly #shared = new Ranking<AddressGroup>();
  #size = 0;
  #dropped = 0;
  #refused = 0;
  #reportedAt = -Infinity;

  constructor(options: ConnectionLimitsOptions) {
    this.max = Math.max(2, options.max);
    this.perAddressMax = Math.max(1, Math.floor(this.max * ADDRESS_SHARE));
    this.#options = options;
  }

  get size(): number {
    return this.#size;
  }

  /** A place for a new connection, or undefined. `drop` closes the connection at once and frees the place. */
  admit(address: string, drop: () => void): AdmittedConnection | undefined {
    const key = addressKey(address);
    const group = this.#groups.get(key) ?? { key, byStage: emptyStages(), size: 0 };
    const isFull = this.#size >= this.max;
    if (group.size >= this.perAddressMax ? !this.#dropFree(group) : isFull && !this.#freePlace(group)) {
      this.#refused += 1;
      this.#report(key);
      return undefined;
    }
    this.#groups.set(key, group);
    return new AdmittedConnection(drop, (connection, from, to) => this.#move(group, connection, from, to));
  }

  #freePlace(newcomer: AddressGroup): boolean {
    const crowded = this.#free.top;
    if (crowded && crowded.size >= newcomer.size) return this.#dropFree(crowded);
    if (this.#dropFree(newcomer)) return true;
    const greedy = this.#shared.top;
    const share = this.max / (this.#groups.size + (newcomer.size === 0 ? 1 : 0));
    if (!greedy || greedy === newcomer || greedy.size <= share || greedy.size <= newcomer.size + 1) return false;
    return this.#dropOldest(greedy, SHARED_STAGES);
  }

  #dropFree(group: AddressGroup): boolean {
    return this.#dropOldest(group, FREE_STAGES);
  }

  #dropOldest(group: AddressGroup, order: readonly Stage[]): boolean {
    for (const stage of order) {
      const [oldest] = group.byStage[stage];
      if (!oldest) continue;
      this.#dropped += 1;
      this.#report(group.key);
      oldest.drop();
      return true;
    }
    return false;
  }

  #move(group: AddressGroup, connection: AdmittedConnection, from: Stage | undefined, to: Stage | undefined): void {
    if (from !== undefined) {
      group.byStage[from].delete(connection);
      this.#rankingOf(from)?.decrement(group);
    }
    if (to !== undefined) {
      group.byStage[to].add(connection);
      this.#rankingOf(to)?.increment(group);
    }
    const change = (to === undefined ? 0 : 1) - (from === undefined ? 0 : 1);
    group.size += change;
    this.#size += change;
    if (group.size === 0) this.#groups.delete(group.key);
  }

  #rankingOf(stage: Stage): Ranking<AddressGroup> | undefined {
    if (stages[stage] <= stages.resting) return this.#free;
    return stage === 'held' ? undefined : this.#shared;
  }

  #report(address: string): void {
    const { onCrowded, now = () => performance.now() } = this.#options;
    if (!onCrowded || now() - this.#reportedAt < REPORT_INTERVAL_MS) return;
    this.#reportedAt = now();
    const report = { address, dropped: this.#dropped, refused: this.#refused };
    this.#dropped = this.#refused = 0;
    onCrowded(report);
  }
}

type Move = (connection: AdmittedConnection, from: Stage | undefined, to: Stage | undefined) => void;

/** The place of one connection. */
export class AdmittedConnection {
  readonly #drop: () => void;
  readonly #move: Move;
  #stage: Stage | undefined = 'silent';

  constructor(drop: () => void, move: Move) {
    this.#drop = drop;
    this.#move = move;
    move(this, undefined, 'silent');
  }

  /** Undefined after it was dropped or has ended. */
  get stage(): Stage | undefined {
    return this.#stage;
  }

  /** It becomes the youngest of the stage. */
  enter(stage: Stage): void {
    if (this.#stage === undefined || this.#stage === stage) return;
    const from = this.#stage;
    this.#stage = stage;
    this.#move(this, from, stage);
  }

  /** The connection has ended; further calls have no effect. */
  leave(): void {
    if (this.#stage === undefined) return;
    const from = this.#stage;
    this.#stage = undefined;
    this.#move(this, from, undefined);
  }

  drop(): void {
    this.leave();
    this.#drop();
  }
}

function emptyStages(): AddressGroup['byStage'] {
  const empty = () => new Set<AdmittedConnection>();
  return { silent: empty(), idle: empty(), resting: empty(), serving: empty(), busy: empty(), held: empty() };
}

const V6_GROUPS_OF_A_NETWORK = 4;

/** A client with one IPv6 address has its whole /64, so a /64 counts as one address. */
export function addressKey(address: string): string {
  const plain = address.replace(/^::ffff:(?=\d+\.)/i, '').replace(/%.*$/, '');
  if (!plain.includes(':')) return plain;
  const [head = '', tail] = plain.split('::');
  const left = head === '' ? [] : head.split(':');
  const right = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros = tail === undefined ? 0 : Math.max(0, 8 - left.length - right.length);
  const groups = [...left, ...Array.from({ length: zeros }, () => '0'), ...right];
  const network = groups.slice(0, V6_GROUPS_OF_A_NETWORK).map((group) => Number.parseInt(group, 16).toString(16));
  return `${network.join(':')}::/64`;
}
