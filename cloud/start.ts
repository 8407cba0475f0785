import { join } from 'node:path';
import { runFreeing, type ListenAddress } from '@granary/kernel';
import { adminKeyFrom } from './access/admin-key.ts';
import { machineAddresses } from './addresses/machine.ts';
import { configFileOf } from './config/load.ts';
import { Placement } from './hosted-arrays/placement.ts';
import { HostedArrays } from './hosted-arrays/service.ts';
import { followConfig } from './inventory/stock.ts';
import { HOST_DEFAULT, type CloudOptions, type RunningCloud } from './options.ts';
import manifest from './package.json' with { type: 'json' };
import { serve, type Server } from './server.ts';
import { recordEncryption, recordListening, recordState } from './state-events.ts';
import { defaultCacheFolder, openCache } from './supervision/cache.ts';
import { Supervisor } from './supervision/supervisor.ts';
import { ArrayCertificates } from './tls/array-certificates.ts';
import { openTools, refuseForeignAddresses, type Tools } from './tools.ts';

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
