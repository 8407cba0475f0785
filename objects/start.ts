import { join } from 'node:path';
import { delegatedKeyApi } from '@granary/contract';
import { objectsApi } from '@granary/contract/objects';
import {
  checkedVault,
  createApiServer,
  createLog,
  EncryptionReports,
  EventLog,
  HostedServer,
  innerApi,
  Jobs,
  portalAuthenticator,
  refuseWhileLockedDown,
  runFreeing,
  servicePlaceText,
  Store,
  systemClock as clock,
  Vault,
  type HostedConfiguration,
  type HostedProgram,
  type Migrations,
  type ProgramHost,
} from '@granary/kernel';
import { authenticator } from './access.ts';
import { delegatedKeyRoutes } from './delegated-keys/routes.ts';
import { recordEngineEvents } from './engine-events/recorder.ts';
import { partOf } from './engine/parts.ts';
import { publicUrls } from './engine/serving/addresses.ts';
import { ENGINES, startEngine } from './engine/start.ts';
import { objectsMeasures } from './metrics/measures.ts';
import { migrations } from './migrations.ts';
import manifest from './package.json' with { type: 'json' };
import { createServices } from './services.ts';

/** Who signs in may look, and encryption comes back after a restart: neither changes the array. */
const ALLOWED_WHILE_LOCKED = [
  objectsApi.groups.users.authenticate,
  objectsApi.groups.settings.restoreEncryption,
  ...Object.values(objectsApi.groups.sessions),
];

/** Brings one object storage array up: its database, its index, its controllers, its management interface. */
export async function startObjects(
  first: HostedConfiguration,
  host: ProgramHost,
  engines = ENGINES,
): Promise<HostedProgram> {
  let configuration = first;
  const log = createLog('objects', first.logLevel);
  host.progress('opening its database');
  const store = new Store(join(first.folder, 'objects.db'), migrations);
  const vault = await checkedVault(
    new Vault(Buffer.from(first.vaultKey, 'hex')),
    store,
    "the cloud's record of the array",
  );
  host.progress('opening its index');
  const running = await startEngine(
    { configuration: () => configuration, clock, log, onListening: () => host.reportListening() },
    engines,
  );
  const { engine } = running;
  const tools = {
    store,
    vault,
    clock,
    events: new EventLog(clock),
    jobs: new Jobs({ store, clock, log }),
    log,
    engine,
    changed: () => engine.forgetCallers(),
    commit: engine.commit,
    figures: engine.catalogue,
    publicUrls: () => publicUrls(configuration, services.settings.current().settings),
    openStore: (name: string, own: Migrations) => new Store(join(first.folder, name), own),
    configuration: () => configuration,
    returnDrive: (uuid: string) => host.returnDrive(uuid),
    returnProxies: (kept: number) => host.returnProxies(kept),
  };
  const services = createServices(tools);
  const { settings, people, certificates, encryption, accounting, handlers } = services;
  for (const open of [services.changes, services.objectData]) {
    people.sessions.onEnded((id) => open.endSession(id));
    people.sessions.onRightsChanged((user, except) => open.endUser(user, except));
  }
  // With the reserve of a full disk: an array that does not start frees no space.
  await runFreeing(true, async () => {
    await settings.create();
    await encryption.create();
    await people.users.createOwner(first.owner, first.initialPasscode);
  });
  await running.serve({
    onStage: (stage) => host.progress(stage),
    settings: () => settings.current().settings,
    certificate: () => certificates.current(),
    encryption: () => encryption.state(),
    directory: people.directory,
    defaultPolicy: () => services.policies.defaultName(),
    fullPolicies: () => services.policies.full,
    destinations: () => services.destinationGrants.byName(),
    onActivity: (controller, activity) => accounting.record(controller, activity),
    onDriveActivity: (shares) => accounting.recordDrives(shares),
    onEvent: recordEngineEvents(tools),
  });
  // On a full disk it waits for the next start: until then no other account gets an endpoint, and replication goes on.
  await services.destinationGrants.reconcile().catch((error: unknown) => {
    log.error({ error }, 'remote endpoints could not be granted to the accounts that use them');
  });
  settings.onChange(() => engine.reconfigure());
  encryption.onChange((state) => partOf(engine, 'encryption').setKeys(state));
  const app = await createApiServer({
    ...tools,
    api: objectsApi,
    handlers,
    authenticate: authenticator(
      people.signIns,
      { sessions: people.sessions, delegated: services.delegatedKeys.keys },
      () => configuration,
    ),
    inner: [
      innerApi(
        delegatedKeyApi,
        delegatedKeyRoutes(services.delegatedKeys),
        portalAuthenticator(() => configuration),
      ),
    ],
    authorise: (actor, endpoint) => {
      refuseWhileLockedDown(configuration, actor, endpoint, ALLOWED_WHILE_LOCKED);
    },
    onReveal: (actor, what) => people.recordLook(actor, what),
    streams: [services.objectData.route],
    credentialsInBody: true,
    changes: services.changes,
    onAnswered: (call) => accounting.onAnswered(call),
    version: manifest.version,
    console: first.consoleFolder,
    notReady: () => (store.isDiskFull ? 'the disk is full' : undefined),
    measures: objectsMeasures(
      { ...tools, ...services, accounts: people.accounts, requestFigures: accounting.requestFigures },
      manifest.version,
    ),
  });
  host.progress('serving its management');
  const server = new HostedServer(app, first, { log, onListening: () => host.reportListening() });
  await server.serve(first);
  await tools.jobs.start();
  await runFreeing(true, () => services.recordInventory());
  services.start();
  const encryptionReports = new EncryptionReports({ store, log, report: (changes) => host.reportEncryption(changes) });
  await encryptionReports.start();
  store.keepCopies({ log });
  await record('The array started.');

  let service = first.publicService;
  return {
    get bound() {
      return service ? [...server.bound, servicePlaceText(service)] : server.bound;
    },
    get unbound() {
      return [...server.unbound, ...running.unbound];
    },
    async change(next) {
      configuration = next;
      await server.serve(next);
      await engine.reconfigure();
      service = next.publicService;
      await services.recordInventory();
      await record('The array follows a new configuration.');
    },
    async stop() {
      services.changes.close();
      await server.stop();
      await services.stop();
      await tools.jobs.stop();
      await running.stop();
      await services.finish();
      await record('The array stopped.');
      await encryptionReports.stop();
      await store.stopCopies();
      store.close();
    },
  };

  /** An event that a full disk does not take is no reason to be down. */
  async function record(title: string): Promise<void> {
    const { internalName } = configuration;
    log.info({ array: internalName, drives: configuration.drives.length, bound: server.bound }, title);
    try {
      await store.write((tx) => tools.events.record(tx, { title, subject: `array:${internalName}` }));
    } catch (error) {
      log.error({ error, title }, 'an event could not be recorded');
    }
  }
}
