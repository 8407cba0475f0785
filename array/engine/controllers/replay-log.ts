import type { EngineCall, EngineMethod, EngineMethods } from './protocol.ts';

/**
 * State that an engine does not make durable itself, as calls that are replayed to the next controller at a failover.
 *
 *     management ──call──► active controller      caps, caches, speeds, keys, exports, held writes: in memory only
 *         │ answered
 *         ▼
 *     ReplayLog.record ──► one call for each (kind, id): a later one replaces it, a removal drops it
 *         │ failover
 *         ▼
 *     calls() in the order of KINDS ──► next controller, before it serves
 *
 * Example: `setCaps(v1, 20 IOPS)` is answered and recorded; the controller crashes; the standby opens the pools, gets
 * `setCaps(v1, 20 IOPS)` replayed, then serves. A call that was not answered is not recorded: the dispatcher repeats it
 * to the next controller, after the replay.
 *
 * Invariant: after a failover the engine holds the state of every call that was answered. Two tables keep it by type:
 * `RULES` has a line for each method of `EngineMethods`, and `KINDS` says of each kind of state what it belongs to, so that it
 * is dropped when that is deleted. A new method does not compile without its line.
 */

/** What a kind of state belongs to. The order is that of replay: what stands on what, and servers last. */
const KINDS = {
  readMode: 'array',
  drive: 'drive',
  group: 'group',
  pool: 'pool',
  key: 'volume',
  caps: 'volume',
  sizes: 'volume',
  accounts: 'array',
  share: 'volume',
  hold: 'volume',
  server: 'server',
} as const;
type Kind = keyof typeof KINDS;
type Owner = (typeof KINDS)[Kind];
const KINDS_IN_ORDER = Object.keys(KINDS) as Kind[];

/** Writes are held until this moment by the clock of `Date.now`. */
type State = { readonly call: EngineCall } | { readonly heldUntilMs: number };

/**
 * `durable`: the engine has made it durable when it answers. `query`: it changes nothing. `momentary`: it concerns work
 * or sessions of that controller, which end with it.
 */
type Rule<M extends EngineMethod> =
  'durable' | 'query' | 'momentary' | ((log: ReplayLog, ...args: Parameters<EngineMethods[M]>) => void);

const RULES: { readonly [M in EngineMethod]: Rule<M> } = {
  report: 'query',
  volume: 'query',
  takeDriveOffline: (log, drive) => log.put('drive', drive, { method: 'takeDriveOffline', args: [drive] }),
  bringDriveOnline: (log, drive) => log.drop('drive', drive),
  shredDrive: 'durable',
  createGroup: (log, { id, speed }) => log.put('group', id, { method: 'setResyncSpeed', args: [id, speed] }),
  deleteGroup: (log, id) => log.dropAllOf('group', id),
  replaceDrive: 'durable',
  addSpare: 'durable',
  removeSpare: 'durable',
  setResyncSpeed: (log, ...args) => log.put('group', args[0], { method: 'setResyncSpeed', args }),
  setReadMode: (log, ...args) => log.put('readMode', '', { method: 'setReadMode', args }),
  scrubGroup: 'momentary',
  createPool: 'durable',
  deletePool: (log, id) => log.dropAllOf('pool', id),
  expandPool: 'durable',
  shrinkPool: 'durable',
  setPoolCache: (log, ...args) => log.put('pool', args[0], { method: 'setPoolCache', args }),
  createVolume: (log, { id, key }) => {
    if (key !== undefined) log.putKey(id, key);
  },
  expandVolume: 'durable',
  deleteVolume: (log, id) => log.dropAllOf('volume', id),
  setReduction: 'durable',
  setCaps: (log, ...args) => {
    const [id, caps] = args;
    if (Object.values(caps).every((cap) => cap === 0)) log.drop('caps', id);
    else log.put('caps', id, { method: 'setCaps', args });
  },
  countSizes: (log, ...args) => {
    const [id, isWanted] = args;
    if (isWanted) log.put('sizes', id, { method: 'countSizes', args });
    else log.drop('sizes', id);
  },
  unlockVolume: (log, id, key) => log.putKey(id, key),
  holdWrites: (log, volumes, forMs) => log.hold(volumes, forMs),
  releaseWrites: (log, volumes) => {
    for (const volume of volumes) log.drop('hold', volume);
  },
  moveVolume: 'durable',
  pauseMove: 'momentary',
  resumeMove: 'momentary',
  takeSnapshots: 'durable',
  deleteSnapshot: 'durable',
  // The key of an encrypted clone comes by `unlockVolume`.
  cloneSnapshot: 'durable',
  revertVolume: 'durable',
  changes: 'query',
  readSnapshot: 'query',
  // Until a flush they are volatile, as in any write cache: `Unflushed` knows whose flush must fail.
  writeVolume: 'momentary',
  discardVolume: 'momentary',
  flushVolume: 'durable',
  shownBytes: 'query',
  putServer: (log, server) => log.put('server', server.id, { method: 'putServer', args: [server] }),
  removeServer: (log, id) => log.dropAllOf('server', id),
  dropSessions: 'momentary',
  formatShare: 'durable',
  putShare: (log, share) => log.put('share', share.volume, { method: 'putShare', args: [share] }),
  removeShare: (log, volume) => log.drop('share', volume),
  putNasAccounts: (log, accounts) => log.put('accounts', '', { method: 'putNasAccounts', args: [accounts] }),
  quotaState: 'query',
  setQuotaState: 'durable',
  quota: 'query',
  quotas: 'query',
  setQuotas: 'durable',
  setProject: 'durable',
  listFiles: 'query',
  readFile: 'query',
  archiveFile: 'durable',
  writeRecall: 'momentary',
  finishRecall: 'durable',
  giveContents: 'momentary',
  expireFile: 'durable',
  purgeBin: 'durable',
  restoreFile: 'durable',
  failover: 'momentary',
};

export class ReplayLog {
  readonly #states = Object.fromEntries(KINDS_IN_ORDER.map((kind) => [kind, new Map()])) as Readonly<
    Record<Kind, Map<string, State>>
  >;

  /** To be called when the engine has answered the call. */
  record({ method, args }: EngineCall): void {
    const rule = RULES[method];
    if (typeof rule === 'function') (rule as (log: ReplayLog, ...args: readonly unknown[]) => void)(this, ...args);
  }

  /** Writes of volumes are held back at this moment. */
  get holdsWrites(): boolean {
    const now = Date.now();
    return [...this.#states.hold.values()].some((state) => 'heldUntilMs' in state && state.heldUntilMs > now);
  }

  /** All state, as calls to the next controller's engine. */
  calls(): EngineCall[] {
    const now = Date.now();
    const calls: EngineCall[] = [];
    for (const kind of KINDS_IN_ORDER) {
      for (const [id, state] of this.#states[kind]) {
        if ('call' in state) calls.push(state.call);
        else if (state.heldUntilMs > now) calls.push({ method: 'holdWrites', args: [[id], state.heldUntilMs - now] });
        else this.#states[kind].delete(id);
      }
    }
    return calls;
  }

  put(kind: Exclude<Kind, 'hold'>, id: string, call: EngineCall): void {
    this.#states[kind].set(id, { call });
  }

  /** A copy: the caller may wipe its own. */
  putKey(volume: string, key: Uint8Array): void {
    this.put('key', volume, { method: 'unlockVolume', args: [volume, Uint8Array.from(key)] });
  }

  /** A hold ends by itself when its time is up. */
  hold(volumes: readonly string[], forMs: number): void {
    for (const volume of volumes) this.#states.hold.set(volume, { heldUntilMs: Date.now() + forMs });
  }

  drop(kind: Kind, id: string): void {
    this.#states[kind].delete(id);
  }

  /** State of every kind that belongs to what was deleted. */
  dropAllOf(owner: Owner, id: string): void {
    for (const kind of KINDS_IN_ORDER) if (KINDS[kind] === owner) this.drop(kind, id);
  }
}
