import type { Acl, Attributes, Awaitable, QuotaState, SpaceUsage, Timestamp } from '../../filesystem.ts';
import type { Limits } from '../../limits.ts';
import { inodeOf } from '../../namespace/exports.ts';
import { isRoot, type Namespace, type Place } from '../../namespace/namespace.ts';
import type { XdrWriter } from '../../xdr/writer.ts';
import { acesOf, writeAces, type Ace } from './acl.ts';
import { Attribute } from './attribute.ts';
import { Bitmap } from './bitmap.ts';
import { nameOf, type Identities } from './identities.ts';

const TYPES = ['', 'file', 'directory', 'block', 'character', 'symlink', 'socket', 'fifo'];
const NO_LIMIT = 2n ** 64n - 1n;
/** Handles stay valid for as long as the file exists. */
const PERSISTENT = 0;
const ALLOW_AND_DENY = 3;
const NO_ACES: readonly Ace[] = [];

export interface AttributeContext {
  readonly namespace: Namespace;
  readonly limits: Limits;
  readonly identities: Identities;
}

/** Everything the wanted attributes of one file are written from. */
interface Subject {
  readonly context: AttributeContext;
  readonly minorVersion: number;
  readonly place: Place;
  readonly attributes: Attributes;
  readonly space: SpaceUsage | undefined;
  readonly quota: QuotaState | undefined;
  readonly aces: readonly Ace[];
  readonly owner: string;
  readonly group: string;
}

type Write = (reply: XdrWriter, subject: Subject) => void;

function time(of: (attributes: Attributes) => Timestamp): Write {
  return (reply, { attributes }) => writeTime(reply, of(attributes));
}

export function writeTime(reply: XdrWriter, { seconds, nanoseconds }: Timestamp): void {
  reply.size(seconds).u32(nanoseconds);
}

const yes: Write = (reply) => reply.bool(true);
const no: Write = (reply) => reply.bool(false);

const WRITERS = new Map<number, Write>([
  [Attribute.supported, (reply, { minorVersion }) => supportedAttributes(minorVersion).write(reply)],
  [Attribute.type, (reply, { attributes }) => reply.u32(TYPES.indexOf(attributes.type))],
  [Attribute.fileHandleExpiry, (reply) => reply.u32(PERSISTENT)],
  [Attribute.change, (reply, { attributes }) => reply.u64(attributes.change)],
  [Attribute.size, (reply, { attributes }) => reply.size(attributes.sizeBytes)],
  [Attribute.linkSupport, yes],
  [Attribute.symlinkSupport, yes],
  [Attribute.namedAttributes, no],
  [
    Attribute.filesystemId,
    (reply, { place }) => reply.u64(place.filesystem.id).u64(place.kind === 'snapshots' ? 1n : 0n),
  ],
  [Attribute.uniqueHandles, yes],
  [Attribute.leaseTime, (reply, { context }) => reply.u32(Math.ceil(context.limits.leaseMs / 1000))],
  [Attribute.readError, (reply) => reply.u32(0)],
  [Attribute.acl, (reply, { aces }) => writeAces(reply, aces)],
  [Attribute.aclSupport, (reply) => reply.u32(ALLOW_AND_DENY)],
  [Attribute.canSetTime, yes],
  [Attribute.caseInsensitive, no],
  [Attribute.casePreserving, yes],
  [Attribute.chownRestricted, yes],
  [Attribute.fileHandle, (reply, { context, place }) => reply.opaque(context.namespace.handle(place))],
  [Attribute.fileId, (reply, { attributes }) => reply.size(attributes.inode)],
  [Attribute.filesAvailable, (reply, { space }) => reply.size(space?.freeFiles ?? 0)],
  [Attribute.filesFree, (reply, { space }) => reply.size(space?.freeFiles ?? 0)],
  [Attribute.filesTotal, (reply, { space }) => reply.size(space?.totalFiles ?? 0)],
  [Attribute.homogeneous, yes],
  [Attribute.maxFileSize, (reply, { place }) => reply.size(place.filesystem.limits.fileBytesMax)],
  [Attribute.maxLink, (reply, { place }) => reply.u32(place.filesystem.limits.linksMax)],
  [Attribute.maxName, (reply, { place }) => reply.u32(place.filesystem.limits.nameBytesMax)],
  [Attribute.maxRead, (reply, { context }) => reply.size(context.limits.transferBytesMax)],
  [Attribute.maxWrite, (reply, { context }) => reply.size(context.limits.transferBytesMax)],
  [Attribute.mode, (reply, { attributes }) => reply.u32(attributes.mode)],
  [Attribute.noTruncation, yes],
  [Attribute.links, (reply, { attributes }) => reply.u32(attributes.links)],
  [Attribute.owner, (reply, { owner }) => reply.text(owner)],
  [Attribute.ownerGroup, (reply, { group }) => reply.text(group)],
  [Attribute.quotaAvailableHard, (reply, { quota }) => writeQuota(reply, quota?.hardBytes)],
  [Attribute.quotaAvailableSoft, (reply, { quota }) => writeQuota(reply, quota?.softBytes)],
  [Attribute.quotaUsed, (reply, { quota }) => reply.size(quota?.usedBytes ?? 0)],
  [Attribute.rawDevice, (reply, { attributes: { device } }) => reply.u32(device.major).u32(device.minor)],
  [Attribute.spaceAvailable, (reply, { space }) => reply.size(space?.availableBytes ?? 0)],
  [Attribute.spaceFree, (reply, { space }) => reply.size(space?.freeBytes ?? 0)],
  [Attribute.spaceTotal, (reply, { space }) => reply.size(space?.totalBytes ?? 0)],
  [Attribute.spaceUsed, (reply, { attributes }) => reply.size(attributes.allocatedBytes)],
  [Attribute.accessed, time(({ accessed }) => accessed)],
  [Attribute.created, time(({ created }) => created)],
  [Attribute.timeDelta, (reply) => reply.size(0).u32(1)],
  [Attribute.changed, time(({ changed }) => changed)],
  [Attribute.modified, time(({ modified }) => modified)],
  [Attribute.mountedOnFileId, (reply, subject) => reply.size(mountedOn(subject))],
  [Attribute.supportedExclusive, (reply) => EXCLUSIVE.write(reply)],
]);

const NEEDS_SPACE = [
  Attribute.filesAvailable,
  Attribute.filesFree,
  Attribute.filesTotal,
  Attribute.spaceAvailable,
  Attribute.spaceFree,
  Attribute.spaceTotal,
];
const NEEDS_QUOTA = [Attribute.quotaAvailableHard, Attribute.quotaAvailableSoft, Attribute.quotaUsed];
/** Can be set and not read. */
const SET_ONLY = [Attribute.setAccessed, Attribute.setModified];
const SETTABLE = [Attribute.size, Attribute.acl, Attribute.mode, Attribute.owner, Attribute.ownerGroup, ...SET_ONLY];
/** An exclusive create keeps its verifier in the times. */
const EXCLUSIVE = Bitmap.of(SETTABLE.filter((number) => !SET_ONLY.some((setOnly) => setOnly === number)));

const READABLE = [...WRITERS.keys()];
const READABLE_40 = READABLE.filter((number) => number !== Attribute.supportedExclusive);
const SUPPORTED = [Bitmap.of([...READABLE_40, ...SET_ONLY]), Bitmap.of([...READABLE, ...SET_ONLY])] as const;
const READABLE_BITS = [Bitmap.of(READABLE_40), Bitmap.of(READABLE)] as const;

export function supportedAttributes(minorVersion: number): Bitmap {
  return minorVersion === 0 ? SUPPORTED[0] : SUPPORTED[1];
}

export function isSettable(number: number): boolean {
  return SETTABLE.some((settable) => settable === number);
}

export function isSetOnly(number: number): boolean {
  return SET_ONLY.some((setOnly) => setOnly === number);
}

function writeQuota(reply: XdrWriter, bytes: number | undefined): void {
  if (bytes === undefined) reply.u64(NO_LIMIT);
  else reply.size(Math.max(0, bytes));
}

/** The directory that a filesystem's root hides, if it hides one. */
function mountedOn({ context, place, attributes }: Subject): number {
  const isExported = place.kind === 'file' && place.filesystem.id === place.export?.filesystem.id;
  const [path] = place.export?.paths ?? [];
  if (!isExported || !isRoot(place) || path === undefined) return attributes.inode;
  return context.namespace.exports.byPath(path) === undefined ? attributes.inode : inodeOf(path);
}

/** Those of the wanted attributes that there are, and what has to be known for them: found out once for a listing. */
export interface Selection {
  readonly minorVersion: number;
  readonly written: Bitmap;
  readonly writers: readonly Write[];
  readonly needsOwner: boolean;
  readonly needsGroup: boolean;
  readonly needsMore: boolean;
}

export function selectAttributes(wanted: Bitmap, minorVersion: number): Selection {
  const written = wanted.and(minorVersion === 0 ? READABLE_BITS[0] : READABLE_BITS[1]);
  return {
    minorVersion,
    written,
    writers: written.numbers().flatMap((number) => WRITERS.get(number) ?? []),
    needsOwner: written.has(Attribute.owner),
    needsGroup: written.has(Attribute.ownerGroup),
    needsMore: written.hasAny([...NEEDS_SPACE, ...NEEDS_QUOTA, Attribute.acl]),
  };
}

/** Done at once if all that is needed is at hand. */
export function writeAttributes(
  reply: XdrWriter,
  context: AttributeContext,
  selection: Selection,
  place: Place,
  attributes: Attributes,
): Awaitable<void> {
  const owner = selection.needsOwner ? nameOf(context.identities, 'user', attributes.uid) : '';
  const group = selection.needsGroup ? nameOf(context.identities, 'group', attributes.gid) : '';
  if (selection.needsMore || typeof owner !== 'string' || typeof group !== 'string') {
    return writeWithMore(reply, context, selection, place, attributes);
  }
  const { minorVersion } = selection;
  const [space, quota] = [undefined, undefined];
  write(reply, selection, { context, minorVersion, place, attributes, space, quota, aces: NO_ACES, owner, group });
  return undefined;
}

async function writeWithMore(
  reply: XdrWriter,
  context: AttributeContext,
  { written, ...selection }: Selection,
  place: Place,
  attributes: Attributes,
): Promise<void> {
  const { filesystem, as, file } = place;
  const { identities } = context;
  const acl: Acl | undefined = written.has(Attribute.acl) ? await filesystem.acl(file) : undefined;
  const subject: Subject = {
    context,
    minorVersion: selection.minorVersion,
    place,
    attributes,
    space: written.hasAny(NEEDS_SPACE) ? await filesystem.space() : undefined,
    quota: written.hasAny(NEEDS_QUOTA) ? await filesystem.quota(as, file) : undefined,
    aces: acl === undefined ? [] : await acesOf(acl, attributes, identities),
    owner: selection.needsOwner ? await nameOf(identities, 'user', attributes.uid) : '',
    group: selection.needsGroup ? await nameOf(identities, 'group', attributes.gid) : '',
  };
  write(reply, { written, ...selection }, subject);
}

function write(reply: XdrWriter, { written, writers }: Selection, subject: Subject): void {
  written.write(reply);
  const start = reply.length;
  reply.u32(0);
  for (const writer of writers) writer(reply, subject);
  reply.setU32(start, reply.length - start - 4);
}

/** An entry of a listing whose attributes cannot be had, if the client wants to know of that. */
export function writeReadError(reply: XdrWriter, status: number): void {
  Bitmap.of([Attribute.readError]).write(reply);
  reply.u32(4).u32(status);
}
