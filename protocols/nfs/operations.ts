/** What versions 3 and 4 do in the same way. */
import {
  Access,
  FileError,
  fileErrorCode,
  type AttributeChanges,
  type Attributes,
  type Created,
  type Timestamp,
} from './filesystem.ts';
import type { LockedFile } from '../locks/index.ts';
import type { Place } from './namespace/namespace.ts';

const DOT = Buffer.from('.');
const DOT_DOT = Buffer.from('..');
const SLASH = 0x2f;

export function isDot(name: Buffer): boolean {
  return name.equals(DOT);
}

export function isDotDot(name: Buffer): boolean {
  return name.equals(DOT_DOT);
}

export function mustBeWritable(place: Place): void {
  if (!place.access.readOnly) return;
  place.filesystem.refused?.(place.as, place.file, 'write', 'EROFS');
  throw new FileError('EROFS', 'the export is read-only');
}

/** The error to throw where the filesystem would allow it or was not asked. */
export function refused({ filesystem, as, file }: Place, wanted: 'read' | 'write', message?: string): FileError {
  filesystem.refused?.(as, file, wanted, 'EACCES');
  return new FileError('EACCES', message);
}

/** Any bytes but a slash and a zero, and not too many. */
export function checkName(place: Place, name: Buffer): void {
  if (name.length === 0 || name.includes(SLASH) || name.includes(0)) throw new FileError('EINVAL', 'not a name');
  if (name.length > place.filesystem.limits.nameBytesMax) throw new FileError('ENAMETOOLONG');
}

/** A name that is made or removed. */
export function checkNewName(place: Place, name: Buffer): void {
  checkName(place, name);
  if (isDot(name) || isDotDot(name)) throw new FileError('EEXIST');
}

export function checkOldName(place: Place, name: Buffer): void {
  checkName(place, name);
  if (isDot(name) || isDotDot(name)) throw new FileError('EINVAL', '. and .. cannot be removed or renamed');
}

export function mustBeSameFilesystem(a: Place, b: Place): void {
  if (a.filesystem.id !== b.filesystem.id || a.kind !== b.kind) throw new FileError('EXDEV');
}

export function mustBeFile({ type }: Attributes): void {
  if (type === 'directory') throw new FileError('EISDIR');
  if (type !== 'file') throw new FileError('EINVAL', 'not a regular file');
}

/**
 * A program checks at open and goes on reading after a chmod; without opens we cannot tell, so the owner always may. A
 * client that runs a program reads it, so permission to execute is enough to read.
 */
export async function mustAllowData(place: Place, attributes: Attributes, wanted: 'read' | 'write'): Promise<void> {
  if (attributes.uid === place.as.uid) return;
  const granted = await place.filesystem.access(place.as, place.file);
  const enough = wanted === 'read' ? Access.read | Access.execute : Access.write;
  if ((granted & enough) === 0) throw refused(place, wanted);
}

export function checkRange({ filesystem }: Place, offset: number, length: number): void {
  if (offset + length > filesystem.limits.fileBytesMax) throw new FileError('EFBIG');
}

export function lockedFile({ filesystem, file }: Place): LockedFile {
  return { filesystemId: filesystem.id, inode: file.inode, generation: file.generation };
}

/**
 * An exclusive create is recognised when it comes again by its verifier, which stands in the file's times until the
 * client sets them: so it is as durable as the file itself.
 */
function verifierTimes(verifier: Buffer): { accessed: Timestamp; modified: Timestamp } {
  const half = (at: number) => ({ seconds: verifier.readUInt32BE(at) & 0x7fff_ffff, nanoseconds: verifier[at] ?? 0 });
  return { accessed: half(0), modified: half(4) };
}

export async function createExclusive(
  place: Place,
  name: Buffer,
  verifier: Buffer,
  attributes: AttributeChanges,
): Promise<Created> {
  const { filesystem, as, file } = place;
  const times = verifierTimes(verifier);
  try {
    return await filesystem.create(as, file, name, { type: 'file' }, { ...attributes, ...times });
  } catch (error) {
    if (fileErrorCode(error) !== 'EEXIST') throw error;
    const existing = await filesystem.lookup(as, file, name);
    const isSame = sameTime(existing.accessed, times.accessed) && sameTime(existing.modified, times.modified);
    if (!isSame || existing.type !== 'file') throw error;
    const directory = await filesystem.attributes(file);
    return { attributes: existing, directory: { before: directory, after: directory } };
  }
}

function sameTime(a: Timestamp, b: Timestamp): boolean {
  return a.seconds === b.seconds && a.nanoseconds === b.nanoseconds;
}
