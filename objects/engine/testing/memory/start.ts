import type { DataContext } from '@granary/protocols/objects';
import type { PolicyLayout } from '@granary/storage/object-store';
import type { ObjectEngine } from '../../engine.ts';
import type { EngineManagement } from '../../management.ts';
import { moveBytes } from '../../transitions/mover.ts';
import { ObjectReplicationSender } from '../../replication/sender.ts';
import { DataPorts } from '../../serving/data-ports.ts';
import { DataServer } from '../../serving/data-server.ts';
import { protocolHandler } from '../../serving/protocol-handler.ts';
import { createLimits, LimitSlots, countChange } from '../../serving/rate-limits.ts';
import { servedSettings } from '../../serving/served-settings.ts';
import type { EngineSetup, RunningEngine } from '../../running-engine.ts';
import { MemoryObjectStore } from './memory-store.ts';

/** What the metering and the access log call the thread that serves. */
const NAME = 'memory';
const CAPACITY_BYTES = 2 ** 30;

/** An engine without drives, controllers or encryption, in the thread of the array: what a second engine has to be. */
export function startMemoryEngine(setup: EngineSetup): RunningEngine {
  const { configuration, clock } = setup;
  let management: EngineManagement | undefined;
  const policies = (): PolicyLayout[] =>
    configuration().policies.map(({ name, replicas, dataFragments, parityFragments }, index) => ({
      index,
      name,
      copies: replicas,
      dataFragments,
      parityFragments,
    }));
  const defaultPolicy = (): number | null => {
    const wanted = management?.defaultPolicy() ?? null;
    return (policies().find(({ name }) => name === wanted) ?? policies()[0])?.index ?? null;
  };
  const store = new MemoryObjectStore({
    policies,
    defaultPolicy,
    fullPolicies: () => management?.fullPolicies() ?? [],
  });
  const sender = new ObjectReplicationSender({ store, reader: store });
  const ports = new DataPorts({ ...setup, retry: () => engine.reconfigure() });
  let server: DataServer | undefined;
  const engine: ObjectEngine = {
    kind: 'memory',
    catalogue: store,
    commit: store.commit,
    report: () => ({
      at: clock.now(),
      policies: policies().map((policy) => ({
        policy,
        isUsable: true,
        health: 'normal',
        usedBytes: store.bytesOf(policy.index),
        capacity: CAPACITY_BYTES,
      })),
      defaultPolicy: defaultPolicy(),
    }),
    // Callers and settings are asked for at every request.
    forgetCallers: () => undefined,
    applySettings: () => Promise.resolve(),
    async reconfigure() {
      const { settings, certificate } = existing(management);
      const addresses = await ports.acquire();
      await server?.serve(addresses, settings().sslTermination ? await certificate() : null);
      ports.releaseOthers(addresses);
    },
    flush: () => Promise.resolve(),
    replicate: (order) => sender.send(order),
    move: (order) => moveBytes({ store, reader: store, now: () => clock.now() }, order),
  };
  return {
    engine,
    get unbound() {
      return ports.unbound;
    },
    async serve(given) {
      management = given;
      server = new DataServer(protocolHandler(contextOf(setup, given, store)));
      await engine.reconfigure();
    },
    async stop() {
      ports.stop();
      sender.stop();
      await server?.close();
      ports.releaseOthers([]);
    },
  };
}

function contextOf(
  { configuration, clock, log }: EngineSetup,
  management: EngineManagement,
  store: MemoryObjectStore,
): DataContext {
  const { directory, onActivity } = management;
  const settings = () => servedSettings(configuration(), management);
  const limits = new BigInt64Array(createLimits());
  const slots = new LimitSlots();
  return {
    store,
    directory,
    settings,
    now: () => clock.now(),
    mayChange: (account) => {
      const perSecond = directory.ownLimit(account) ?? settings().changesPerSecond;
      return perSecond === 0 || countChange(limits, slots.of(account), perSecond, clock.now());
    },
    done: (request) => onActivity(NAME, { requests: [request], drives: [] }),
    onError: (error, request) => log.error({ error, request }, 'a data request failed'),
  };
}

function existing<T>(given: T | undefined): T {
  if (given === undefined) throw new Error('The engine does not serve yet.');
  return given;
}
