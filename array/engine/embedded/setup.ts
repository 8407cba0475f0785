import type { BlockDevice } from '@granary/storage';
import type { ExportedServer, OnEngineEvent } from '../engine.ts';
import type { ServerReport, SessionReport } from '../report.ts';

export interface EngineDriveSetup {
  /** Its uuid. */
  readonly id: string;
  readonly file: string;
  readonly sizeBytes: number;
}

/** Whoever shows volumes to servers. */
export interface EngineExports {
  putServer(server: ExportedServer): Promise<void>;
  removeServer(id: string): Promise<void>;
  /** Before it is deleted: resolves when nobody uses its device any more. */
  removeVolume(volume: string): Promise<void>;
  volumeResized(volume: string): void;
  dropSessions(initiator: string, target: string): number;
  sessions(): SessionReport[];
  servers(): ServerReport[];
  close(): Promise<void>;
}

/** Where devices of volumes come from. One stays valid wherever its volume moves. */
export interface UnitSource {
  device(volume: string): BlockDevice | undefined;
}

export interface EmbeddedEngineSetup {
  readonly folder: string;
  readonly drives: readonly EngineDriveSetup[];
  readonly onEvent: OnEngineEvent;
  /** How far opening is. */
  readonly onStage?: ((stage: string) => void) | undefined;
  readonly exports?: ((source: UnitSource) => EngineExports) | undefined;
}
