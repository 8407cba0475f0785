/**
 * NFSv4 ACLs over POSIX ones. Going out, each POSIX entry becomes ALLOW entries, after DENY entries where a later entry
 * would give more than POSIX does. Coming in, what the list as a whole grants to each name becomes its POSIX entry; the
 * mask is as wide as needed. Permissions finer than read, write and execute are rounded down.
 */
import { FileError, type Acl, type AclEntry, type Attributes } from '../../filesystem.ts';
import type { XdrReader } from '../../xdr/reader.ts';
import type { XdrWriter } from '../../xdr/writer.ts';
import { idOf, nameOf, type Identities } from './identities.ts';
import { Nfs4Error, Status4 } from '../status.ts';

const ENTRIES_MAX = 512;
const WHO_BYTES_MAX = 256;
const Type = { allow: 0, deny: 1 } as const;
const Flag = { fileInherit: 1, directoryInherit: 2, noPropagate: 4, inheritOnly: 8, group: 0x40 } as const;
const READ = 0x1 | 0x20000;
const WRITE = 0x2 | 0x4;
const DELETE_CHILD = 0x40;
const EXECUTE = 0x20;
const READ_ATTRIBUTES = 0x80;
const READ_ACL = 0x20000;
const SYNCHRONIZE = 0x100000;
const ALWAYS = READ_ATTRIBUTES | READ_ACL | SYNCHRONIZE;
const OWNER_ALWAYS = ALWAYS | 0x100 | 0x40000;

export interface Ace {
  readonly type: number;
  readonly flags: number;
  readonly mask: number;
  readonly who: string;
}

export function readAces(args: XdrReader): Ace[] {
  return args.array(ENTRIES_MAX, () => {
    const [type, flags, mask] = [args.u32(), args.u32(), args.u32()];
    return { type, flags, mask, who: args.text(WHO_BYTES_MAX) };
  });
}

export function writeAces(reply: XdrWriter, aces: readonly Ace[]): void {
  reply.array(aces, ({ type, flags, mask, who }) => reply.u32(type).u32(flags).u32(mask).text(who));
}

function maskOf(permissions: number, isDirectory: boolean): number {
  const write = WRITE | (isDirectory ? DELETE_CHILD : 0);
  return ((permissions & 4) !== 0 ? READ : 0) | ((permissions & 2) !== 0 ? write : 0) | ((permissions & 1) * EXECUTE);
}

function permissionsOf(mask: number): number {
  const read = (mask & 0x1) !== 0 ? 4 : 0;
  const write = (mask & WRITE) === WRITE ? 2 : 0;
  return read | write | ((mask & EXECUTE) !== 0 ? 1 : 0);
}

/** What the mode alone says, where a file has no ACL. */
function entriesOfMode(mode: number): AclEntry[] {
  return [
    { tag: 'owner', permissions: (mode >> 6) & 7 },
    { tag: 'owning-group', permissions: (mode >> 3) & 7 },
    { tag: 'other', permissions: mode & 7 },
  ];
}

export async function acesOf(acl: Acl, attributes: Attributes, identities: Identities): Promise<Ace[]> {
  const isDirectory = attributes.type === 'directory';
  const access = acl.access.length > 0 ? acl.access : entriesOfMode(attributes.mode);
  const aces = await acesOfEntries(access, isDirectory, 0, identities);
  if (!isDirectory || acl.default.length === 0) return aces;
  const inherit = Flag.fileInherit | Flag.directoryInherit | Flag.inheritOnly;
  return [...aces, ...(await acesOfEntries(acl.default, isDirectory, inherit, identities))];
}

async function acesOfEntries(
  entries: readonly AclEntry[],
  isDirectory: boolean,
  flags: number,
  identities: Identities,
): Promise<Ace[]> {
  const cap = entries.find(({ tag }) => tag === 'mask')?.permissions ?? 7;
  const other = entries.find(({ tag }) => tag === 'other')?.permissions ?? 0;
  const users: Ace[] = [];
  const groupAllows: Ace[] = [];
  const groupDenies: Ace[] = [];
  for (const entry of entries) {
    if (entry.tag === 'mask' || entry.tag === 'other') continue;
    const isGroup = entry.tag === 'owning-group' || entry.tag === 'group';
    const permissions = entry.tag === 'owner' ? entry.permissions : entry.permissions & cap;
    const who = await whoOf(entry, identities);
    const own = { flags: flags | (isGroup && entry.tag === 'group' ? Flag.group : 0), who };
    const always = entry.tag === 'owner' ? OWNER_ALWAYS : ALWAYS;
    const allow = { ...own, type: Type.allow, mask: maskOf(permissions, isDirectory) | always };
    const denied = maskOf(~permissions & 7, isDirectory) & ~ALWAYS;
    const deny = denied === 0 ? [] : [{ ...own, type: Type.deny, mask: denied }];
    // A user stops at its own entry; members of groups have what all their groups give together, so denials come last.
    if (!isGroup) users.push(allow, ...deny);
    else {
      groupAllows.push(allow);
      groupDenies.push(...deny);
    }
  }
  const everyone = { type: Type.allow, flags, mask: maskOf(other, isDirectory) | ALWAYS, who: 'EVERYONE@' };
  return [...users, ...groupAllows, ...groupDenies, everyone];
}

async function whoOf({ tag, id = 0 }: AclEntry, identities: Identities): Promise<string> {
  if (tag === 'owner') return 'OWNER@';
  if (tag === 'owning-group') return 'GROUP@';
  return nameOf(identities, tag === 'user' ? 'user' : 'group', id);
}

interface Grants {
  allowed: number;
  denied: number;
}

export async function aclOfAces(aces: readonly Ace[], isDirectory: boolean, identities: Identities): Promise<Acl> {
  for (const { type } of aces) if (type > Type.deny) throw new Nfs4Error(Status4.attributeNotSupported);
  const effective = aces.filter(({ flags }) => (flags & Flag.inheritOnly) === 0);
  const inherited = aces.filter(({ flags }) => (flags & (Flag.fileInherit | Flag.directoryInherit)) !== 0);
  if (inherited.length > 0 && !isDirectory) throw new FileError('EINVAL', 'only directories hand entries on');
  const access = await entriesOfAces(effective, identities);
  return { access, default: inherited.length > 0 ? await entriesOfAces(inherited, identities) : [] };
}

async function entriesOfAces(aces: readonly Ace[], identities: Identities): Promise<AclEntry[]> {
  const grants = new Map<string, Grants>();
  const everyone: Grants = { allowed: 0, denied: 0 };
  const of = (key: string) => {
    // An entry that comes after one for everyone has that already behind it.
    let found = grants.get(key);
    if (found === undefined) grants.set(key, (found = { ...everyone }));
    return found;
  };
  of('OWNER@');
  of('GROUP@');
  for (const { type, flags, mask, who } of aces) {
    const isGroup = (flags & Flag.group) !== 0;
    if (who === 'EVERYONE@') for (const each of [...grants.values(), everyone]) apply(each, type, mask);
    else if (who === 'OWNER@' || who === 'GROUP@') apply(of(who), type, mask);
    else
      apply(of(`${isGroup ? 'group' : 'user'} ${await idOf(identities, isGroup ? 'group' : 'user', who)}`), type, mask);
  }
  const entries: AclEntry[] = [];
  let widest = 0;
  for (const [key, { allowed }] of grants) {
    const permissions = permissionsOf(allowed);
    if (key !== 'OWNER@') widest |= permissions;
    const [kind, id] = key.split(' ');
    if (key === 'OWNER@') entries.push({ tag: 'owner', permissions });
    else if (key === 'GROUP@') entries.push({ tag: 'owning-group', permissions });
    else entries.push({ tag: kind === 'group' ? 'group' : 'user', id: Number(id), permissions });
  }
  if (grants.size > 2) entries.push({ tag: 'mask', permissions: widest });
  entries.push({ tag: 'other', permissions: permissionsOf(everyone.allowed) });
  return entries;
}

/** The first entry that says something of a permission decides it. */
function apply(grants: Grants, type: number, mask: number): void {
  if (type === Type.allow) grants.allowed |= mask & ~grants.denied;
  else grants.denied |= mask & ~grants.allowed;
}
