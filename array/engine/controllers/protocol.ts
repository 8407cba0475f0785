import type { HostedConfiguration } from '@granary/kernel';
import type { EngineControllers, EngineCore, EngineEncryption, EngineReduction, OnEngineEvent } from '../engine.ts';
import type { EngineErrorCode } from '../errors.ts';
import type { EngineEvent } from '../events.ts';
import type { Hardware } from '../hardware.ts';

/** Everything the embedded engine can be asked, whichever part it belongs to. */
export interface EngineMethods extends EngineCore, Hardware, EngineControllers, EngineReduction, EngineEncryption {}

/**
 * What becomes of a call whose controller goes away under it. `again`: the next controller is asked; whatever was done
 * already is no error. `long`: it ends as interrupted, and its last argument is the `Work` it reports to. `once`: it
 * ends as interrupted, for it means something to that controller only. `pair`: no controller is asked.
 */
export const CALLS = {
  report: 'again',
  volume: 'again',
  takeDriveOffline: 'again',
  bringDriveOnline: 'again',
  shredDrive: 'long',
  createGroup: 'again',
  deleteGroup: 'again',
  replaceDrive: 'again',
  addSpare: 'again',
  removeSpare: 'again',
  setResyncSpeed: 'again',
  setReadMode: 'again',
  scrubGroup: 'long',
  createPool: 'again',
  deletePool: 'again',
  expandPool: 'again',
  shrinkPool: 'long',
  setPoolCache: 'again',
  createVolume: 'again',
  expandVolume: 'again',
  deleteVolume: 'again',
  setReduction: 'again',
  setCaps: 'again',
  countSizes: 'again',
  unlockVolume: 'again',
  holdWrites: 'again',
  releaseWrites: 'again',
  moveVolume: 'long',
  pauseMove: 'once',
  resumeMove: 'once',
  takeSnapshots: 'again',
  deleteSnapshot: 'again',
  cloneSnapshot: 'again',
  revertVolume: 'once',
  changes: 'again',
  readSnapshot: 'again',
  writeVolume: 'again',
  discardVolume: 'again',
  flushVolume: 'once',
  shownBytes: 'again',
  putServer: 'again',
  removeServer: 'again',
  dropSessions: 'again',
  formatShare: 'again',
  putShare: 'again',
  removeShare: 'again',
  putNasAccounts: 'again',
  quotaState: 'again',
  setQuotaState: 'again',
  quota: 'again',
  quotas: 'again',
  setQuotas: 'again',
  setProject: 'long',
  listFiles: 'again',
  readFile: 'again',
  archiveFile: 'again',
  writeRecall: 'once',
  finishRecall: 'once',
  giveContents: 'once',
  expireFile: 'again',
  purgeBin: 'long',
  restoreFile: 'long',
  failover: 'pair',
} as const satisfies Record<keyof EngineMethods, 'again' | 'long' | 'once' | 'pair'>;

export type EngineMethod = keyof EngineMethods;

/** One call of an engine as plain data. */
export type EngineCall<M extends EngineMethod = EngineMethod> = {
  readonly [K in M]: { readonly method: K; readonly args: Parameters<EngineMethods[K]> };
}[M];

/** What a controller needs to know of the array: none of its secrets. */
export type ControllerConfiguration = Pick<
  HostedConfiguration,
  | 'uuid'
  | 'internalName'
  | 'folder'
  | 'drives'
  | 'management'
  | 'dataPort'
  | 'filePort'
  | 'publicAddress'
  | 'interfaces'
  | 'limits'
  | 'dualTarget'
>;

/** What an active controller runs. */
export interface ActiveEngine {
  readonly engine: Omit<EngineMethods, 'failover'>;
  /** Servers may come. */
  serve(): Promise<void>;
  follow(configuration: ControllerConfiguration): Promise<void>;
  /** Afterwards every byte is on the drives and nothing of them is open. */
  close(): Promise<void>;
}

export interface ActiveEngineHooks {
  readonly controller: string;
  readonly onEvent: OnEngineEvent;
  readonly log: (line: LogLine) => void;
  /** How far opening is: a stage, or a step within it. */
  readonly onStage: (stage: string) => void;
}

export type OpenEngine = (configuration: ControllerConfiguration, hooks: ActiveEngineHooks) => Promise<ActiveEngine>;

export interface LogLine {
  readonly level: 'info' | 'warn' | 'error';
  readonly text: string;
  readonly facts?: Readonly<Record<string, unknown>>;
}

/** What a controller's thread is started with. */
export interface ThreadData {
  readonly name: string;
  /** Module that exports `openEngine`; imported only when the controller becomes active. */
  readonly engineModule: string;
  /** Signs of life, as `vitals` lays them out. */
  readonly vitals: SharedArrayBuffer;
  /** What its heap may grow to; absent: what the runtime takes. */
  readonly heapMb?: number | undefined;
}

export type Request =
  /** Loads what being active takes, so that taking over is quick. */
  | { readonly type: 'prepare' }
  | {
      readonly type: 'activate';
      readonly configuration: ControllerConfiguration;
      /** What the engine does not keep itself. */
      readonly replay: readonly EngineCall[];
      readonly serves: boolean;
    }
  | { readonly type: 'serve' }
  | { readonly type: 'follow'; readonly configuration: ControllerConfiguration }
  | { readonly type: 'retire' }
  | { readonly type: 'call'; readonly call: EngineCall };

export type ToController =
  | { readonly type: 'ask'; readonly id: number; readonly request: Request }
  | { readonly type: 'cancel'; readonly id: number };

export type FromController =
  | { readonly type: 'answer'; readonly id: number; readonly result: unknown }
  | { readonly type: 'refusal'; readonly id: number; readonly error: SentError }
  | { readonly type: 'progress'; readonly id: number; readonly value: unknown }
  | { readonly type: 'event'; readonly event: EngineEvent }
  | { readonly type: 'log'; readonly line: LogLine };

export interface SentError {
  /** None: it is no refusal but a fault. */
  readonly code: EngineErrorCode | undefined;
  readonly message: string;
  readonly stack: string | undefined;
}
