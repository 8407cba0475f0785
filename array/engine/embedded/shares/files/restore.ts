import { createHash } from 'node:crypto';
import type { Attributes, Filesystem } from '@granary/storage/filesystem';
import { fileErrorCode } from '@granary/protocols/nfs';
import type { Work } from '../../../work.ts';
import { EngineError } from '../../../errors.ts';
import type { ArchivedContents } from './archived-contents.ts';
import { findPath, isFsError, lookup, makePlace, namesOf, SUPERUSER } from './paths.ts';

const PIECE_BYTES = 1024 * 1024;
const OPEN = { isOpen: true } as const;

interface RestoreSource {
  readonly volume: string;
  /** The snapshot. */
  readonly filesystem: Filesystem;
  readonly archived: ArchivedContents;
}

/**
 * Copies a file of a snapshot to a path of the share. It takes the place of what is there in one step, when it is complete;
 * what an interrupted copy leaves is taken over by the next one.
 */
export async function restore(
  from: RestoreSource,
  share: Filesystem,
  path: string,
  toPath: string,
  work: Work,
): Promise<void> {
  const { filesystem: snapshot } = from;
  const source = await findPath(snapshot, path);
  if (source.type !== 'file') throw new EngineError('invalid', `${path} is no file in the snapshot.`);
  const { directory, name } = await makePlace(share, toPath, (parent, one, depth) =>
    makeDirectory(snapshot, share, parent, one, namesOf(path).slice(0, depth + 1)),
  );
  const there = await lookup(share, directory, name);
  if (there?.type === 'directory') throw new EngineError('invalid', `${toPath} is a directory.`);
  const temporary = temporaryName(toPath);
  if (await lookup(share, directory, temporary)) await share.unlink(SUPERUSER, directory.inode, temporary);
  const { mode, uid, gid } = source;
  const made = await share.create(SUPERUSER, directory.inode, temporary, { type: 'file', mode: mode & 0o777 });
  try {
    await copyContents(await readerOf(from, source, work), share, source, made.inode, work);
    await copyXattrs(snapshot, share, source.inode, made.inode);
    await share.setAttributes(SUPERUSER, made.inode, { uid, gid });
    const { accessed, modified } = source;
    await share.setAttributes(SUPERUSER, made.inode, { mode, accessed, modified });
    await share.rename(
      SUPERUSER,
      { directory: directory.inode, name: temporary },
      { directory: directory.inode, name },
    );
  } catch (error) {
    await share.unlink(SUPERUSER, directory.inode, temporary).catch(() => undefined);
    throw error;
  }
}

type Read = (offset: number, into: Buffer) => Promise<number>;

/** From the object that holds it, if it was archived when the snapshot was taken. */
async function readerOf(
  { volume, filesystem, archived }: RestoreSource,
  { inode, size: sizeBytes }: Attributes,
  work: Work,
): Promise<Read> {
  const archive = await filesystem.archives.get(inode);
  if (!archive) return async (offset, into) => (await filesystem.read(SUPERUSER, inode, offset, into, OPEN)).bytes;
  return async (offset, into) => {
    for (;;) {
      refuseCancelled(work);
      try {
        return await archived.read({ volume, archive, sizeBytes }, offset, into);
      } catch (error) {
        // No client waits for an answer here, so there is no timeout.
        if (fileErrorCode(error) === 'EAGAIN') continue;
        throw new EngineError('failed', `What was archived cannot be read: ${reasonOf(error)}.`);
      }
    }
  };
}

function reasonOf(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).replace(/\.$/, '');
}

function refuseCancelled({ signal }: Work): void {
  if (signal?.aborted === true) throw new EngineError('cancelled', 'It was cancelled.');
}

async function copyContents(read: Read, share: Filesystem, source: Attributes, to: number, work: Work): Promise<void> {
  const piece = Buffer.alloc(PIECE_BYTES);
  for (let offset = 0; offset < source.size; offset += PIECE_BYTES) {
    refuseCancelled(work);
    const bytes = await read(offset, piece);
    const data = piece.subarray(0, bytes);
    // Holes stay holes.
    if (!isZeros(data)) await share.write(SUPERUSER, to, offset, data, OPEN);
    work.onProgress?.(Math.min(1, (offset + bytes) / source.size));
  }
  await share.setAttributes(SUPERUSER, to, { size: source.size }, OPEN);
}

async function copyXattrs(snapshot: Filesystem, share: Filesystem, from: number, to: number): Promise<void> {
  for (const name of await snapshot.xattrs.list(SUPERUSER, from)) {
    await share.xattrs.set(SUPERUSER, to, name, await snapshot.xattrs.get(SUPERUSER, from, name));
  }
}

/** With the owner and mode it had, where the snapshot has it at the same place. */
async function makeDirectory(
  snapshot: Filesystem,
  share: Filesystem,
  parent: Attributes,
  name: Buffer,
  path: readonly Buffer[],
): Promise<Attributes> {
  const { mode, uid, gid } = await sameOf(snapshot, path, parent);
  const made = await share.create(SUPERUSER, parent.inode, name, { type: 'directory', mode });
  return share.setAttributes(SUPERUSER, made.inode, { uid, gid });
}

async function sameOf(snapshot: Filesystem, path: readonly Buffer[], otherwise: Attributes): Promise<Attributes> {
  try {
    let found = await snapshot.attributes(snapshot.root);
    for (const name of path) found = await snapshot.lookup(SUPERUSER, found.inode, name);
    return found.type === 'directory' ? found : otherwise;
  } catch (error) {
    if (isFsError(error, 'ENOENT', 'ENOTDIR')) return otherwise;
    throw error;
  }
}

function temporaryName(path: string): Buffer {
  return Buffer.from(`.restoring-${createHash('sha256').update(path).digest('hex').slice(0, 16)}`);
}

function isZeros(data: Buffer): boolean {
  return data.length > 0 && data[0] === 0 && data.subarray(1).equals(data.subarray(0, -1));
}
