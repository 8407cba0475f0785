import { join } from 'node:path';
import { delegatedKeyApi, summaryApi } from '@granary/contract';
import { arrayApi, peerApi } from '@granary/contract/array';
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
  Store,
  systemClock,
  Vault,
  type HostedConfiguration,
  type HostedProgram,
  type ProgramHost,
} from '@granary/kernel';
import { authenticator } from './access.ts';
import { delegatedKeyRoutes } from './delegated-keys/routes.ts';
import { Heartbeat } from './controllers/heartbeat.ts';
import { EngineEvents } from './engine-events/engine-events.ts';
import { ENGINES, startEngine } from './engine/start.ts';
import type { RecallService } from './file-lifecycle/archive/recalls.ts';
import { reconcile, startWatching, stopWatching } from './lifecycle.ts';
import { migrations } from './migrations.ts';
import { arrayMeasures } from './metrics/measures.ts';
import manifest from './package.json' with { type: 'json' };
import { refuseNotOrdered } from './offers.ts';
import { Readings } from './readings/readings.ts';
import { createServices } from './services.ts';
import { summaryRoutes } from './summaries/routes.ts';
import { messageWithNames, withNames } from './with-names.ts';

/** Shreds, scrubs, rebuilds and migrations take hours; they must not keep short work waiting. */
const JOBS_MAX = 128;

/** Who signs in may look, and encrypted volumes come back after a restart: neither changes the array. */
const ALLOWED_WHILE_LOCKED = [
  arrayApi.groups.users.login,
  arrayApi.groups.settings.restoreEncryption,
  ...Object.values(arrayApi.groups.sessions),
];

/** An array that no cloud runs keeps its drives. */
const noHost: ProgramHost = {
  returnDrive: () => Promise.reject(new Error('No cloud runs this array.')),
  returnProxies: () => Promise.reject(new Error('No cloud runs this array.')),
  reportListening: () => undefined,
  reportEncryption: () => Promise.resolve(),
  progress: () => undefined,
};

/** Brings one storage array up: its database, its engine, its management interface. */
export async function startArray(
  first: HostedConfiguration,
  host: ProgramHost = noHost,
  engines = ENGINES,
): Promise<HostedProgram> {
  let configuration = first;
  const log = createLog('array', first.logLevel);
  const clock = systemClock;
  host.progress('opening its database');
  const store = new Store(join(first.folder, 'array.db'), migrations);
  const vault = await checkedVault(
    new Vault(Buffer.from(first.vaultKey, 'hex')),
    store,
    "the cloud's record of the array",
  );
  const events = new EventLog(clock, withNames);
  const engineEvents = new EngineEvents({ store, clock, events, log });
  let recalls: RecallService | undefined = undefined as RecallService | undefined;
  host.progress('starting its controllers');
  const running = await startEngine(
    {
      configuration,
      log,
      onEvent: (event) => {
        if (event.type === 'recall-wanted' || event.type === 'contents-wanted') recalls?.request(event);
        else engineEvents.accept(event);
      },
      onStage: (stage) => host.progress(stage),
    },
    engines,
  );
  const { engine } = running;
  const readings = new Readings(engine, log);
  const tools = {
    store,
    vault,
    clock,
    events,
    jobs: new Jobs({ store, clock, log, parallelMax: JOBS_MAX }),
    log,
    engine,
    readings,
    heartbeat: new Heartbeat(clock),
    configuration: () => configuration,
    returnDrive: (uuid: string) => host.returnDrive(uuid),
  };
  const services = createServices(tools);
  recalls = services.fileLifecycle.recalls;
  const { users, drives, controllers, handlers } = services;
  host.progress('bringing its records in line');
  // With the reserve of a full disk: an array that does not start gives no room back.
  await runFreeing(true, async () => {
    await users.createOwner(first.owner, first.initialPasscode);
    await controllers.chap.create();
    await drives.follow(first.drives);
    await readings.refresh();
    await reconcile(services, (stage) => host.progress(stage));
  });
  // Not before: a server that comes back must find its disks, or it gives up.
  host.progress('serving its volumes');
  await running.serve();
  const app = await createApiServer({
    ...tools,
    api: arrayApi,
    handlers,
    authenticate: authenticator(
      users,
      { sessions: services.sessions, delegated: services.delegatedKeys.keys },
      () => configuration,
    ),
    authorise: (actor, endpoint, input) => {
      refuseWhileLockedDown(configuration, actor, endpoint, ALLOWED_WHILE_LOCKED);
      refuseNotOrdered(configuration, endpoint, input);
      services.creators.authorise(actor, endpoint.access, input);
    },
    onReveal: ({ username }, what) => services.sessions.recordLook({ username, subject: `user:${username}` }, what),
    messageOf: (error) => store.read((db) => messageWithNames(db, error)),
    credentialsInBody: true,
    changes: services.changes,
    inner: [
      innerApi(peerApi, services.peerHandlers, (source) => services.peers.authenticate(source)),
      innerApi(
        delegatedKeyApi,
        delegatedKeyRoutes(services.delegatedKeys),
        portalAuthenticator(() => configuration),
      ),
      innerApi(
        summaryApi,
        summaryRoutes(services.summaries),
        portalAuthenticator(() => configuration),
      ),
    ],
    version: manifest.version,
    console: first.consoleFolder,
    notReady: () => (store.isDiskFull ? 'the disk is full' : undefined),
    measures: arrayMeasures({ ...tools, ...services }, manifest.version),
  });
  host.progress('serving its management');
  const server = new HostedServer(app, first, { log, onListening: () => host.reportListening() });
  await server.serve(first);
  tools.heartbeat.start();
  await readings.start();
  await tools.jobs.start();
  startWatching(services);
  const encryptionReports = new EncryptionReports({ store, log, report: (changes) => host.reportEncryption(changes) });
  await encryptionReports.start();
  store.keepCopies({ log });
  await recordEvent('The array started.');

  return {
    get bound() {
      return server.bound;
    },
    get unbound() {
      return server.unbound;
    },
    async change(next) {
      await running.follow(next);
      configuration = next;
      await drives.follow(next.drives);
      await services.pools.followConfiguration();
      await server.serve(next);
      await recordEvent('The array follows a new configuration.');
    },
    async stop() {
      services.changes.close();
      await server.stop();
      tools.heartbeat.stop();
      await stopWatching(services);
      await readings.stop();
      await tools.jobs.stop();
      await running.stop();
      await engineEvents.whenRecorded();
      await recordEvent('The array stopped.');
      await encryptionReports.stop();
      await store.stopCopies();
      store.close();
    },
  };

  /** An event that a full disk does not take is no reason to be down. */
  async function recordEvent(title: string): Promise<void> {
    const { internalName } = configuration;
    log.info({ array: internalName, drives: configuration.drives.length, bound: server.bound }, title);
    try {
      await store.write((tx) => events.record(tx, { title, subject: `array:${internalName}` }));
    } catch (error) {
      log.error({ error, title }, 'an event could not be recorded');
    }
  }
}
