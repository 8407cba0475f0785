import type { InputOf } from '@granary/contract';
import type { arrayApi } from '@granary/contract/array';
import { badParameter } from '@granary/kernel';
import { changedOptions, defaultOptions, type ShareChange, type ShareOptions } from './options.ts';

type CreateInput = InputOf<typeof arrayApi.groups.volumes.create>;

/** What callers call each option. */
const parameters = {
  syncsWrites: 'mountsync',
  updatesAccessTimes: 'atimeupdate',
  readAheadKb: 'readaheadkb',
  squashesRoot: 'nfsrootsquash',
  squashesAll: 'nfsallsquash',
  anonymousUid: 'nfsanonuid',
  anonymousGid: 'nfsanongid',
  isAudited: 'auditenable',
  isSmbOnly: 'smbonly',
  admitsGuests: 'smbguest',
  keepsWindowsAcls: 'smbwindowsacl',
  isBrowseable: 'smbbrowseable',
  hidesUnreadable: 'smbhideunreadable',
  hidesUnwriteable: 'smbhideunwriteable',
  hidesDotFiles: 'smbhidedotfiles',
  keepsDosAttributes: 'smbstoredosattributes',
  mapsArchive: 'smbmaparchive',
  grantsOplocks: 'smbenableoplocks',
  fileCreateMask: 'smbfilecreatemask',
  directoryCreateMask: 'smbdircreatemask',
  hiddenFiles: 'smbhiddenfiles',
  smbEncryption: 'smbencryptionmode',
  mangledNames: 'smbmanglednames',
  caseSensitive: 'smbcasesensitive',
} as const satisfies Record<keyof ShareOptions, keyof CreateInput>;

/** The options as callers send them: all of them in a creation, some in a change. */
type SentOptions = { readonly [K in (typeof parameters)[keyof ShareOptions]]?: CreateInput[K] | undefined };

export function readOptions(sent: SentOptions): ShareChange {
  return {
    syncsWrites: sent.mountsync,
    updatesAccessTimes: sent.atimeupdate,
    readAheadKb: sent.readaheadkb === undefined ? undefined : Number(sent.readaheadkb),
    squashesRoot: sent.nfsrootsquash,
    squashesAll: sent.nfsallsquash,
    anonymousUid: sent.nfsanonuid,
    anonymousGid: sent.nfsanongid,
    isAudited: sent.auditenable,
    isSmbOnly: sent.smbonly,
    admitsGuests: sent.smbguest,
    keepsWindowsAcls: sent.smbwindowsacl,
    isBrowseable: sent.smbbrowseable,
    hidesUnreadable: sent.smbhideunreadable,
    hidesUnwriteable: sent.smbhideunwriteable,
    hidesDotFiles: sent.smbhidedotfiles,
    keepsDosAttributes: sent.smbstoredosattributes,
    mapsArchive: sent.smbmaparchive,
    grantsOplocks: sent.smbenableoplocks,
    fileCreateMask: sent.smbfilecreatemask,
    directoryCreateMask: sent.smbdircreatemask,
    hiddenFiles: readHiddenFiles(sent.smbhiddenfiles),
    smbEncryption: sent.smbencryptionmode,
    mangledNames: sent.smbmanglednames,
    caseSensitive: sent.smbcasesensitive,
  } satisfies Record<keyof ShareOptions, unknown>;
}

/** The reverse: as they are sent to another array. */
export function sentOptions(options: ShareOptions): SentOptions {
  const entries = Object.entries(parameters) as [keyof ShareOptions, keyof SentOptions][];
  const sent = entries.map(([option, parameter]) => [parameter, options[option] ?? '']);
  return { ...Object.fromEntries(sent), readaheadkb: String(options.readAheadKb) } as SentOptions;
}

function readHiddenFiles(text: string | undefined): string | null | undefined {
  if (text === undefined || text === '') return text === '' ? null : undefined;
  if (!/^(\/[^/]+)+\/$/.test(text))
    throw badParameter('smbhiddenfiles', 'must be names between slashes, such as /*.tmp/Thumbs.db/');
  return text;
}

/** That the options make sense together. The error names one that was sent. */
export function checkOptions(options: ShareOptions): void {
  if (options.admitsGuests && options.smbEncryption === 'required')
    throw badParameter('smbguest', 'must be NO with smbencryptionmode=required: a guest has no key to encrypt with');
  if (options.mapsArchive && options.keepsDosAttributes)
    throw badParameter(
      'smbmaparchive',
      'must be NO with smbstoredosattributes=YES: the attribute is kept in one place',
    );
}

/** A block volume has no such options. One that asks for what a share has without asking is let be: clients send all. */
export function refuseShareOptions(change: ShareChange): void {
  const wanted = changedOptions(defaultOptions, change);
  for (const [option, parameter] of Object.entries(parameters) as [keyof ShareOptions, string][])
    if (wanted[option] !== defaultOptions[option])
      throw badParameter(parameter, 'is for file shares: a block volume has no files');
}
