export { Checker, WrongDataError, type CheckerOptions, type Counts, type RunOptions } from './checker.ts';
export type { ChapCredentials } from './chap.ts';
export {
  AbortedError,
  LoginError,
  InitiatorProtocolError,
  RejectError,
  ScsiError,
  SessionClosedError,
} from './errors.ts';
export { Initiator, type DiscoveredTarget, type LoginOptions, type PortalOptions } from './initiator.ts';
export { fillUnit, runLoad, type LoadResult, type Workload } from './load.ts';
export { LoadProcess, type LoadRequest } from './load-process.ts';
export type { BlockRange, Capacity, CommandOptions, Lun, StartedCommand } from './lun.ts';
export { ensurePackages, ISCSI_PACKAGES, skipWithout } from './packages.ts';
export { RamDevice } from './ram-device.ts';
export type { Sense } from './sense.ts';
export type { InitiatorSession } from './session.ts';
export type { CommandResult } from './task.ts';
export { Tgtd, type TgtdOptions } from './tgtd.ts';
export { taskManagement } from './wire.ts';
