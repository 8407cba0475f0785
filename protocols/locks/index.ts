export { LockTable, ShareBits, type FileLocks, type LockedFile, type ShareReservation } from './lock-table.ts';
export { RANGE_END, type HeldLock, type LockOwner, type LockRange } from './ranges.ts';
