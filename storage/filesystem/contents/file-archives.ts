import { BLOCK_BYTES } from '../../units.ts';
import { FsError } from '../errors.ts';
import { archiveIdentity, type ArchiveRecord, dropArchive, putArchive } from '../files/archive-record.ts';
import { type Context, withSpace } from '../files/context.ts';
import { decode, type Inode, saveInode } from '../files/inode.ts';
import { KIND, OWN_INODE } from '../store/layout.ts';
import type { Reader, Transaction } from '../store/transaction.ts';
import { type BlockWrite, writeBlocks } from './block-writer.ts';
import { type ContentChanges, loadFile } from './content-changes.ts';
import { segmentsOf } from './extents.ts';
import type { Removal } from './removal.ts';
import { WrittenRanges } from './written-ranges.ts';

/** Identifies a file during its lifetime. */
export interface FileId {
  readonly inode: number;
  readonly generation: number;
}

/** A file at a point in time. */
export interface FileVersion extends FileId {
  readonly change: number;
}

interface Recall {
  readonly identity: Buffer;
  readonly written: WrittenRanges;
}

/**
 * Files whose contents were moved to an archive. The size, the times and the change counter stay, so clients see no
 * change. Recalled contents go to blocks of the file, hidden behind the archive mark until they are complete; the
 * transaction that removes the mark shows them. Until then the file is recorded as to be truncated, so that the next
 * mount frees the blocks of an interrupted recall.
 */
export class FileArchives {
  readonly #context: Context;
  readonly #changes: ContentChanges;
  readonly #removal: Removal;
  readonly #recalls = new Map<number, Recall>();

  constructor(context: Context, changes: ContentChanges, removal: Removal) {
    this.#context = context;
    this.#changes = changes;
    this.#removal = removal;
  }

  async archive({ inode, generation, change }: FileVersion, record: ArchiveRecord): Promise<boolean> {
    return this.#changes.changing(inode, 0, Infinity, async () => {
      const outcome = await this.#context.store.change((transaction) => {
        const current = findFile(transaction, inode);
        const isSame = current?.generation === generation && current.change === change;
        if (current === undefined || !isSame || current.isArchived) return 'refused';
        if (current.isInline) this.#changes.resizeInline(transaction, current, 0);
        putArchive(transaction, current, record);
        const isDone = this.#removal.truncate(transaction, current, 0);
        saveInode(transaction, current);
        return isDone ? 'done' : 'begun';
      });
      if (outcome === 'begun') await this.#removal.finishTruncation(inode, 0);
      return outcome !== 'refused';
    });
  }

  /** Writes a part of the contents; it is not visible before `finish`. */
  async write(file: FileId, offset: number, data: Buffer): Promise<void> {
    if (data.length === 0) return;
    const end = offset + data.length;
    await withSpace(this.#context, () =>
      this.#changes.changing(file.inode, Math.floor(offset / BLOCK_BYTES), Math.ceil(end / BLOCK_BYTES), async () => {
        const { recall, plan } = await this.#context.store.read(() => this.#plan(file, offset, data));
        const isHole = plan.segments.every(({ start }) => start === undefined) && isZeros(data);
        if (!isHole) await this.#write(plan);
        recall.written.add(offset, end);
      }),
    );
  }

  /** Makes the contents visible; they have to be complete. */
  async finish(file: FileId): Promise<void> {
    await this.#changes.changing(file.inode, 0, Infinity, async () => {
      await this.#context.store.change((transaction) => {
        const current = loadFile(transaction, file.inode);
        const { written } = this.#recallOf(transaction, current, file);
        if (!written.covers(current.size)) {
          throw new FsError('EINVAL', `Not all of inode ${file.inode} was recalled; write the rest of it first.`);
        }
        transaction.namesData();
        dropArchive(transaction, current);
        transaction.delete(OWN_INODE, KIND.truncation, file.inode);
        saveInode(transaction, current);
      });
      this.#recalls.delete(file.inode);
    });
  }

  /** Drops the recalled contents; the file stays archived. */
  async abandon({ inode, generation }: FileId): Promise<void> {
    await this.#changes.changing(inode, 0, Infinity, async () => {
      this.#recalls.delete(inode);
      const { tree } = this.#context.store;
      const current = await this.#context.store.read(() => findFile(tree, inode));
      if (current?.generation !== generation || !current.isArchived) return;
      await this.#removal.finishTruncation(inode, 0);
    });
  }

  #plan(file: FileId, offset: number, data: Buffer): { recall: Recall; plan: BlockWrite } {
    const { tree } = this.#context.store;
    const inode = loadFile(tree, file.inode);
    const recall = this.#recallOf(tree, inode, file);
    const end = offset + data.length;
    if (end > inode.size) throw new FsError('EINVAL', `Inode ${file.inode} has ${inode.size} bytes, not ${end}.`);
    const segments = segmentsOf(tree, file.inode, Math.floor(offset / BLOCK_BYTES), Math.ceil(end / BLOCK_BYTES));
    this.#changes.requireBlocks(inode, segments);
    return { recall, plan: { inode, segments, offset, data } };
  }

  async #write(plan: BlockWrite): Promise<void> {
    await writeBlocks(this.#context, this.#changes, plan, (transaction, current) => {
      this.#removal.putTruncation(transaction, current.inode, 0);
      saveInode(transaction, current);
    });
  }

  /** The recall in progress, or a new one. Contents recalled for another version of the file are unusable. */
  #recallOf(reader: Reader, inode: Inode, { generation }: FileId): Recall {
    const identity = archiveIdentity(reader, inode);
    if (identity === undefined || inode.generation !== generation) {
      this.#recalls.delete(inode.inode);
      throw new FsError('ESTALE', `Inode ${inode.inode} is not archived any more.`);
    }
    const known = this.#recalls.get(inode.inode);
    if (known?.identity.equals(identity) === true) return known;
    const recall = { identity, written: new WrittenRanges() };
    this.#recalls.set(inode.inode, recall);
    return recall;
  }
}

function findFile(reader: Reader | Transaction, number: number): Inode | undefined {
  const bytes = reader.get(number, KIND.attributes, 0);
  const inode = bytes && decode(number, bytes);
  return inode?.type === 'file' ? inode : undefined;
}

function isZeros(data: Buffer): boolean {
  return data[0] === 0 && data.subarray(1).equals(data.subarray(0, -1));
}
