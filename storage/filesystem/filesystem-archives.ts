import { type FileId, type FileVersion, FileArchives } from './contents/file-archives.ts';
import type { ContentChanges } from './contents/content-changes.ts';
import type { Removal } from './contents/removal.ts';
import { type ArchiveRecord, readArchive, refuseLongRecord } from './files/archive-record.ts';
import type { Context } from './files/context.ts';
import { loadInode } from './files/inode.ts';
import type { Awaitable } from './store/filesystem-store.ts';

/**
 * Files whose contents were moved to an archive. Size, times and change counter are as before; reading or writing one is
 * refused with an `ArchivedError` until it was recalled. It can be renamed, removed and cut off to nothing without.
 */
export class FilesystemArchives {
  readonly #context: Context;
  readonly #archives: FileArchives;

  constructor(context: Context, changes: ContentChanges, removal: Removal) {
    this.#context = context;
    this.#archives = new FileArchives(context, changes, removal);
  }

  /** Where the contents are; undefined if the file is not archived. */
  get(inode: number): Awaitable<ArchiveRecord | undefined> {
    const { store } = this.#context;
    return store.read(() => readArchive(store.tree, loadInode(store.tree, inode)));
  }

  /** Drops the contents, which are elsewhere now. False if it is another version of the file by now, or archived already. */
  async archive(version: FileVersion, record: ArchiveRecord): Promise<boolean> {
    refuseLongRecord(record);
    const isDone = await this.#archives.archive(version, record);
    await this.#context.store.commit();
    return isDone;
  }

  /** Writes a part of the contents back; nobody sees it before `finishRecall`. ESTALE if it is not archived any more. */
  async writeRecalled(file: FileId, offset: number, data: Buffer): Promise<void> {
    await this.#archives.write(file, offset, data);
  }

  /** The file is as it was before it was archived, durably. All of it was written since the last mount. */
  async finishRecall(file: FileId): Promise<void> {
    await this.#archives.finish(file);
    await this.#context.store.commit();
  }

  /** A recall that failed: drops what was written of it. */
  async abandonRecall(file: FileId): Promise<void> {
    await this.#archives.abandon(file);
  }
}
