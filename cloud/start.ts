import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { cloudApi } from '@granary/contract/cloud';
import {
  createApiServer,
  EventLog,
  fail,
  GranaryError,
  Listeners,
  Locks,
  namesOfListener,
  RenewedCertificate,
  runFreeing,
  recordHome,
  systemClock,
  type Clock,
  type EncryptionChange,
  type HostedConfiguration,
  type Issuer,
  type Listening,
  type ListenAddress,
  type Log,
  type Store,
  type Tx,
  type UnboundAddress,
  type Vault,
} from '@granary/kernel';
import { adminKeyFrom } from './access/admin-key.ts';
import { authenticator, type CloudActor } from './access/authenticate.ts';
import { AddressAllocator } from './addresses/allocator.ts';
import { machineAddresses, rangeOfAddress } from './addresses/machine.ts';
import { ConfigError, configFileOf, loadConfig } from './config/load.ts';
import { isIpv4Range, overlapOfPublic } from './config/rules.ts';
import type { Config } from './config/schema.ts';
import { Placement } from './hosted-arrays/placement.ts';
import { listArrays, markServed, setEncryption } from './hosted-arrays/repository.ts';
import { hostedArrayRoutes } from './hosted-arrays/routes.ts';
import { PLACEMENT_LOCK, HostedArrays } from './hosted-arrays/service.ts';
import { checkInventory } from './inventory/check.ts';
import { DriveFiles } from './inventory/drive-files.ts';
import { inventoryRoutes } from './inventory/routes.ts';
import { CloudInventory } from './inventory/service.ts';
import { followConfig } from './inventory/stock.ts';
import { openCloudVault } from './hosted-arrays/vault.ts';
import { Ownership } from './ownership/ownership.ts';
import { recoverStore, type Recovered } from './recovery/recover.ts';
import manifest from './package.json' with { type: 'json' };
import { defaultCacheFolder, openCache } from './supervision/cache.ts';
import type { SupervisionLimits } from './supervision/limits.ts';
import type { StateChange } from './supervision/supervised-array.ts';
import { Supervisor, type ArrayCounts, type Programs } from './supervision/supervisor.ts';
import { ArrayCertificates } from './tls/array-certificates.ts';

export interface CloudOptions {
  readonly dataDir: string;
  /** Taken instead of `<dataDir>/granary.config.json`; must exist. */
  readonly configFile?: string | undefined;
  readonly host?: string;
  /** 0 lets the system choose. */
  readonly port: number;
  readonly adminUser: string;
  /** Made at the first start and kept in the data directory when not given. */
  readonly adminKey?: string | undefined;
  /** The main file of each kind of array process. */
  readonly programs: Programs;
  readonly log: Log;
  readonly clock?: Clock;
  /** What the machine's own network interfaces have; asked of the system unless given. */
  readonly machineAddresses?: () => readonly string[];
  /** Range of the arrays' addresses, in place of the config's. */
  readonly addresses?: string | undefined;
  /** Absent: it serves in the clear, and so do its arrays. */
  readonly tls?: CloudTls | undefined;
  /** Where compiled code of the array programs is kept: outside the data, because it need not be backed up. */
  readonly cacheFolder?: string | undefined;
  /** The built web console that its arrays serve at their management address. */
  readonly consoleFolder?: string | undefined;
  readonly supervision?: Partial<SupervisionLimits>;
}

export interface CloudTls {
  /** Signs the certificates of the cloud and its arrays. */
  readonly issuer: Issuer;
  /** Where it is known, only a portal with a certificate of this authority is answered. */
  readonly portalAuthority?: string | undefined;
  /** Names it is reached by beside its address. */
  readonly names?: readonly string[];
  /** Keeps a new certificate of the issuer that the portal sends; absent: it takes none. */
  readonly accept?: (chain: string) => Issuer;
}

export interface RunningCloud {
  readonly address: ListenAddress;
  readonly url: string;
  readonly adminUser: string;
  readonly adminKey: string;
  /** What an operator must know: a damaged database, a copied folder, arrays that were found again. */
  readonly notices: readonly string[];
  /** A consistent copy of the cloud's database. */
  copyTo(target: string): Promise<void>;
  /** How many of its arrays are up, and how many are on their way. */
  arrayCounts(): ArrayCounts;
  /** The issuer was signed anew: the cloud and its arrays show certificates of it from now on. */
  useIssuer(issuer: Issuer): Promise<void>;
  /** Replaces certificates that end soon: its own and those of its arrays. Done every hour. */
  renewCertificates(): Promise<void>;
  stop(): Promise<void>;
}

const HOST_DEFAULT = '127.0.0.1';
const RENEWAL_EVERY_MS = 3600_000;

/** Starts a cloud: resolves when its interface answers, while the arrays it hosts are coming up. */
export async function startCloud(options: CloudOptions): Promise<RunningCloud> {
  const tools = await openTools(options);
  const { store, folder, recovered } = tools;
  const { arrays, placement } = buildArrays(tools);
  let server: Server | undefined;
  try {
    await refuseForeignAddresses(tools);
    await runFreeing(true, () => followConfig(store, tools.events, tools.config, configFileOf(options)));
    const repaired = recovered.damage ? new Map<string, string>() : await runFreeing(true, () => placement.repair());
    const problems = recovered.heldBack(repaired);
    const adminKey = adminKeyFrom(join(folder, 'admin.key'), options.adminKey);
    server = await serve(tools, arrays, adminKey);
    await arrays.startAll(problems);
    if (!recovered.damage) store.keepCopies({ log: options.log });
    return running(tools, arrays, server, adminKey);
  } catch (error) {
    await server?.listeners.closeAll();
    await arrays.stop();
    store.close();
    throw error;
  }
}

function running(tools: Tools, arrays: HostedArrays, server: Server, adminKey: string): RunningCloud {
  const { log, adminUser, dataDir, tls } = tools.options;
  const address = server.listeners.addresses[0] as ListenAddress;
  const renewCertificates = async () => {
    server.certificate?.renewIfDue();
    await arrays.renewCertificates();
  };
  const renewal = setInterval(() => void renewCertificates(), RENEWAL_EVERY_MS).unref();
  const url = `${tls ? 'https' : 'http'}://${address.host}:${address.port}`;
  log.info({ url, dataDir }, 'the cloud is up');
  return {
    address,
    url,
    adminUser,
    adminKey,
    notices: tools.recovered.notices,
    copyTo: (target) => tools.store.copyTo(target),
    arrayCounts: () => arrays.counts(),
    useIssuer: server.useIssuer,
    renewCertificates,
    async stop() {
      await server.listeners.closeAll();
      await server.app.close();
      server.certificate?.stop();
      clearInterval(renewal);
      await arrays.stop();
      await tools.store.stopCopies();
      tools.store.close();
      log.info({ url }, 'the cloud has stopped');
    },
  };
}

interface Tools {
  readonly options: CloudOptions;
  readonly config: Config;
  readonly folder: string;
  readonly store: Store;
  readonly clock: Clock;
  readonly events: EventLog;
  readonly vault: Vault;
  readonly files: DriveFiles;
  readonly locks: Locks;
  readonly addresses: AddressAllocator;
  readonly recovered: Recovered;
}

async function openTools(options: CloudOptions): Promise<Tools> {
  const { dataDir, clock = systemClock } = options;
  const config = loadConfig(options);
  const addresses = new AddressAllocator({ network: config.network, arrays: checkedRange(config, options.addresses) });
  const folder = join(dataDir, 'cloud');
  mkdirSync(join(folder, 'arrays'), { recursive: true, mode: 0o700 });
  const events = new EventLog(clock);
  const files = new DriveFiles(join(folder, 'nodes'));
  const recovered = await recoverStore({ folder, events, files, log: options.log });
  const { store } = recovered;
  return {
    options,
    config,
    folder,
    store,
    clock,
    events,
    vault: await openCloudVault(store, folder),
    files,
    recovered,
    locks: new Locks(),
    addresses,
  };
}

function buildArrays(tools: Tools): { arrays: HostedArrays; placement: Placement } {
  const { options, config, folder, store, clock, events, vault, files, locks, addresses } = tools;
  const { log, programs, tls, host = HOST_DEFAULT } = options;
  const placement = new Placement({
    store,
    vault,
    clock,
    events,
    log,
    config,
    addresses,
    host,
    machineAddresses: options.machineAddresses ?? machineAddresses,
    files,
    folder: join(folder, 'arrays'),
    records: tools.recovered.records,
    keepsFreeFiles: tools.recovered.isRestored,
  });
  const supervisor = new Supervisor({
    programs,
    cacheFolder: openCache(options.cacheFolder ?? defaultCacheFolder(), manifest.version),
    consoleFolder: options.consoleFolder,
    log,
    limits: options.supervision,
    onChange: (configuration, change) => recordState(tools, configuration, change),
    onReturn: (array, what) => {
      const { damage } = tools.recovered;
      return damage ? Promise.resolve(damage.message) : arrays.reclaim(array, what);
    },
    onListening: (configuration, now, before) => recordListening(tools, configuration, now, before),
    onEncryption: (array, changes) => recordEncryption(tools, array, changes),
  });
  const sources = {
    config,
    vault,
    files,
    certificates: tls && new ArrayCertificates({ clock, portalAuthority: tls.portalAuthority, issuer: tls.issuer }),
    logLevel: log.level === 'debug' ? ('debug' as const) : ('info' as const),
  };
  const arrays: HostedArrays = new HostedArrays({ store, clock, events, log, locks, placement, supervisor, sources });
  return { arrays, placement };
}

function checkedRange({ network }: Config, range: string | undefined): string | undefined {
  if (range === undefined) return undefined;
  if (!isIpv4Range(range))
    throw new ConfigError('--addresses', [`${range} is not an IPv4 range such as 127.64.0.0/16`]);
  const problems = overlapOfPublic(network, '--addresses', range);
  if (problems.length > 0) throw new ConfigError('--addresses', problems);
  return range;
}

/** Reported at the start: else the first order of an array would fail with it. */
async function refuseForeignAddresses({ addresses, options, config }: Tools): Promise<void> {
  if (await addresses.isCarried()) return;
  const problem = 'this machine carries no address of it; choose a range it carries, or give it one of the addresses';
  if (options.addresses !== undefined) throw new ConfigError('--addresses', [`${options.addresses}: ${problem}`]);
  throw new ConfigError(configFileOf(options), [`network.arrays: ${config.network.arrays}: ${problem}`]);
}

interface Server {
  readonly app: Awaited<ReturnType<typeof createApiServer>>;
  readonly listeners: Listeners;
  readonly certificate: RenewedCertificate | undefined;
  readonly useIssuer: (issuer: Issuer) => Promise<void>;
}

async function serve(tools: Tools, arrays: HostedArrays, adminKey: string): Promise<Server> {
  const { options, config, store, clock, vault, files, locks, folder } = tools;
  const { log, tls, host = HOST_DEFAULT, port, adminUser } = options;
  const checked = { store, config, files, arraysFolder: join(folder, 'arrays'), arrays: () => bookedArrays(store) };
  const inventory = new CloudInventory({
    store,
    config,
    uuid: tools.recovered.uuid,
    version: manifest.version,
    check: () => locks.run(PLACEMENT_LOCK, () => checkInventory(checked)),
    reservedRanges: () => [
      ...tools.addresses.ranges,
      ...(options.machineAddresses ?? machineAddresses)().map(rangeOfAddress),
    ],
  });
  const { damage, copyOf } = tools.recovered;
  const ownership = new Ownership({
    store,
    clock,
    copyOf,
    async onAdopted() {
      await recordHome(store);
      await arrays.startAll(new Map());
    },
  });
  const certificate = tls && cloudCertificate(tls, host, clock);
  const useIssuer = async (issuer: Issuer) => {
    certificate?.useIssuer(issuer);
    await arrays.useIssuer(issuer);
  };
  const app = await createApiServer<typeof cloudApi, CloudActor>({
    api: cloudApi,
    handlers: {
      inventory: inventoryRoutes(inventory),
      hostedArrays: hostedArrayRoutes(arrays, (actor) => {
        if (damage) throw new GranaryError('metadata_damaged', damage.message);
        ownership.require(actor.claim);
      }),
      portal: {
        claim: async (request) => ({ data: await ownership.claim(request) }),
        renewCertificate: ({ certificate: chain }, { actor }) => {
          ownership.require(actor.claim);
          // Not waited for: arrays take theirs one after the other.
          useIssuer(acceptedIssuer(tls, chain)).catch((error: unknown) =>
            log.error({ error }, 'certificates could not be renewed'),
          );
          return {};
        },
      },
    },
    authenticate: authenticator({ user: adminUser, key: adminKey }, clock, tls?.portalAuthority),
    store,
    vault,
    clock,
    log,
    version: manifest.version,
    notReady: () => (store.isDiskFull ? 'the disk is full' : undefined),
  });
  const listeners = new Listeners({ app, tls: certificate?.source, log });
  await listeners.open({ host, port });
  return { app, listeners, certificate, useIssuer };
}

function acceptedIssuer(tls: CloudTls | undefined, chain: string): Issuer {
  if (!tls?.accept) throw fail('cloud_not_joined');
  try {
    return tls.accept(chain);
  } catch (error) {
    throw new GranaryError('not_supported', (error as Error).message);
  }
}

function cloudCertificate(
  { issuer, portalAuthority, names }: CloudTls,
  host: string,
  clock: Clock,
): RenewedCertificate {
  return new RenewedCertificate({
    issuer,
    clock,
    role: 'cloud',
    id: issuer.id,
    hosts: namesOfListener(host, names),
    use: 'server',
    clientAuthority: portalAuthority,
  });
}

function bookedArrays(store: Store) {
  return store.read(listArrays).map(({ spec, ...array }) => ({ ...array, drives: spec.drives }));
}

/** Every change of state is an event and a line in the log. */
function recordState(tools: Tools, configuration: HostedConfiguration, change: StateChange): void {
  const { internalName: array, uuid } = configuration;
  const { state, reason } = change;
  tools.options.log.info({ array, uuid, state, reason }, 'an array changed state');
  const because = reason === undefined ? '' : `: ${reason}`;
  const severity = state === 'failed' ? 'error' : reason === undefined ? 'info' : 'warning';
  recordEvent(tools, configuration, severity, `Array ${array} is ${state}${because}`, (tx) => {
    if (state === 'running') markServed(tx, uuid);
  });
}

/** An address that cannot be bound is an event, and so is its end. */
function recordListening(tools: Tools, configuration: HostedConfiguration, now: Listening, before: Listening): void {
  const { internalName } = configuration;
  const isNew = (one: UnboundAddress) =>
    !before.unbound.some(({ address, reason }) => address === one.address && reason === one.reason);
  for (const { address, reason } of now.unbound.filter(isNew))
    recordEvent(tools, configuration, 'warning', `Array ${internalName} does not listen on ${address}: ${reason}`);
  for (const { address } of before.unbound.filter((one) => now.bound.includes(one.address)))
    recordEvent(tools, configuration, 'notice', `Array ${internalName} listens on ${address} now.`);
}

/** For the time when its process is down. Should this fail, the process reports it again at its next start. */
function recordEncryption({ store, options }: Tools, array: string, changes: readonly EncryptionChange[]): void {
  store
    .write((tx) => setEncryption(tx, array, changes))
    .catch((error: unknown) => options.log.error({ error, array }, 'the encryption of an array could not be recorded'));
}

function recordEvent(
  { store, events, options }: Tools,
  { internalName: array, uuid }: HostedConfiguration,
  severity: 'info' | 'notice' | 'warning' | 'error',
  title: string,
  along: (tx: Tx) => void = () => undefined,
): void {
  store
    .write((tx) => {
      along(tx);
      events.record(tx, { severity, title, subject: `array:${uuid}` });
    })
    .catch((error: unknown) => options.log.error({ error, array }, 'an event could not be recorded'));
}
