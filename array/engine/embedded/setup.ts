import type { BlockDevice } from '@granary/storage';
import type { ExportedServer, OnEngineEvent } from '../engine.ts';
import type { IoTotals, ServerReport, SessionReport, ShareReport } from '../report.ts';
import type { LatencyCounts } from './reports/totals.ts';

export interface EngineDriveSetup {
  /** Its uuid. */
  readonly id: string;
  readonly file: string;
  readonly sizeBytes: number;
}

/** A protocol that shows volumes to servers. */
interface VolumeUser {
  /** Before it is deleted: resolves when its device is unused. */
  removeVolume(volume: string): Promise<void>;
  volumeResized(volume: string): Promise<void> | void;
  sessions(): SessionReport[];
  servers(): ServerReport[];
  endSessions(initiator: string, target: string): number;
  close(): Promise<void>;
}

/** As disks. */
export interface BlockExports extends VolumeUser {
  putServer(server: ExportedServer): Promise<void>;
  removeServer(id: string): Promise<void>;
}

/** As file shares. */
export interface FileShares extends VolumeUser {
  volumeUnlocked(volume: string): void;
  /** Before snapshots of these volumes are taken, or their writes held: they show all that clients were answered. */
  flushShares(volumes: readonly string[]): Promise<void>;
  /** Before it is deleted: resolves when it has no readers. */
  removeSnapshot(snapshot: string): Promise<void>;
  /** Clients wait while the volume becomes another one. */
  whileReplaced(volume: string, replace: () => Promise<void>): Promise<void>;
  /** What could not be mounted is tried again. */
  retry(): void;
}

/** Where devices of volumes come from. One stays valid wherever its volume moves. */
export interface UnitSource {
  device(volume: string): BlockDevice | undefined;
}

/** A volume that may hold a share. */
export interface ShareVolume extends BlockDevice {
  readonly id: string;
  readonly pool: { readonly id: string };
  readonly isLocked: boolean;
  /** Writes are held back. */
  readonly isHeld: boolean;
  release(): void;
  /** What reports contain of the share, while it is mounted. */
  figures: ShareFigures | undefined;
  /** A client has read or written: the figures are others now. */
  counted(kind: 'reads' | 'writes', bytes: number): void;
  changed(): void;
}

export interface ShareFigures {
  readonly share: ShareReport;
  /** What clients read and wrote. */
  readonly io: IoTotals;
  readonly latencies: LatencyCounts;
}

export interface ShareSource {
  volume(id: string): ShareVolume | undefined;
  /** A snapshot to read, wherever its volume is; reading fails once it is deleted. */
  snapshot(id: string): BlockDevice | undefined;
}

export interface EmbeddedEngineSetup {
  readonly folder: string;
  readonly drives: readonly EngineDriveSetup[];
  readonly onEvent: OnEngineEvent;
  /** How far opening is. */
  readonly onStage?: ((stage: string) => void) | undefined;
  readonly exports?: ((source: UnitSource) => BlockExports) | undefined;
  readonly shares?: ((source: ShareSource) => FileShares) | undefined;
}
