import { join } from 'node:path';
import { objectsApi } from '@granary/contract/objects';
import {
  checkedVault,
  createApiServer,
  createLog,
  EventLog,
  HostedServer,
  Jobs,
  runFreeing,
  Store,
  systemClock as clock,
  Vault,
  type HostedConfiguration,
  type HostedProgram,
  type Migrations,
  type ProgramHost,
} from '@granary/kernel';
import { authenticator } from './access.ts';
import { publicUrls } from './data-path/addresses.ts';
import { DataPath, type DataPathOptions } from './data-path/data-path.ts';
import { keeperEvents } from './data-path/events.ts';
import { migrations } from './migrations.ts';
import manifest from './package.json' with { type: 'json' };
import { createServices } from './services.ts';

type StartOptions = Pick<DataPathOptions, 'gathersSmallBodies'>;

/** Brings one object storage array up: its database, its index, its controllers, its management interface. */
export async function startObjects(
  first: HostedConfiguration,
  host: ProgramHost,
  options: StartOptions = {},
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
  const dataPath = new DataPath({
    configuration: () => configuration,
    clock,
    log,
    onListening: () => host.reportListening(),
    ...options,
  });
  const tools = {
    store,
    vault,
    clock,
    events: new EventLog(clock),
    jobs: new Jobs({ store, clock, log }),
    log,
    dataPath,
    changed: dataPath.forget,
    commit: dataPath.commit,
    figures: { usage: (account: string) => dataPath.reader.usage(account) },
    publicUrls: () => publicUrls(configuration, services.settings.current().settings),
    openStore: (name: string, own: Migrations) => new Store(join(first.folder, name), own),
    configuration: () => configuration,
    returnDrive: (uuid: string) => host.returnDrive(uuid),
    returnProxies: (kept: number) => host.returnProxies(kept),
  };
  const services = createServices(tools);
  const { settings, people, certificates, encryption, books, handlers } = services;
  // With the reserve of a full disk: an array that does not start gives no room back.
  await runFreeing(true, async () => {
    await settings.create();
    await people.users.createOwner(first.owner, first.initialPasscode);
  });
  const events = keeperEvents(tools);
  await dataPath.start({
    onStage: (stage) => host.progress(stage),
    settings: () => settings.current().settings,
    certificates,
    encryption: () => encryption.state(),
    directory: people.directory,
    defaultPolicy: () => services.policies.defaultName(),
    fullPolicies: () => services.policies.full,
    destinations: () => services.destinationGrants.byName(),
    onActivity: (controller, activity) => books.take(controller, activity),
    onDriveActivity: (shares) => books.takeDrives(shares),
    onEvent: (event) => events.keeper(event),
    onControllerLost: (controller, reason) => events.controllerLost(controller, reason),
  });
  // On a full disk it waits for the next start: until then nobody new gets at an endpoint, and what was replicated goes on.
  await services.destinationGrants.reconcile().catch((error: unknown) => {
    log.error({ error }, 'remote endpoints could not be granted to the accounts that use them');
  });
  settings.onChange(() => dataPath.follow());
  encryption.onChange((state) => dataPath.setEncryption(state));
  const app = await createApiServer({
    ...tools,
    api: objectsApi,
    handlers,
    authenticate: authenticator(people.signIns, () => configuration),
    credentialsInBody: true,
    onAnswered: (call) => books.onAnswered(call),
    version: manifest.version,
    notReady: () => (store.isDiskFull ? 'the disk is full' : undefined),
  });
  host.progress('serving its management');
  const server = new HostedServer(app, first, { log, onListening: () => host.reportListening() });
  await server.serve(first);
  await tools.jobs.start();
  await runFreeing(true, () => services.noteInventory());
  services.start();
  store.keepCopies({ log });
  await tell('The array started.');

  return {
    get bound() {
      return server.bound;
    },
    get unbound() {
      return [...server.unbound, ...dataPath.unbound];
    },
    async change(next) {
      configuration = next;
      await server.serve(next);
      await dataPath.follow();
      await services.noteInventory();
      await tell('The array follows a new configuration.');
    },
    async stop() {
      await server.stop();
      await services.stop();
      await tools.jobs.stop();
      await dataPath.stop();
      await services.finish();
      await tell('The array stopped.');
      await store.stopCopies();
      store.close();
    },
  };

  /** An event that a full disk does not take is no reason to be down. */
  async function tell(title: string): Promise<void> {
    const { internalName } = configuration;
    log.info({ array: internalName, drives: configuration.drives.length, bound: server.bound }, title);
    try {
      await store.write((tx) => tools.events.record(tx, { title, subject: `array:${internalName}` }));
    } catch (error) {
      log.error({ error, title }, 'an event could not be recorded');
    }
  }
}
