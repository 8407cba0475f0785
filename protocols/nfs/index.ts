export type { NfsEvent } from './events.ts';
export * from './filesystem.ts';
export { DEFAULT_LIMITS, type Limits } from './limits.ts';
export {
  accessByRules,
  type AccessRule,
  DEFAULT_ACCESS,
  type ExportAccess,
  type NfsExport,
  type SnapshotListing,
  type SnapshotSource,
} from './namespace/export.ts';
export { VolumeFilesystem } from './volume/volume-filesystem.ts';
export { type Endpoint, NfsServer, type NfsServerOptions } from './server.ts';
export { type ClientRecorder, MemoryRecorder, type RecordedClient } from './recovery/recorder.ts';
export type { Identities } from './v4/attributes/identities.ts';
