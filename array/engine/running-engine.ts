import type { HostedConfiguration, Log } from '@granary/kernel';
import type { Engine, OnEngineEvent } from './engine.ts';

export interface EngineSetup {
  readonly configuration: HostedConfiguration;
  readonly log: Log;
  readonly onEvent: OnEngineEvent;
  readonly onStage?: ((stage: string) => void) | undefined;
}

export interface RunningEngine {
  readonly engine: Engine;
  /** Opens the data ports: called once all exports are set. */
  serve(): Promise<void>;
  /** Drives came or went, addresses changed. */
  follow(configuration: HostedConfiguration): Promise<void>;
  stop(): Promise<void>;
}

/** Brings up what keeps an array's bytes: it can be asked when this resolves. */
export type StartEngine = (setup: EngineSetup) => Promise<RunningEngine>;
