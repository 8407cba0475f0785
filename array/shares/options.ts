/** What people set of a share. What is about SMB alone is kept and shown; NFS does not look at it. */
export interface ShareOptions {
  /** Writes are durable when they are answered, also those that leave it to a later COMMIT. */
  readonly syncsWrites: boolean;
  readonly updatesAccessTimes: boolean;
  readonly readAheadKb: number;
  readonly squashesRoot: boolean;
  readonly squashesAll: boolean;
  /** 0 is the usual one. */
  readonly anonymousUid: number;
  readonly anonymousGid: number;
  readonly isAudited: boolean;
  readonly isSmbOnly: boolean;
  readonly admitsGuests: boolean;
  readonly keepsWindowsAcls: boolean;
  readonly isBrowseable: boolean;
  readonly hidesUnreadable: boolean;
  readonly hidesUnwriteable: boolean;
  readonly hidesDotFiles: boolean;
  readonly keepsDosAttributes: boolean;
  readonly mapsArchive: boolean;
  readonly grantsOplocks: boolean;
  /** Octal. */
  readonly fileCreateMask: string;
  readonly directoryCreateMask: string;
  /** Patterns between slashes. */
  readonly hiddenFiles: string | null;
  readonly smbEncryption: 'off' | 'desired' | 'required';
  readonly mangledNames: 'YES' | 'NO' | 'ILLEGAL';
  readonly caseSensitive: 'YES' | 'NO' | 'AUTO';
}

export type ShareChange = { readonly [K in keyof ShareOptions]?: ShareOptions[K] | undefined };

export const defaultOptions: ShareOptions = {
  syncsWrites: true,
  updatesAccessTimes: false,
  readAheadKb: 16,
  squashesRoot: false,
  squashesAll: false,
  anonymousUid: 0,
  anonymousGid: 0,
  isAudited: false,
  isSmbOnly: false,
  admitsGuests: false,
  keepsWindowsAcls: false,
  isBrowseable: true,
  hidesUnreadable: false,
  hidesUnwriteable: false,
  hidesDotFiles: false,
  keepsDosAttributes: false,
  mapsArchive: false,
  grantsOplocks: true,
  fileCreateMask: '0744',
  directoryCreateMask: '0755',
  hiddenFiles: null,
  smbEncryption: 'off',
  mangledNames: 'YES',
  caseSensitive: 'AUTO',
};

/** The default user and group of anonymous clients. */
const NOBODY = 65_534;

export function anonymousIds({ anonymousUid, anonymousGid }: ShareOptions): { uid: number; gid: number } {
  return { uid: anonymousUid === 0 ? NOBODY : anonymousUid, gid: anonymousGid === 0 ? NOBODY : anonymousGid };
}

/** A share as it is after a change; what the change does not say stays. */
export function changedOptions(before: ShareOptions, change: ShareChange): ShareOptions {
  const said = Object.entries(change).filter(([, value]) => value !== undefined);
  return { ...before, ...(Object.fromEntries(said) as Partial<ShareOptions>) };
}
