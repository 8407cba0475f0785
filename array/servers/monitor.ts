import type { SessionReport } from '../engine/report.ts';
import type { ArrayTools } from '../tools.ts';
import { countVolumesOfServer } from './attachment-repository.ts';
import { findServer, listConnected, setConnected } from './repository.ts';
import type { Server } from './server.ts';
import type { Connectivity } from './view.ts';

/** Sessions that come back within this time were never gone. */
const GONE_AFTER_MS = 5_000;
/** After a start, servers need a moment to find the array again. */
const GONE_AFTER_START_MS = 30_000;

/** Follows which servers are connected, and records when a monitored one connects or disconnects. */
export class ServerMonitor {
  readonly #tools: ArrayTools;
  /** Servers reported as connected, each with when it was last seen. */
  readonly #connected = new Map<string, number>();
  #checkedAt: number | null = null;
  #startedAt = 0;
  #reading: { sessions: readonly SessionReport[]; servers: ReadonlySet<string> } = { sessions: [], servers: new Set() };

  constructor(tools: ArrayTools) {
    this.#tools = tools;
  }

  start(): void {
    const { store, readings, clock } = this.#tools;
    this.#startedAt = clock.now();
    for (const name of store.read(listConnected)) this.#connected.set(name, this.#startedAt);
    readings.onReading(() => this.#poll());
  }

  connectivity({ name, isMonitored, createdAt, lastCheckAt }: Server): Connectivity {
    const isConnected = this.#seen().has(name);
    const isChecked = isMonitored && this.#checkedAt !== null && this.#checkedAt >= createdAt;
    return { isConnected, checkedAt: isChecked ? this.#checkedAt : lastCheckAt };
  }

  /** Who has a session, worked out once per reading. */
  #seen(): ReadonlySet<string> {
    const { sessions } = this.#tools.readings;
    if (this.#reading.sessions !== sessions)
      this.#reading = { sessions, servers: new Set(sessions.map(({ server }) => server)) };
    return this.#reading.servers;
  }

  async #poll(): Promise<void> {
    const now = this.#tools.clock.now();
    this.#checkedAt = now;
    const changes: [string, boolean][] = [];
    for (const name of this.#seen()) {
      if (!this.#connected.has(name)) changes.push([name, true]);
      this.#connected.set(name, now);
    }
    for (const [name, seenAt] of this.#connected)
      if (now - seenAt >= this.#patience(now)) {
        this.#connected.delete(name);
        changes.push([name, false]);
      }
    if (changes.length > 0) await this.#recordChanges(changes);
  }

  #patience(now: number): number {
    return now - this.#startedAt < GONE_AFTER_START_MS ? GONE_AFTER_START_MS : GONE_AFTER_MS;
  }

  async #recordChanges(changes: readonly [string, boolean][]): Promise<void> {
    const { store, events, clock } = this.#tools;
    await store.write((tx) => {
      for (const [name, isConnected] of changes) {
        const server = findServer(tx, name);
        if (!server) continue;
        setConnected(tx, name, isConnected, clock.now());
        if (!server.isMonitored) continue;
        const isMissed = !isConnected && countVolumesOfServer(tx, name) > 0;
        events.record(tx, {
          severity: isMissed ? 'warning' : 'info',
          title: `Server ${server.displayName} (${name}) is ${isConnected ? 'connected' : 'not connected any more'}.`,
          subject: `server:${name}`,
        });
      }
    });
  }
}
