import { fail, type Tx } from '@granary/kernel';
import type { ArrayId } from '../ids.ts';
import { scopeOf, type PortalActor } from '../actor.ts';
import type { RequestService } from '../requests/service.ts';
import { retentionMs } from '../settings/retention.ts';
import type { Tools } from '../tools.ts';
import type { ArrayLifecycle } from './lifecycle.ts';
import * as repository from './repository.ts';
import type { ArrayStates } from './states.ts';

interface Parts {
  readonly tools: Tools;
  readonly requests: RequestService;
  readonly states: ArrayStates;
  readonly lifecycle: ArrayLifecycle;
}

export const deletable = ['created', 'starting', 'hibernated', 'failed'] as const;

/** The purge waits for the moment it is due, and looks again after this at the latest. */
const LOOK_MS_MAX = 60_000;
const LOOK_MS_MIN = 1_000;

/**
 * How arrays go. A deleted array is stopped and keeps drives, addresses and data until `purge_at`, which is set in the
 * transaction that starts the deletion. Until then it can be undeleted. When the time is up, or an administrator says so,
 * one transaction clears `purge_at`, ends its bill and starts the job that removes it: from then on nothing brings it back.
 */
export class ArrayDeletions {
  readonly #parts: Parts;
  #timer: NodeJS.Timeout | undefined;
  #polling: Promise<void> = Promise.resolve();
  #stopped = false;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  start(): void {
    if (this.#stopped) return;
    const { store, clock } = this.#parts.tools;
    const next = store.read(repository.nextPurge);
    const waitMs = next === null ? LOOK_MS_MAX : Math.min(Math.max(next - clock.now(), LOOK_MS_MIN), LOOK_MS_MAX);
    this.#timer = setTimeout(() => {
      this.#polling = this.purgeDue().finally(() => {
        this.start();
      });
    }, waitMs).unref();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    await this.#polling;
  }

  /** Starts the deletion; in the caller's transaction. What was never placed holds nothing to keep. */
  begin(tx: Tx, id: ArrayId, actor: string): number {
    const { tools, states, lifecycle, requests } = this.#parts;
    const { name, numberInCloud: placed } = states.require(tx, id, null, 'deleting', deletable);
    const keptMs = placed === null ? 0 : retentionMs(tx);
    repository.setPurgeAt(tx, id, keptMs > 0 ? tools.clock.now() + keptMs : null);
    states.move(tx, id, { status: 'deleting', progress: 0, event: `Array ${name} is being deleted.`, actor });
    requests.refuseOfArray(tx, id, 'the array was deleted', actor);
    return lifecycle.start(tx, 'array.delete', id);
  }

  async undelete(actor: PortalActor, id: ArrayId, newName: string | undefined): Promise<string> {
    const { tools, states, lifecycle } = this.#parts;
    return tools.store.write((tx) => {
      const array = states.require(tx, id, scopeOf(actor), 'undeleting', ['deleted']);
      if (array.purgeAt === null || array.purgeAt <= tools.clock.now())
        throw fail('undelete_too_late', { name: array.name });
      const name = newName ?? array.name;
      if (repository.findArrayByName(tx, array.ownerId, name)) throw fail('name_taken', { name });
      if (name !== array.name) repository.renameArray(tx, id, name);
      repository.setUndeleted(tx, id);
      const event = `Array ${name} was undeleted.`;
      states.move(tx, id, { status: 'restoring', progress: 0, event, severity: 'notice', actor: actor.username });
      lifecycle.start(tx, 'array.restore', id);
      return `Array ${name} is restoring.`;
    });
  }

  /** For administrators: at once what would happen when the time is up. Once more where an earlier purge was given up. */
  async purge(actor: PortalActor, id: ArrayId): Promise<string> {
    const { tools, states } = this.#parts;
    return tools.store.write((tx) => {
      const array = states.require(tx, id, null, 'purging', ['deleted']);
      if (array.purgedAt !== null) throw fail('purged_already', { name: array.name });
      this.#purge(tx, array, tools.clock.now(), actor.username);
      return `Array ${array.name} is being purged.`;
    });
  }

  async purgeDue(): Promise<void> {
    const { tools } = this.#parts;
    try {
      await tools.store.write((tx) => {
        for (const array of repository.listToPurge(tx, tools.clock.now()))
          this.#purge(tx, array, array.purgeAt, 'system');
      });
    } catch (error) {
      tools.log.error({ error }, 'deleted arrays could not be purged; they are tried again');
    }
  }

  /** Its bill ends at `at`: a portal that was down when the time was up must not bill for that. */
  #purge(tx: Tx, { id, name }: { readonly id: ArrayId; readonly name: string }, at: number, actor: string): void {
    const { tools, states, lifecycle } = this.#parts;
    repository.setPurgeAt(tx, id, null);
    states.touch(tx, id, at);
    lifecycle.start(tx, 'array.purge', id);
    const title = `Array ${name} is being purged: its data is removed and its drives go back.`;
    tools.events.record(tx, { title, subject: `array:${id}`, severity: 'notice', actor });
  }
}
