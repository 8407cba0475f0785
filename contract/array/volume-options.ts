import { boolean, choice, integer, optional, type Params, text, withDefault } from '../params.ts';

const off = (description: string) => withDefault(boolean(description), false);
const on = (description: string) => withDefault(boolean(description), true);
const mask = (description: string) =>
  text(description, { max: 4, pattern: '^[0-7]{3,4}$', form: 'three or four octal digits such as 0755' });
const anonymousId = (description: string) =>
  withDefault(integer(`${description}; 0 is 65534`, { max: 4_294_967_295 }), 0);
const cap = (description: string) => optional(integer(`${description}; 0 is no cap. Block volumes only`));

const byReduction = 'as the array has it when left out: on for flash arrays whose data reduction is on';

/** What a volume can be created with and later changed to. */
export const reduction = {
  dedupe: boolean('Store blocks that are alike once'),
  compress: boolean('Store blocks compressed'),
} satisfies Params;

/** Of a new one. */
export const reductionAtFirst = {
  dedupe: optional(boolean(`Store blocks that are alike once; ${byReduction}`)),
  compress: optional(boolean(`Store blocks compressed; ${byReduction}`)),
} satisfies Params;

export const shareOptions = {
  mountsync: on('Answer a write when it is on disk, rather than before'),
  atimeupdate: off('Note when a file was last read'),
  readaheadkb: withDefault(choice(['16', '64', '128', '256', '512'], 'KB to read ahead'), '16'),
  nfsrootsquash: off('Treat root of NFS clients as the anonymous user'),
  nfsallsquash: off('Treat every user of NFS clients as the anonymous user'),
  nfsanonuid: anonymousId('User number of the anonymous user'),
  nfsanongid: anonymousId('Group number of the anonymous user'),
  smbonly: off('Not over NFS'),
  smbguest: off('Let SMB clients in without a password'),
  smbwindowsacl: off('Keep Windows access lists'),
  smbbrowseable: on('Show the share to clients that browse'),
  smbhideunreadable: off('Hide what the user cannot read'),
  smbhideunwriteable: off('Hide what the user cannot write'),
  smbhidedotfiles: off('Mark files whose name starts with a dot as hidden'),
  smbmaparchive: off('Keep the archive attribute as an execute bit'),
  smbenableoplocks: on('Let clients cache files they have open'),
  smbfilecreatemask: withDefault(mask('Most permissions a new file gets, octal'), '0744'),
  smbdircreatemask: withDefault(mask('Most permissions a new directory gets, octal'), '0755'),
  smbhiddenfiles: optional(text('Names to hide, between slashes, with * and ?', { min: 0, example: '/*.tmp/' })),
  smbencryptionmode: withDefault(choice(['off', 'desired', 'required'], 'Encryption of SMB traffic'), 'off'),
  smbmanglednames: withDefault(
    choice(['YES', 'NO', 'ILLEGAL'], 'Give names an 8.3 form: all long ones, none, or those Windows cannot hold'),
    'YES',
  ),
  smbcasesensitive: withDefault(choice(['YES', 'NO', 'AUTO'], 'Whether the case of names counts'), 'AUTO'),
  auditenable: off('Log who reads and changes files'),
} satisfies Params;

/** Of a new share only. */
export const creationOptions = {
  smbstoredosattributes: off('Keep DOS attributes of files'),
} satisfies Params;

export const cappings = {
  read_iops_capping: cap('Reads a second'),
  read_mbps_capping: cap('MB read a second'),
  write_iops_capping: cap('Writes a second'),
  write_mbps_capping: cap('MB written a second'),
} satisfies Params;
