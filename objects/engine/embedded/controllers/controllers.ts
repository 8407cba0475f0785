import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from '@granary/kernel';
import type { Answers } from '@granary/kernel/threads';
import { ObjectError, type Layout, type StorageWorker } from '@granary/storage/objects';
import type { MoveOrder } from '../../transitions/order.ts';
import type { ReplicationOrder, ReplicationOutcome } from '../../replication/order.ts';
import type { Activity } from '../../activity.ts';
import type { ControllerSpec, ControllerState } from '../../controller-spec.ts';
import type { DataAddress, DataCertificate } from '../../serving/data-server.ts';
import type { ServedSettings } from '../../serving/served-settings.ts';
import type { ControllerCalls, MainCalls, ThreadData } from './protocol.ts';
import { ControllerThread } from './thread.ts';

/** Everything that is published to controllers; a new one receives all of it. */
export interface Published {
  readonly layout: Layout;
  readonly settings: ServedSettings;
  readonly addresses: readonly DataAddress[];
  readonly certificate: DataCertificate | null;
}

interface ControllersOptions {
  readonly data: Omit<ThreadData, 'name' | 'index'>;
  readonly answers: (spec: ControllerSpec) => Answers<MainCalls>;
  readonly onActivity: (spec: ControllerSpec, activity: Activity) => void;
  readonly onLost: (spec: ControllerSpec, reason: string) => void;
  readonly now: () => number;
  readonly log: Log;
}

interface Held {
  readonly spec: ControllerSpec;
  thread: ControllerThread;
  running: boolean;
  since: number;
}

const RESTART_MS = 1_000;
const STOP_MS_MAX = 5_000;

/** The virtual controllers of the array: threads that are started, stopped, and restarted when they are lost. */
export class ControllerThreads {
  readonly #options: ControllersOptions;
  readonly #held = new Map<string, Held>();
  #published: Published;
  #turn = 0;

  constructor(options: ControllersOptions, world: Published) {
    this.#options = options;
    this.#published = world;
  }

  list(): ControllerState[] {
    return [...this.#held.values()].map(({ spec, running, since }) => ({ ...spec, running, since }));
  }

  /** Starts those that are missing and ends those that are no longer wanted. */
  async follow(specs: readonly ControllerSpec[]): Promise<void> {
    const wanted = new Set(specs.map(({ name, role }) => `${name} ${role}`));
    const surplus = [...this.#held.values()].filter(({ spec }) => !wanted.has(`${spec.name} ${spec.role}`));
    await Promise.all(surplus.map((held) => this.#end(held)));
    await Promise.all(specs.filter(({ name }) => !this.#held.has(name)).map((spec) => this.#start(spec)));
  }

  /** Resolves when every controller knows it. */
  async publishLayout(layout: Layout): Promise<void> {
    this.#published = { ...this.#published, layout };
    await this.#askAll('layout', layout);
  }

  async publishSettings(settings: ServedSettings): Promise<void> {
    this.#published = { ...this.#published, settings };
    await this.#askAll('settings', settings);
  }

  /** Which addresses could not be bound, in words. */
  async serve(addresses: readonly DataAddress[], certificate: DataCertificate | null): Promise<string[]> {
    this.#published = { ...this.#published, addresses, certificate };
    const answers = await this.#askAll('serve', { addresses, certificate });
    return [...new Set(answers.flatMap(({ problems }) => problems))];
  }

  /** Everything that was answered before has been counted afterwards. */
  async flush(): Promise<void> {
    await Promise.all(
      this.#running().map(async ({ spec, thread }) => {
        const activity = await thread.ask('flush', null).catch(() => undefined);
        if (activity) this.#options.onActivity(spec, activity);
      }),
    );
  }

  /** Those that can repair and compact now; the same object for as long as a thread lives. */
  workers(): StorageWorker[] {
    return this.#running().map(({ thread }) => thread.worker);
  }

  /** Controllers take turns. */
  async replicate(order: ReplicationOrder): Promise<ReplicationOutcome> {
    return this.#next().ask('replicate', order);
  }

  /** Likewise. */
  async move(order: MoveOrder): Promise<boolean> {
    return this.#next().ask('move', order);
  }

  #next(): ControllerThread {
    const running = this.#running();
    const held = running[this.#turn++ % running.length];
    if (!held) throw new ObjectError('closed', 'No controller runs.');
    return held.thread;
  }

  async stop(): Promise<void> {
    await Promise.all([...this.#held.values()].map((held) => this.#end(held)));
  }

  async #start(spec: ControllerSpec): Promise<void> {
    const held: Held = { spec, thread: this.#newThread(spec), running: false, since: this.#options.now() };
    this.#held.set(spec.name, held);
    await this.#publishAll(held);
  }

  #newThread(spec: ControllerSpec): ControllerThread {
    const { data, answers } = this.#options;
    return new ControllerThread({
      spec,
      data,
      answers: answers(spec),
      onLost: (reason) => void this.#restart(spec, reason),
    });
  }

  /** Repeats until nothing changed meanwhile: from then on the controller is among the running. */
  async #publishAll(held: Held): Promise<void> {
    let sent: Published;
    do {
      sent = this.#published;
      const { layout, settings, addresses, certificate } = sent;
      await held.thread.ask('layout', layout);
      await held.thread.ask('settings', settings);
      const { problems } = await held.thread.ask('serve', { addresses, certificate });
      const facts = { controller: held.spec.name, problems };
      if (problems.length > 0) this.#options.log.warn(facts, 'addresses are not served');
    } while (sent !== this.#published);
    held.running = true;
    held.since = this.#options.now();
  }

  async #restart(spec: ControllerSpec, reason: string): Promise<void> {
    const held = this.#held.get(spec.name);
    if (held === undefined) return;
    held.running = false;
    held.since = this.#options.now();
    this.#options.onLost(spec, reason);
    await sleep(RESTART_MS);
    if (this.#held.get(spec.name) !== held) return;
    held.thread = this.#newThread(spec);
    // If it is lost again on the way, that is noticed where it is lost.
    await this.#publishAll(held).catch(() => undefined);
  }

  async #end(held: Held): Promise<void> {
    this.#held.delete(held.spec.name);
    const timeout = sleep(STOP_MS_MAX, undefined, { ref: false });
    const activity = await Promise.race([held.thread.ask('stop', null), timeout]).catch(() => undefined);
    if (activity) this.#options.onActivity(held.spec, activity);
    await held.thread.end();
  }

  #running(): Held[] {
    return [...this.#held.values()].filter(({ running, thread }) => running && !thread.isGone);
  }

  /** A controller that is lost on the way learns everything when it is back. */
  async #askAll<K extends keyof ControllerCalls>(
    call: K,
    args: ControllerCalls[K]['args'],
  ): Promise<ControllerCalls[K]['result'][]> {
    const asked = this.#running().map(({ thread }) =>
      thread.ask(call, args).catch((error: unknown) => {
        if (thread.isGone) return undefined;
        throw error;
      }),
    );
    return (await Promise.all(asked)).filter((answer) => answer !== undefined);
  }
}
