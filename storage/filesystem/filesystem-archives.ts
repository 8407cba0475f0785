import { type FileId, type FileVersion, FileArchives } from './contents/file-archives.ts';
import type { ContentChanges } from './contents/content-changes.ts';
import type { Removal } from './contents/removal.ts';
import { type ArchiveRecord, readArchive, refuseLongRecord } from './files/archive-record.ts';
import type { Context } from './files/context.ts';
import { loadInode } from './files/inode.ts';
import type { Awaitable } from './store/filesystem-store.ts';

/**
 * Files whose contents were moved to an archive. Size, times and change counter stay; reading or writing one fails with
 * an `ArchivedError` until it is recalled. It can be renamed, removed and truncated to nothing without a recall.
 */
export class FilesystemArchives {
  readonly #context: Context;
  readonly #archives: FileArchives;

  constructor(context: Context, changes: ContentChanges, removal: Removal) {
    this.#context = context;
    this.#archives = new FileArchives(context, changes, removal);
  }

  /** The location of the contents; undefined if the file is not archived. */
  get(inode: number): Awaitable<ArchiveRecord | undefined> {
    const { store } = this.#context;
    return store.read(() => readArchive(store.tree, loadInode(store.tree, inode)));
  }

  /** Drops the contents, which are archived. False if the file has changed since, or is archived already. */
  async archive(version: FileVersion, record: ArchiveRecord): Promise<boolean> {
    refuseLongRecord(record);
    const isDone = await this.#archives.archive(version, record);
    await this.#context.store.commit();
    return isDone;
  }

  /**
   * Writes a part of the contents back; it is not visible before `finishRecall`. ESTALE if the file is not archived any
   * more.
   */
  async writeRecalled(file: FileId, offset: number, data: Buffer): Promise<void> {
    await this.#archives.write(file, offset, data);
  }

  /** The file is durably as it was before it was archived. All of it must have been written since the last mount. */
  async finishRecall(file: FileId): Promise<void> {
    await this.#archives.finish(file);
    await this.#context.store.commit();
  }

  /** Drops the contents written by a failed recall. */
  async abandonRecall(file: FileId): Promise<void> {
    await this.#archives.abandon(file);
  }
}
