import type { Attributes, Filesystem, ListedInode } from '@granary/storage/filesystem';
import type { Work } from '../../work.ts';
import { EngineError } from '../../errors.ts';
import type { FileArchive, FileVersion, ListedFile, ShareEngine } from '../../shares.ts';
import { translateErrors } from '../refused.ts';
import type { RunningWorks } from '../running-works.ts';
import type { SnapshotMounts } from './snapshot-mounts.ts';
import { isFsError, SUPERUSER } from './files/paths.ts';
import type { ArchivedContents } from './files/archived-contents.ts';
import type { ShareRecalls } from './files/recalls.ts';
import { expire, purge } from './files/recycle-bin.ts';
import { restore } from './files/restore.ts';

const READ_BYTES_MAX = 16 * 1024 * 1024;
/** All of them are found without a pause, in which no client is answered. */
const LISTED_MAX = 250;

type FileEngine = Pick<
  ShareEngine,
  | 'listFiles'
  | 'readFile'
  | 'archiveFile'
  | 'writeRecall'
  | 'finishRecall'
  | 'giveContents'
  | 'expireFile'
  | 'purgeBin'
  | 'restoreFile'
>;

interface ShareFilesParts {
  /** Throws if the share cannot be used now. */
  readonly filesystem: (volume: string) => Filesystem;
  readonly snapshots: SnapshotMounts;
  readonly recalls: ShareRecalls;
  readonly archived: ArchivedContents;
  readonly works: RunningWorks;
}

/** What the array does with single files of its shares. */
export class EngineShareFiles implements FileEngine {
  readonly #parts: ShareFilesParts;

  constructor(parts: ShareFilesParts) {
    this.#parts = parts;
  }

  listFiles(snapshot: string, afterInode: number, limit: number): Promise<readonly ListedFile[]> {
    return translateErrors(() =>
      this.#parts.snapshots.use(snapshot, async (filesystem) => {
        const files: ListedFile[] = [];
        for (const one of await filesystem.listInodes(afterInode, Math.min(limit, LISTED_MAX))) {
          const { inode, isArchived } = one.attributes;
          const archive = isArchived ? await filesystem.archives.get(inode) : undefined;
          files.push(archive === undefined ? listed(one) : { ...listed(one), archive });
        }
        return files;
      }),
    );
  }

  readFile(volume: string, file: FileVersion, offset: number, length: number): Promise<Uint8Array> {
    return translateErrors(async () => {
      if (length > READ_BYTES_MAX) throw new EngineError('invalid', `${length} bytes are too many for one read.`);
      const filesystem = this.#parts.filesystem(volume);
      const into = Buffer.alloc(length);
      const { bytes } = await filesystem.read(SUPERUSER, file.inode, offset, into, { isOpen: true });
      // Afterwards: what was read before is of this version, too.
      const { change } = await filesystem.attributes(file.inode, file.generation);
      if (change !== file.change) throw new EngineError('conflict', `File ${file.inode} has changed; list it again.`);
      return into.subarray(0, bytes);
    });
  }

  archiveFile(volume: string, file: FileVersion, archive: FileArchive): Promise<boolean> {
    return translateErrors(async () => {
      const { archives } = this.#parts.filesystem(volume);
      if (await archives.archive(file, archive)) return true;
      // Asked again after its controller failed, it may be done.
      const present = await archiveOf(archives, file.inode);
      return present?.key === archive.key && present.destination === archive.destination;
    });
  }

  writeRecall(volume: string, inode: number, generation: number, offset: number, bytes: Uint8Array): Promise<void> {
    return translateErrors(() => {
      const data = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
      return this.#parts.filesystem(volume).archives.writeRecalled({ inode, generation }, offset, data);
    });
  }

  finishRecall(volume: string, inode: number, generation: number, failure?: string): Promise<void> {
    return translateErrors(async () => {
      const { archives } = this.#parts.filesystem(volume);
      try {
        if (failure === undefined) await archives.finishRecall({ inode, generation });
        else await archives.abandonRecall({ inode, generation });
      } catch (error) {
        this.#parts.recalls.finished(volume, inode, generation, 'its contents could not be brought back');
        throw error;
      }
      this.#parts.recalls.finished(volume, inode, generation, failure);
    });
  }

  giveContents(archive: FileArchive, offset: number, bytes: Uint8Array | null, failure: string): Promise<void> {
    return translateErrors(() => this.#parts.archived.given(archive, offset, bytes, failure));
  }

  expireFile(volume: string, file: FileVersion, toBin: boolean): Promise<boolean> {
    return translateErrors(() => expire(this.#parts.filesystem(volume), file, toBin, Date.now()));
  }

  purgeBin(volume: string, beforeMs: number, work: Work): Promise<number> {
    return this.#parts.works.run(work.signal, (signal) =>
      purge(this.#parts.filesystem(volume), beforeMs, { ...work, signal }),
    );
  }

  restoreFile(volume: string, snapshot: string, path: string, toPath: string, work: Work): Promise<void> {
    return this.#parts.works.run(work.signal, (signal) =>
      this.#parts.snapshots.use(snapshot, (source) => {
        const from = { volume, filesystem: source, archived: this.#parts.archived };
        return restore(from, this.#parts.filesystem(volume), path, toPath, { ...work, signal });
      }),
    );
  }
}

/** Undefined of a file that is gone, too. */
async function archiveOf(archives: Filesystem['archives'], inode: number): Promise<FileArchive | undefined> {
  try {
    return await archives.get(inode);
  } catch (error) {
    if (isFsError(error, 'ESTALE')) return undefined;
    throw error;
  }
}

function listed({ attributes, path }: ListedInode): ListedFile {
  const { inode, generation, change, size, usedBytes, uid, gid, isArchived } = attributes;
  return {
    ...{ inode, generation, change, uid, gid, isArchived, usedBytes },
    path: path.toString(),
    sizeBytes: size,
    accessedAt: millisecondsOf(attributes.accessed),
    modifiedAt: millisecondsOf(attributes.modified),
    changedAt: millisecondsOf(attributes.changed),
    createdAt: millisecondsOf(attributes.born),
  };
}

function millisecondsOf({ seconds, nanoseconds }: Attributes['accessed']): number {
  return seconds * 1000 + Math.floor(nanoseconds / 1e6);
}
