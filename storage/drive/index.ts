export type { Drive, DriveStatistics, OperationStatistics } from './drive.ts';
export { FaultyDrive } from './faulty-drive.ts';
export type { Random } from './faulty-drive.ts';
export { FileDrive } from './file-drive.ts';
export type { FileDriveOptions } from './file-drive.ts';
export { SharedFlush } from './shared-flush.ts';
export { thenSum } from './then-sum.ts';
export { shred } from './shred.ts';
export type { ShredOptions } from './shred.ts';
