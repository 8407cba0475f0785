import { join } from 'node:path';
import { objectsApi } from '@granary/contract/objects';
import {
  createApiServer,
  createLog,
  EventLog,
  HostedServer,
  Store,
  systemClock,
  Vault,
  type HostedConfiguration,
  type HostedProgram,
} from '@granary/kernel';
import { authenticator } from './access.ts';
import { migrations } from './migrations.ts';
import manifest from './package.json' with { type: 'json' };
import { createServices } from './services.ts';

/** Brings one object storage array up: its database, its accounts, its management interface. */
export async function startObjects(first: HostedConfiguration): Promise<HostedProgram> {
  let configuration = first;
  const log = createLog('objects', first.logLevel);
  const store = new Store(join(first.folder, 'objects.db'), migrations);
  const tools = {
    store,
    vault: new Vault(Buffer.from(first.vaultKey, 'hex')),
    clock: systemClock,
    events: new EventLog(systemClock),
    configuration: () => configuration,
  };
  const { settings, users, handlers } = createServices(tools);
  await settings.create();
  await users.createOwner(first.owner, first.initialPasscode);
  const app = await createApiServer({
    ...tools,
    api: objectsApi,
    handlers,
    authenticate: authenticator(users, () => configuration.internalKey),
    log,
    version: manifest.version,
    tls: first.tls ?? undefined,
    notReady: () => (store.isDiskFull ? 'the disk is full' : undefined),
  });
  const server = new HostedServer(app, first, log);
  await server.serve(first);
  await tell('The array started.');

  return {
    get bound() {
      return server.bound;
    },
    async change(next) {
      configuration = next;
      await server.serve(next);
      await tell('The array follows a new configuration.');
    },
    async stop() {
      await server.stop();
      await tell('The array stopped.');
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
