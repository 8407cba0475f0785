import { join } from 'node:path';
import { arrayApi } from '@granary/contract/array';
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
import { Heartbeat } from './controllers/heartbeat.ts';
import { migrations } from './migrations.ts';
import manifest from './package.json' with { type: 'json' };
import { createServices } from './services.ts';

/** Brings one storage array up: its database, its drives, its management interface. */
export async function startArray(first: HostedConfiguration): Promise<HostedProgram> {
  let configuration = first;
  const log = createLog('array', first.logLevel);
  const store = new Store(join(first.folder, 'array.db'), migrations);
  const tools = {
    store,
    vault: new Vault(Buffer.from(first.vaultKey, 'hex')),
    clock: systemClock,
    events: new EventLog(systemClock),
    heartbeat: new Heartbeat(systemClock),
    configuration: () => configuration,
  };
  const { users, drives, controllers, handlers } = createServices(tools);
  await users.createOwner(first.owner, first.initialPasscode);
  await controllers.createChap();
  await drives.follow(first.drives);
  const app = await createApiServer({
    ...tools,
    api: arrayApi,
    handlers,
    authenticate: authenticator(users, () => configuration.internalKey),
    log,
    version: manifest.version,
    tls: first.tls ?? undefined,
    notReady: () => (store.isDiskFull ? 'the disk is full' : undefined),
  });
  const server = new HostedServer(app, first, log);
  await server.serve(first);
  tools.heartbeat.start();
  await tell('The array started.');

  return {
    get bound() {
      return server.bound;
    },
    async change(next) {
      await drives.follow(next.drives);
      configuration = next;
      await server.serve(next);
      await tell('The array follows a new configuration.');
    },
    async stop() {
      await server.stop();
      tools.heartbeat.stop();
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
