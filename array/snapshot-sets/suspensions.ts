import { fail } from '@granary/kernel';
import type { ArrayTools } from '../tools.ts';

/** Volumes whose writes are held back so that a set can be taken. */
interface Suspension {
  readonly volumes: readonly string[];
  readonly untilMs: number;
  timer: NodeJS.Timeout | undefined;
  isTaken: boolean;
}

const SUSPENDED_MAX = 64;
const EXPIRED_KEPT_MAX = 1_000;

/**
 * Held in memory alone: the engine lets go by itself when the time is up or when it goes down, and then there is
 * nothing left to hold on to.
 */
export class Suspensions {
  readonly #tools: ArrayTools;
  readonly #suspended = new Map<string, Suspension>();
  /** Those whose time was up: their owners want to know why. */
  readonly #expired = new Set<string>();

  constructor(tools: ArrayTools) {
    this.#tools = tools;
  }

  has(id: string): boolean {
    return this.#suspended.has(id);
  }

  volumesOf(id: string): readonly string[] {
    return this.#suspended.get(id)?.volumes ?? [];
  }

  isExpired(id: string): boolean {
    return this.#expired.has(id);
  }

  async hold(id: string, volumes: readonly string[], forMs: number): Promise<void> {
    const { engine, clock } = this.#tools;
    const held = new Map([...this.#suspended].flatMap(([set, { volumes: names }]) => names.map((name) => [name, set])));
    const taken = volumes.find((name) => held.has(name));
    if (taken !== undefined) {
      throw fail('volume_suspended', { id: taken, set: held.get(taken) ?? '' });
    }
    if (this.#suspended.size >= SUSPENDED_MAX) {
      throw fail('suspended_sets_limit', { max: SUSPENDED_MAX });
    }
    // Recorded before the engine is called, so that the name and the volumes are reserved.
    const suspension = { volumes, untilMs: clock.now() + forMs, timer: undefined, isTaken: false };
    this.#suspended.set(id, suspension);
    try {
      await engine.holdWrites(volumes, forMs);
    } catch (error) {
      this.#suspended.delete(id);
      throw error;
    }
    this.#expired.delete(id);
    this.#expireLater(id, suspension);
  }

  /** Reserves it for the caller, who has to call `release`. */
  claim(id: string): Suspension | undefined {
    const suspension = this.#suspended.get(id);
    if (!suspension || suspension.isTaken || suspension.timer === undefined) return undefined;
    clearTimeout(suspension.timer);
    suspension.isTaken = true;
    return suspension;
  }

  async release(id: string): Promise<void> {
    const suspension = this.#suspended.get(id);
    if (!suspension) return;
    try {
      await this.#tools.engine.releaseWrites(suspension.volumes);
    } finally {
      this.#suspended.delete(id);
    }
  }

  /** What the engine holds ends with it. */
  stop(): void {
    for (const { timer } of this.#suspended.values()) clearTimeout(timer);
  }

  #expireLater(id: string, suspension: Suspension): void {
    const { clock, log } = this.#tools;
    suspension.timer = setTimeout(
      () => {
        this.#expire(id).catch((error: unknown) =>
          log.error({ error, set: id }, 'a suspended set could not be let go'),
        );
      },
      Math.max(0, suspension.untilMs - clock.now()),
    );
    suspension.timer.unref();
  }

  async #expire(id: string): Promise<void> {
    const suspension = this.claim(id);
    if (!suspension) return;
    const { store, events, log } = this.#tools;
    await this.release(id).catch((error: unknown) => log.warn({ error, set: id }, 'writes were not released'));
    this.#rememberExpired(id);
    const title = `Snapshot set ${id} was cancelled: it was not taken in time, and writes to ${suspension.volumes.join(', ')} go on.`;
    await store.write((tx) => events.record(tx, { severity: 'warning', title, subject: `snapshot_set:${id}` }));
  }

  #rememberExpired(id: string): void {
    this.#expired.add(id);
    const [oldest] = this.#expired;
    if (this.#expired.size > EXPIRED_KEPT_MAX && oldest !== undefined) this.#expired.delete(oldest);
  }
}
