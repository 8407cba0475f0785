import { existsSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { portalApi } from '@granary/contract/portal';
import {
  createApiServer,
  EventLog,
  Jobs,
  KeyError,
  openVault,
  runFreeing,
  Store,
  systemClock,
  type Clock,
  type Issuer,
  type Log,
  type TlsSource,
  type Vault,
} from '@granary/kernel';
import type { PortalActor } from './actor.ts';
import { ensureAdmin, ensureLocalCloud } from './first-start.ts';
import { portalMeasures } from './metrics/measures.ts';
import { migrations } from './migrations.ts';
import { createServices, type Services } from './services.ts';
import { CloudConnections } from './tls/cloud-connections.ts';
import { PortalPlace } from './tls/place.ts';
import type { Tools } from './tools.ts';
import { anySealedToken } from './users/repository.ts';

export { servedOperations } from './served.ts';

export interface PortalOptions {
  /** The portal's own folder: its database, its keys. */
  readonly dataDir: string;
  readonly host: string;
  readonly port: number;
  /** How other machines reach it, where that is not `host`. */
  readonly publicHost?: string | undefined;
  readonly version: string;
  readonly log: Log;
  readonly clock?: Clock;
  /** The folder of the built web console. */
  readonly consoleFolder?: string | undefined;
  readonly adminPassword?: string | undefined;
  /** What it serves with; absent: in the clear. */
  readonly tls?: TlsSource | undefined;
  /** The installation's certificate authority: what the portal signs clouds with, and itself where it connects. */
  readonly authority?: Issuer | undefined;
  /** Clouds on other machines may be reached in the clear. */
  readonly isInsecure?: boolean | undefined;
  /** A cloud that starts and stops with the portal. */
  readonly localCloud?: LocalCloud | undefined;
}

export interface LocalCloud {
  readonly address: string;
  readonly adminUser: string;
  readonly adminKey: string;
  /** The certificate it is known by; null: it serves in the clear. */
  readonly trusted?: string | null;
}

export type App = Awaited<ReturnType<typeof createApiServer>>;

export interface RunningPortal {
  readonly url: string;
  readonly app: App;
  /** What it is made of, for those who look inside: tests hold its records against its answers. */
  readonly tools: Tools;
  readonly services: Services;
  /** Made up at the first start, to be shown once. */
  readonly adminPassword: string | undefined;
  readonly adminPasswordFile: string | undefined;
  stop(): Promise<void>;
}

/** Rejects when the key of the portal does not fit its database, before anything else is started. */
export async function checkPortalKey(dataDir: string): Promise<void> {
  const file = join(dataDir, 'portal.db');
  if (!existsSync(file)) return;
  try {
    const store = new Store(file, migrations);
    try {
      await vaultOf(store, dataDir);
    } finally {
      store.close();
    }
  } catch (error) {
    if (error instanceof KeyError) throw error;
  }
}

function vaultOf(store: Store, dataDir: string): Promise<Vault> {
  const keyFile = join(dataDir, 'master.key');
  return openVault({ store, keyFile, sealedSample: () => store.read(anySealedToken) });
}

export async function startPortal(options: PortalOptions): Promise<RunningPortal> {
  const { dataDir, log, clock = systemClock } = options;
  const store = new Store(join(dataDir, 'portal.db'), migrations);
  const vault = await vaultOf(store, dataDir);
  const jobs = new Jobs({ store, clock, log });
  const connections = new CloudConnections({ authority: options.authority, clock, isInsecure: options.isInsecure });
  const place = new PortalPlace();
  const tools: Tools = { store, vault, clock, log, jobs, events: new EventLog(clock), connections, place };
  const services = createServices(tools);
  let ready = false;
  const app = await createApiServer<typeof portalApi, PortalActor>({
    api: portalApi,
    handlers: services.handlers,
    authenticate: (source) => services.signIn.authenticate(source),
    onReveal: ({ id: subject, username }, what) => services.sessions.recordLook({ username, subject }, what),
    store,
    vault,
    clock,
    log,
    version: options.version,
    console: options.consoleFolder,
    notReady: () => (store.isDiskFull ? 'the disk is full' : ready ? undefined : 'the portal is starting'),
    tls: options.tls,
    changes: services.changes,
    streams: [services.passage.route],
    measures: portalMeasures(tools, options.version),
  });
  const admin = await ensureAdmin(services, join(dataDir, 'admin-password'), options.adminPassword);
  if (options.localCloud) {
    const { address, adminUser, adminKey, trusted = null } = options.localCloud;
    const place = { ip: address, admin_user: adminUser, admin_key: adminKey, trusted };
    // On a full disk, too: without its cloud nothing can be deleted.
    await runFreeing(true, () => ensureLocalCloud(services, place));
  }
  const listening = await app.listen({ host: options.host, port: options.port });
  const url = options.tls ? listening.replace(/^http:/, 'https:') : listening;
  const { port } = app.server.address() as AddressInfo;
  place.serve({ host: options.publicHost ?? options.host, port, tls: options.tls });
  await services.clouds.claimAll();
  await jobs.start();
  services.renewals.start();
  services.watcher.start();
  await services.deletions.purgeDue();
  services.deletions.start();
  services.signUps.start();
  services.webhooks.deliveries.start();
  services.mailer.start();
  services.sessions.start();
  ready = true;
  store.keepCopies({ log });
  log.info({ url }, 'the portal is ready');
  return {
    url,
    app,
    tools,
    services,
    adminPassword: admin.password,
    adminPasswordFile: admin.passwordFile,
    async stop() {
      ready = false;
      await app.close();
      services.sessions.stop();
      await services.watcher.stop();
      await services.renewals.stop();
      await services.deletions.stop();
      await services.signUps.stop();
      await services.webhooks.deliveries.stop();
      await services.mailer.stop();
      await jobs.stop();
      connections.stop();
      await store.stopCopies();
      store.close();
    },
  };
}
