import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  PortGuards,
  Reserve,
  whyUnbound,
  type Clock,
  type HostedConfiguration,
  type Log,
  type UnboundAddress,
} from '@granary/kernel';
import type { Answers } from '@granary/kernel/threads';
import type { Caller, Refused } from '@granary/protocols/objects';
import {
  Epoch,
  IndexWriter,
  Keeper,
  type Commit,
  type EncryptionState,
  type IndexReader,
  type KeeperEvent,
  type KeeperReport,
} from '@granary/storage/objects';
import type { Certificates } from '../certificates/service.ts';
import { commitAnswer } from '../controllers/commits.ts';
import { controllersOf, type ControllerSpec } from '../controllers/controller-spec.ts';
import { Controllers, type ControllerState } from '../controllers/controllers.ts';
import type { AccountLimit, Activity, DriveShare, MainCalls, WorldSettings } from '../controllers/protocol.ts';
import { createLimits, LimitSlots } from '../controllers/shared.ts';
import type { ReplicationOrder, ReplicationOutcome } from '../replication/order.ts';
import type { Settings } from '../settings/service.ts';
import type { AccountDirectory } from './account-directory.ts';
import { dataAddresses, hostsOf, publicUrls } from './addresses.ts';
import { refuseLostIndex } from './lost-index.ts';
import { SmallBodies } from './small-bodies.ts';

const GIGABYTE = 2 ** 30;
const DRIVES_MS_MAX = 2_000;
const FILL_EVERY_MS = 5_000;
const RETRY_MS = 10_000;

export interface DataPathOptions {
  readonly configuration: () => HostedConfiguration;
  readonly clock: Clock;
  readonly log: Log;
  /** Served again at an address where it could not be, or for another reason not. */
  readonly onListening?: () => void;
  /** Whether this thread puts small bodies of all controllers on the drives; the same on every machine unless it is said. */
  readonly gathersSmallBodies?: boolean;
}

/** What the data path asks of the services, and tells them. */
export interface DataPathParts {
  readonly settings: () => Settings;
  readonly certificates: Certificates;
  readonly encryption: () => EncryptionState;
  readonly directory: AccountDirectory;
  /** Name of the policy of new buckets; null for the first. */
  readonly defaultPolicy: () => string | null;
  /** Policies that are nearly full. */
  readonly fullPolicies: () => readonly number[];
  /** The accounts that a remote endpoint is granted to, by its name. */
  readonly destinations: () => Readonly<Record<string, readonly string[]>>;
  readonly onActivity: (controller: ControllerSpec, activity: Activity) => void;
  /** What this thread did on drives. */
  readonly onDriveActivity: (shares: readonly DriveShare[]) => void;
  readonly onEvent: (event: KeeperEvent) => void;
  /** How far the start is. */
  readonly onStage: (stage: string) => void;
  readonly onControllerLost: (controller: ControllerSpec, reason: string) => void;
}

/** What there is once it was started. */
interface Running {
  readonly keeper: Keeper;
  readonly smallBodies: SmallBodies;
  readonly controllers: Controllers;
  readonly parts: DataPathParts;
}

/**
 * Everything below the management of the array: the index and its writer, the keeper of drives, and the controllers
 * that serve. Management sees it through this.
 */
export class DataPath {
  readonly index: IndexWriter;
  readonly #options: DataPathOptions;
  readonly #epoch = new Epoch();
  readonly #limits = createLimits();
  readonly #slots = new LimitSlots();
  /** Room for deletions when the disk of the index is full. */
  readonly #reserve: Reserve;
  #filling: NodeJS.Timeout | undefined;
  #parts: DataPathParts | undefined;
  #keeper: Keeper | undefined;
  #smallBodies: SmallBodies | undefined;
  #controllers: Controllers | undefined;
  readonly #guards = new PortGuards();
  #unbound: readonly UnboundAddress[] = [];
  #retry: NodeJS.Timeout | undefined;
  #stopping = false;

  constructor(options: DataPathOptions) {
    this.#options = options;
    if (!existsSync(this.#acceptFile)) refuseLostIndex(this.#indexFile, options.configuration().drives);
    this.#reserve = new Reserve(`${this.#indexFile}-reserve`);
    this.index = new IndexWriter(this.#indexFile, this.#reserve);
  }

  get commit(): Commit {
    return this.index.commit;
  }

  get reader(): IndexReader {
    return this.index.reader;
  }

  /** Makes every thread ask anew who is who; before a change is acknowledged. */
  readonly forget = (): void => {
    this.#epoch.advance();
  };

  async start(parts: DataPathParts): Promise<void> {
    const { clock, log } = this.#options;
    this.#parts = parts;
    parts.onStage('opening its drives');
    const keeper = await Keeper.open({
      index: this.index,
      workers: () => this.#controllers?.workers() ?? [],
      expansionPercent: () => parts.settings().expansionPercent,
      onEvent: parts.onEvent,
      onError: (error) => log.error({ error }, 'the keeper of drives met a problem'),
      now: () => clock.now(),
      acceptsAnyIndex: existsSync(this.#acceptFile),
    });
    this.#keeper = keeper;
    await keeper.setEncryption(parts.encryption());
    await keeper.follow(this.#wanted());
    rmSync(this.#acceptFile, { force: true });
    parts.onStage('starting its controllers');
    this.#smallBodies = new SmallBodies({
      keeper,
      index: this.index,
      fullPolicies: parts.fullPolicies,
      onDriveActivity: parts.onDriveActivity,
      isUsed: this.#options.gathersSmallBodies ?? true,
    });
    this.#controllers = new Controllers(
      {
        data: {
          indexFile: this.#indexFile,
          epoch: this.#epoch.memory,
          buckets: this.index.bucketEpoch.memory,
          limits: this.#limits,
          alongBytesMax: this.#smallBodies.bytesMax,
        },
        answers: (spec) => this.#answers(spec),
        onActivity: parts.onActivity,
        onLost: parts.onControllerLost,
        now: () => clock.now(),
        log,
      },
      { layout: keeper.layout(), settings: this.#world(), ...(await this.#served()) },
    );
    keeper.onLayout((layout) => this.#running.controllers.tellLayout(layout));
    await this.#controllers.follow(this.#specs());
    this.#filling = setInterval(() => void this.#reserve.fill(), FILL_EVERY_MS).unref();
  }

  /** After a change of the configuration or the settings: everything follows before it resolves. */
  async follow(): Promise<void> {
    const { keeper, controllers } = this.#running;
    await keeper.follow(this.#wanted());
    await controllers.tellSettings(this.#world());
    const { addresses, certificate } = await this.#served();
    const problems = await controllers.serve(addresses, certificate);
    this.#guards.releaseOthers(addresses);
    if (problems.length > 0) this.#options.log.warn({ problems }, 'addresses are not served');
    await controllers.follow(this.#specs());
  }

  async tellSettings(): Promise<void> {
    await this.#running.controllers.tellSettings(this.#world());
  }

  async setEncryption(state: EncryptionState): Promise<void> {
    await this.#running.keeper.setEncryption(state);
  }

  /** Addresses where the data path cannot be served, and why. */
  get unbound(): readonly UnboundAddress[] {
    return this.#unbound;
  }

  get keeper(): Keeper {
    return this.#running.keeper;
  }

  report(): KeeperReport {
    return this.#running.keeper.report();
  }

  controllers(): ControllerState[] {
    return this.#running.controllers.list();
  }

  /** Has a controller pass a change on to an S3 service elsewhere. */
  replicate(order: ReplicationOrder): Promise<ReplicationOutcome> {
    return this.#running.controllers.replicate(order);
  }

  /** Everything answered before is counted afterwards. */
  async flush(): Promise<void> {
    const { controllers, smallBodies } = this.#running;
    await controllers.flush();
    smallBodies.tell();
  }

  async stop(): Promise<void> {
    this.#stopping = true;
    clearTimeout(this.#retry);
    clearInterval(this.#filling);
    this.#reserve.close();
    // The keeper has work with the controllers, they leave small bodies to it, and both need the index.
    await this.#keeper?.rest();
    await this.#controllers?.stop();
    this.#guards.releaseOthers([]);
    this.#smallBodies?.close();
    // A drive that hangs is not waited for: nobody is told any more that something is on it.
    await Promise.race([this.#keeper?.close(), sleep(DRIVES_MS_MAX, undefined, { ref: false })]);
    await this.index.close();
  }

  get #running(): Running {
    const [keeper, smallBodies, controllers, parts] = [this.#keeper, this.#smallBodies, this.#controllers, this.#parts];
    if (!keeper || !smallBodies || !controllers || !parts) throw new Error('The data path has not been started.');
    return { keeper, smallBodies, controllers, parts };
  }

  get #indexFile(): string {
    return join(this.#options.configuration().folder, 'index.db');
  }

  /** Made by an administrator who has no newer index: the drives are taken as they are, once. */
  get #acceptFile(): string {
    return `${this.#indexFile}.accept`;
  }

  #wanted() {
    const { drives, policies } = this.#options.configuration();
    return {
      drives: drives.map(({ uuid, file, node, zone, capacityGb, policy }) => ({
        uuid,
        folder: file,
        node,
        zone,
        capacity: capacityGb * GIGABYTE,
        policy,
      })),
      policies: policies.map(({ name, replicas, dataFragments, parityFragments }) => ({
        name,
        copies: dataFragments > 0 ? 0 : replicas,
        dataFragments,
        parityFragments,
      })),
      defaultPolicy: this.#parts?.defaultPolicy() ?? null,
    };
  }

  #specs(): ControllerSpec[] {
    return controllersOf(this.#options.configuration());
  }

  #world(): WorldSettings {
    const configuration = this.#options.configuration();
    const settings = this.#settings();
    return {
      arrayName: configuration.internalName,
      region: settings.region,
      hosts: hostsOf(configuration, settings),
      virtualHosted: settings.virtualHostedStyle,
      accountNames: settings.tenantNameInUrl,
      adminAccess: settings.adminAccess,
      publicUrl: publicUrls(configuration, settings)[0] ?? '',
      changesPerSecond: settings.rateLimitEnabled ? settings.rateLimit : 0,
      fullPolicies: this.#parts?.fullPolicies() ?? [],
      destinations: this.#parts?.destinations() ?? {},
    };
  }

  async #served() {
    const certificate = this.#settings().sslTermination ? await this.#parts?.certificates.current() : null;
    const wanted = dataAddresses(this.#options.configuration());
    const refused = await this.#guards.acquire(wanted);
    this.#unbound = refused.map(({ address: { host, port }, code }) => ({
      address: host,
      reason: whyUnbound(code, port),
    }));
    const addresses = wanted.filter((one) => !refused.some(({ address }) => address === one));
    if (refused.length > 0) this.#retryLater();
    return { addresses, certificate: certificate ?? null };
  }

  /** A port that another process has may be free later, and an address may come to the machine. */
  #retryLater(): void {
    const { log, onListening } = this.#options;
    const before = JSON.stringify(this.#unbound);
    clearTimeout(this.#retry);
    if (this.#stopping) return;
    this.#retry = setTimeout(() => {
      this.follow()
        .then(() => {
          if (JSON.stringify(this.#unbound) !== before) onListening?.();
        })
        .catch((error: unknown) => log.error({ error }, 'addresses could not be bound again'));
    }, RETRY_MS).unref();
  }

  #settings(): Settings {
    if (!this.#parts) throw new Error('The data path has not been started.');
    return this.#parts.settings();
  }

  #answers(spec: ControllerSpec): Answers<MainCalls> {
    const { directory, onActivity } = this.#running.parts;
    const { keeper, smallBodies } = this.#running;
    const { log } = this.#options;
    return {
      commit: commitAnswer(smallBodies.commit),
      s3Key: (key) => this.#limited(directory.byS3Key(key)),
      token: (token) => this.#limited(directory.byToken(token)),
      signIn: ({ account, username, password, ip }) => directory.signIn(account, username, password, ip),
      account: (idOrName) => {
        const account = directory.account(idOrName);
        return account ? { ...account, limit: this.#limitOf(account.id) } : null;
      },
      setAccountMetadata: async ({ account, changes }) => {
        await directory.setAccountMetadata(account, changes);
        return null;
      },
      nextSegment: (drive) => keeper.nextSegment(drive),
      driveFailed: ({ drive, reason }) => {
        keeper.driveFailed(drive, reason);
        return null;
      },
      damaged: ({ partition }) => {
        keeper.onDamage(partition);
        return null;
      },
      activity: (activity) => {
        onActivity(spec, activity);
        return null;
      },
      log: ({ level, text, facts }) => {
        log[level]({ controller: spec.name, ...facts }, text);
        return null;
      },
    };
  }

  #limited<T extends { readonly caller: Caller }>(
    answer: T | Refused,
  ): (T & { readonly limit: AccountLimit }) | Refused {
    return 'caller' in answer ? { ...answer, limit: this.#limitOf(answer.caller.account) } : answer;
  }

  #limitOf(account: string): AccountLimit {
    const changesPerSecond = this.#running.parts.directory.ownLimit(account);
    return { slot: this.#slots.of(account), changesPerSecond };
  }
}
