import type { HostedConfiguration, Log } from '@granary/kernel';
import { ControllerPair } from './controllers/controller-pair.ts';
import type { ControllerConfiguration, LogLine } from './controllers/protocol.ts';
import { remoteEngine } from './controllers/remote-engine.ts';
import { ReplayLog } from './controllers/replay-log.ts';
import { Unflushed } from './controllers/unflushed.ts';
import type { Engine, OnEngineEvent } from './engine.ts';

export interface EngineSetup {
  readonly configuration: HostedConfiguration;
  readonly log: Log;
  readonly onEvent: OnEngineEvent;
  readonly onStage?: ((stage: string) => void) | undefined;
  /** Module that exports `openEngine`; tests put another in its place. */
  readonly engineModule?: string;
}

export interface RunningEngine {
  readonly engine: Engine;
  /** Servers may come: called once the engine was told who may reach what. */
  serve(): Promise<void>;
  /** Drives came or went, addresses changed. */
  follow(configuration: HostedConfiguration): Promise<void>;
  stop(): Promise<void>;
}

const EMBEDDED = new URL('./embedded/open-engine.ts', import.meta.url).href;

/** Brings up what keeps the array's bytes: its drives are open and it can be asked when this resolves. */
export async function startEngine(setup: EngineSetup): Promise<RunningEngine> {
  const { configuration, log, onEvent, onStage = () => undefined, engineModule = EMBEDDED } = setup;
  const replayLog = new ReplayLog();
  const unflushed = new Unflushed();
  const pair = new ControllerPair({
    configuration: forControllers(configuration),
    engineModule,
    stateToReplay: () => replayLog.calls(),
    onCrash: () => unflushed.controllerDied(),
    onEvent,
    onStage,
    onLog: ({ level, text, facts }: LogLine) => log[level](facts ?? {}, text),
  });
  await pair.start();
  return {
    engine: remoteEngine({ pair, replayLog, unflushed }),
    serve: () => pair.serve(),
    follow: (next) => pair.follow(forControllers(next)),
    stop: () => pair.stop(),
  };
}

/** The array's secrets stay in its management. */
function forControllers(configuration: HostedConfiguration): ControllerConfiguration {
  const { uuid, internalName, folder, drives, cacheGb } = configuration;
  const { management, dataPort, filePort, publicAddress, interfaces } = configuration;
  return { uuid, internalName, folder, drives, cacheGb, management, dataPort, filePort, publicAddress, interfaces };
}
