import type { HostedConfiguration, Log } from '@granary/kernel';
import type { CheckedConfiguration, EngineCheck } from './check.ts';
import type { Engine, OnEngineEvent } from './engine.ts';

export interface EngineSetup {
  readonly configuration: HostedConfiguration;
  readonly log: Log;
  readonly onEvent: OnEngineEvent;
  readonly onStage?: ((stage: string) => void) | undefined;
}

export interface RunningEngine {
  readonly engine: Engine;
  /** Servers may come: called once the engine was told who may reach what. */
  serve(): Promise<void>;
  /** Drives came or went, addresses changed. */
  follow(configuration: HostedConfiguration): Promise<void>;
  stop(): Promise<void>;
}

/** Brings up what keeps an array's bytes: it can be asked when this resolves. */
export type StartEngine = (setup: EngineSetup) => Promise<RunningEngine>;

/** A kind of engine. Its code is loaded only where it is used. */
export interface EngineKind {
  load(): Promise<StartEngine>;
  /** Proves of a stopped array that its bytes are sound; without it nothing can be proved. */
  check?(configuration: CheckedConfiguration, isShare: (volume: string) => boolean): Promise<EngineCheck>;
  /** Loads everything it may load later, so that it is compiled beforehand. */
  prepare?(): Promise<unknown>;
}

/** By the name in the array's configuration. A new engine is added here and nowhere else. */
export const ENGINES: Readonly<Record<string, EngineKind>> = {
  embedded: {
    load: async () => (await import('./embedded/start.ts')).startEmbeddedEngine,
    check: async (configuration, isShare) =>
      (await import('./embedded/start.ts')).checkEmbeddedEngine(configuration, isShare),
    prepare: async () => (await import('./embedded/start.ts')).prepareEmbeddedEngine(),
  },
};

export async function startEngine(setup: EngineSetup, engines = ENGINES): Promise<RunningEngine> {
  const start = await kindOf(setup.configuration, engines).load();
  return start(setup);
}

export async function prepareEngines(): Promise<void> {
  for (const kind of Object.values(ENGINES)) await kind.prepare?.();
}

export function kindOf(
  { storageEngine = 'embedded' }: { readonly storageEngine?: string },
  engines = ENGINES,
): EngineKind {
  const kind = engines[storageEngine];
  if (kind) return kind;
  const known = Object.keys(engines).join(', ');
  throw new Error(`The array's configuration names the storage engine ${storageEngine}; there is ${known}.`);
}
