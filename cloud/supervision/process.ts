import type { FromProgram, HostedConfiguration, Listening } from '@granary/kernel';

export interface Ending {
  /** In words, for the operator. */
  readonly reason: string;
  /** When it gave its last sign of life, for a process that was killed because it gave none. */
  readonly silentSince: number | undefined;
}

/** One run of an array process, from fork to exit, as supervision needs it. */
export interface SupervisedProcess {
  readonly pid: number | undefined;
  /** Where it listens, by its last word. */
  readonly listening: Listening;
  /** True once it serves; false when it ended first. */
  readonly ready: Promise<boolean>;
  readonly ended: Promise<Ending>;
  /** How often its start reported progress, and the stage it reported last. */
  readonly steps: number;
  readonly stage: string | undefined;
  /** How often its data path gave a sign of life past the main thread. */
  readonly pulses: number;
  /** Whether its main thread answers over the channel. Never throws. */
  check(timeoutMs: number): Promise<boolean>;
  /** Asks it to become what the configuration says; undefined when it does not answer in time. */
  change(configuration: HostedConfiguration, timeoutMs: number): Promise<FromProgram | undefined>;
  kill(reason: string): void;
  /** Politely first; a process that does not go in time is killed. */
  stop(timeoutMs: number): Promise<void>;
}
