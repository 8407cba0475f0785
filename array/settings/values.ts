import type { ReadMode } from '../engine/hardware.ts';

/** What an administrator sets of an array. */
export interface ArraySettings {
  readonly recycleBin: boolean;
  readonly recycleBinHours: number;
  readonly suspendSeconds: number;
  /** Percent; 0 is never. */
  readonly cpuUsageAlert: number;
  readonly memUsageAlert: number;
  readonly raidReadMode: ReadMode;
  /** How many volumes are moved at a time. */
  readonly migrationsMax: number;
  readonly smtpHost: string | null;
  readonly smtpPort: number;
  readonly smtpSecure: boolean;
  readonly smtpUser: string | null;
  /** Sealed. */
  readonly smtpPassword: string | null;
  readonly smtpFrom: string | null;
  /** Comma list. */
  readonly noticeTo: string | null;
  readonly noticeSeverity: number;
}

/** A new array: deleted volumes are freed at once, and no mail is sent. */
export const defaultSettings: ArraySettings = {
  recycleBin: false,
  recycleBinHours: 168,
  suspendSeconds: 10,
  cpuUsageAlert: 0,
  memUsageAlert: 0,
  raidReadMode: 'balanced',
  migrationsMax: 4,
  smtpHost: null,
  smtpPort: 25,
  smtpSecure: false,
  smtpUser: null,
  smtpPassword: null,
  smtpFrom: null,
  noticeTo: null,
  noticeSeverity: 4,
};

export function isMailed({ smtpHost, noticeTo }: ArraySettings): boolean {
  return smtpHost !== null && noticeTo !== null;
}
