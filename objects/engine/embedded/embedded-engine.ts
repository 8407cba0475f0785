import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Reserve, type UnboundAddress } from '@granary/kernel';
import { Epoch, IndexWriter, StorageManager, type Commit, type EncryptionState } from '@granary/storage/objects';
import { controllersOf } from '../controller-spec.ts';
import type { ObjectCatalogue, ObjectEngine } from '../engine.ts';
import type { EngineManagement } from '../management.ts';
import type { ReplicationOrder, ReplicationOutcome } from '../replication/order.ts';
import type { EngineReport } from '../report.ts';
import type { MoveOrder } from '../transitions/order.ts';
import { DataPorts } from '../serving/data-ports.ts';
import { createLimits } from '../serving/rate-limits.ts';
import { servedSettings } from '../serving/served-settings.ts';
import type { EngineSetup, RunningEngine } from '../running-engine.ts';
import { ControllerThreads } from './controllers/controllers.ts';
import { mainAnswers } from './controllers/main-answers.ts';
import { reportOf } from './report.ts';
import { refuseLostIndex } from './lost-index.ts';
import { SmallBodies } from './small-bodies.ts';
import { wantedOf } from './wanted.ts';

const DRIVES_MS_MAX = 2_000;
const FILL_EVERY_MS = 5_000;

export interface EmbeddedOptions {
  /** Whether this thread puts small bodies of all controllers on the drives. */
  readonly gathersSmallBodies: boolean;
}

/** What there is once it serves. */
interface Serving {
  readonly management: EngineManagement;
  readonly manager: StorageManager;
  readonly smallBodies: SmallBodies;
  readonly controllers: ControllerThreads;
}

/**
 * Objects on drives of the array: the index and its writer, the manager of drives, and the controllers, which are threads
 * that serve.
 */
export class EmbeddedObjectEngine implements ObjectEngine, RunningEngine {
  readonly kind = 'embedded';
  readonly engine: ObjectEngine = this;
  readonly catalogue: ObjectCatalogue;
  readonly commit: Commit;
  readonly #setup: EngineSetup;
  readonly #options: EmbeddedOptions;
  readonly #index: IndexWriter;
  /** Free space for deletions when the disk of the index is full. */
  readonly #reserve: Reserve;
  readonly #ports: DataPorts;
  readonly #callers = new Epoch();
  readonly #limits = createLimits();
  #filling: NodeJS.Timeout | undefined;
  #management: EngineManagement | undefined;
  #manager: StorageManager | undefined;
  #smallBodies: SmallBodies | undefined;
  #controllers: ControllerThreads | undefined;

  constructor(setup: EngineSetup, options: EmbeddedOptions) {
    this.#setup = setup;
    this.#options = options;
    if (!existsSync(this.#acceptFile)) refuseLostIndex(this.#indexFile, setup.configuration().drives);
    this.#reserve = new Reserve(`${this.#indexFile}-reserve`);
    this.#index = new IndexWriter(this.#indexFile, this.#reserve);
    this.catalogue = this.#index.reader;
    this.commit = (operation, args) => (this.#smallBodies ?? this.#index).commit(operation, args);
    this.#ports = new DataPorts({ ...setup, retry: () => this.reconfigure() });
  }

  readonly drives = {
    list: () => this.#serving.manager.report().drives,
    remove: (
      policy: string,
      uuids: readonly string[],
      onProgress: (done: number) => void,
      signal: AbortSignal,
    ): Promise<void> => this.#serving.manager.removeDrives(policy, uuids, onProgress, signal),
  };

  readonly controllers = { list: () => this.#serving.controllers.list() };

  readonly encryption = {
    setKeys: (state: EncryptionState): Promise<void> => this.#serving.manager.setEncryption(state),
  };

  get unbound(): readonly UnboundAddress[] {
    return this.#ports.unbound;
  }

  forgetCallers(): void {
    this.#callers.advance();
  }

  async serve(management: EngineManagement): Promise<void> {
    const { configuration } = this.#setup;
    this.#management = management;
    management.onStage('opening its drives');
    const manager = await this.#openManager(management);
    management.onStage('starting its controllers');
    const smallBodies = new SmallBodies({
      manager,
      index: this.#index,
      fullPolicies: management.fullPolicies,
      onDriveActivity: management.onDriveActivity,
      isUsed: this.#options.gathersSmallBodies,
    });
    this.#smallBodies = smallBodies;
    const controllers = await this.#newControllers(management, manager, smallBodies);
    this.#controllers = controllers;
    manager.onLayout((layout) => controllers.publishLayout(layout));
    await controllers.follow(controllersOf(configuration()));
    this.#filling = setInterval(() => void this.#reserve.fill(), FILL_EVERY_MS).unref();
  }

  async reconfigure(): Promise<void> {
    const { configuration, log } = this.#setup;
    const { management, manager, controllers } = this.#serving;
    await manager.follow(wantedOf(configuration(), management));
    await this.applySettings();
    const { addresses, certificate } = await this.#listenAt(management);
    const problems = await controllers.serve(addresses, certificate);
    this.#ports.releaseOthers(addresses);
    if (problems.length > 0) log.warn({ problems }, 'addresses are not served');
    await controllers.follow(controllersOf(configuration()));
  }

  async applySettings(): Promise<void> {
    const { management, controllers } = this.#serving;
    await controllers.publishSettings(servedSettings(this.#setup.configuration(), management));
  }

  report(): EngineReport {
    const { manager } = this.#serving;
    return reportOf(manager.report(), manager.layout().defaultPolicy);
  }

  replicate(order: ReplicationOrder): Promise<ReplicationOutcome> {
    return this.#serving.controllers.replicate(order);
  }

  move(order: MoveOrder): Promise<boolean> {
    return this.#serving.controllers.move(order);
  }

  async flush(): Promise<void> {
    const { controllers, smallBodies } = this.#serving;
    await controllers.flush();
    smallBodies.report();
  }

  async stop(): Promise<void> {
    this.#ports.stop();
    clearInterval(this.#filling);
    this.#reserve.close();
    // The manager has work with the controllers, they leave small bodies to it, and both need the index.
    await this.#manager?.stopBackgroundWork();
    await this.#controllers?.stop();
    this.#ports.releaseOthers([]);
    this.#smallBodies?.close();
    // A drive that hangs is not waited for: no caller waits for what is written to it.
    await Promise.race([this.#manager?.close(), sleep(DRIVES_MS_MAX, undefined, { ref: false })]);
    await this.#index.close();
  }

  get #serving(): Serving {
    const [management, manager, smallBodies] = [this.#management, this.#manager, this.#smallBodies];
    const controllers = this.#controllers;
    if (!management || !manager || !smallBodies || !controllers) throw new Error('The engine does not serve yet.');
    return { management, manager, smallBodies, controllers };
  }

  get #indexFile(): string {
    return join(this.#setup.configuration().folder, 'index.db');
  }

  /** Made by an administrator who has no newer index: the drives are taken as they are, once. */
  get #acceptFile(): string {
    return `${this.#indexFile}.accept`;
  }

  async #openManager(management: EngineManagement): Promise<StorageManager> {
    const { configuration, clock, log } = this.#setup;
    const manager = await StorageManager.open({
      index: this.#index,
      workers: () => this.#controllers?.workers() ?? [],
      expansionPercent: () => management.settings().expansionPercent,
      onEvent: management.onEvent,
      onError: (error) => log.error({ error }, 'the manager of drives met a problem'),
      now: () => clock.now(),
      acceptsAnyIndex: existsSync(this.#acceptFile),
    });
    this.#manager = manager;
    await manager.setEncryption(management.encryption());
    await manager.follow(wantedOf(configuration(), management));
    rmSync(this.#acceptFile, { force: true });
    return manager;
  }

  async #newControllers(
    management: EngineManagement,
    manager: StorageManager,
    smallBodies: SmallBodies,
  ): Promise<ControllerThreads> {
    const { configuration, clock, log } = this.#setup;
    const data = {
      indexFile: this.#indexFile,
      epoch: this.#callers.memory,
      buckets: this.#index.bucketEpoch.memory,
      limits: this.#limits,
      alongBytesMax: smallBodies.bytesMax,
    };
    return new ControllerThreads(
      {
        data,
        answers: mainAnswers({ management, manager, commit: smallBodies.commit, log }),
        onActivity: ({ name }, activity) => management.onActivity(name, activity),
        onLost: ({ name }, reason) => management.onEvent({ kind: 'controller-lost', controller: name, reason }),
        now: () => clock.now(),
        log,
      },
      {
        layout: manager.layout(),
        settings: servedSettings(configuration(), management),
        ...(await this.#listenAt(management)),
      },
    );
  }

  async #listenAt({ settings, certificate }: EngineManagement) {
    const shown = settings().sslTermination ? await certificate() : null;
    return { addresses: await this.#ports.acquire(), certificate: shown };
  }
}
