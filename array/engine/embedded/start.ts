import type { HostedConfiguration } from '@granary/kernel';
import { EXTENT_BYTES } from '@granary/storage/units';
import type { CheckedConfiguration, EngineCheck } from '../check.ts';
import { ControllerPair } from '../controllers/controller-pair.ts';
import type { StartThread } from '../controllers/controller-thread.ts';
import type { ControllerConfiguration, LogLine } from '../controllers/protocol.ts';
import { remoteEngine } from '../controllers/remote-engine.ts';
import { ReplayLog } from '../controllers/replay-log.ts';
import { Unflushed } from '../controllers/unflushed.ts';
import type { EngineSetup, RunningEngine } from '../running-engine.ts';

const MODULE = new URL('./open-engine.ts', import.meta.url).href;

interface EmbeddedOptions {
  /** Exports `openEngine`; tests put another in its place. */
  readonly engineModule?: string;
  /** How a controller's thread is started; tests may run controllers in their own thread. */
  readonly startThread?: StartThread;
}

/** The embedded engine in the threads of two controllers: one is active, the other takes over. */
export async function startEmbeddedEngine(setup: EngineSetup, options: EmbeddedOptions = {}): Promise<RunningEngine> {
  const { configuration, log, onEvent, onStage = () => undefined } = setup;
  const { engineModule = MODULE, startThread } = options;
  const replayLog = new ReplayLog();
  const unflushed = new Unflushed();
  const pair = new ControllerPair({
    configuration: forControllers(configuration),
    engineModule,
    startThread,
    stateToReplay: () => replayLog.calls(),
    onCrash: () => unflushed.controllerDied(),
    onEvent,
    onStage,
    onLog: ({ level, text, facts }: LogLine) => log[level](facts ?? {}, text),
  });
  await pair.start();
  const description = { kind: 'embedded', allocationBytes: EXTENT_BYTES };
  return {
    engine: remoteEngine({ description, pair, replayLog, unflushed }),
    serve: () => pair.serve(),
    follow: (next) => pair.follow(forControllers(next)),
    stop: () => pair.stop(),
  };
}

/** What controllers load in their threads. */
export async function prepareEmbeddedEngine(): Promise<void> {
  await import('../controllers/controller-main.ts');
  await import('./open-engine.ts');
}

export async function checkEmbeddedEngine(
  { folder, drives }: CheckedConfiguration,
  isShare: (volume: string) => boolean,
): Promise<EngineCheck> {
  const [{ checkEngine }, { drivesOf }] = await Promise.all([import('./check-engine.ts'), import('./open-engine.ts')]);
  return checkEngine(folder, drivesOf(drives), isShare);
}

/** The array's secrets stay in its management. */
function forControllers(configuration: HostedConfiguration): ControllerConfiguration {
  const { uuid, internalName, folder, drives, limits, dualTarget } = configuration;
  const { management, dataPort, filePort, publicAddress, interfaces } = configuration;
  const own = { uuid, internalName, folder, drives, limits, dualTarget };
  return { ...own, management, dataPort, filePort, publicAddress, interfaces };
}
