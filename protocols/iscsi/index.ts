export type { BufferSource } from './buffers.ts';
export type { IscsiEvent } from './events.ts';
export { DEFAULT_LIMITS, type Limits } from './limits.ts';
export type { ChapSecrets } from './login/chap.ts';
export type { UnitOptions } from './scsi/logical-unit.ts';
export {
  FileReservationStore,
  MemoryReservationStore,
  type ReservationState,
  type ReservationStore,
} from './scsi/reservations/reservation-store.ts';
export { IscsiServer, type IscsiServerOptions, type Portal } from './server.ts';
export type { Access, IscsiTarget, LunAccess, SessionInfo, TargetOptions } from './target.ts';
