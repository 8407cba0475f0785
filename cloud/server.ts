import { join } from 'node:path';
import { cloudApi } from '@granary/contract/cloud';
import {
  createApiServer,
  fail,
  GranaryError,
  Listeners,
  namesOfListener,
  recordHome,
  RenewedCertificate,
  type Clock,
  type Issuer,
  type Store,
} from '@granary/kernel';
import { authenticator, type CloudActor } from './access/authenticate.ts';
import { machineAddresses, rangeOfAddress } from './addresses/machine.ts';
import { listArrays } from './hosted-arrays/repository.ts';
import { hostedArrayRoutes } from './hosted-arrays/routes.ts';
import { PLACEMENT_LOCK, type HostedArrays } from './hosted-arrays/service.ts';
import { checkInventory } from './inventory/check.ts';
import { inventoryRoutes } from './inventory/routes.ts';
import { CloudInventory } from './inventory/service.ts';
import { HOST_DEFAULT, type CloudTls } from './options.ts';
import { Ownership } from './ownership/ownership.ts';
import manifest from './package.json' with { type: 'json' };
import type { Tools } from './tools.ts';

export interface Server {
  readonly app: Awaited<ReturnType<typeof createApiServer>>;
  readonly listeners: Listeners;
  readonly certificate: RenewedCertificate | undefined;
  readonly useIssuer: (issuer: Issuer) => Promise<void>;
}

/** The interface that the portal calls. */
export async function serve(tools: Tools, arrays: HostedArrays, adminKey: string): Promise<Server> {
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
