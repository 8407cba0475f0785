import type { NewSnapshot, SnapshotSizes } from '../../engine/engine.ts';
import type { Work } from '../../engine/work.ts';
import { EngineError } from '../../engine/errors.ts';
import type { FileArchive, FileVersion, ListedFile } from '../../engine/shares.ts';
import { FakeSnapshotEngine } from '../../snapshots/testing/fake-engine.ts';
import { listedFile } from './listed-file.ts';

export interface FakeFile extends ListedFile {
  readonly bytes: Buffer;
}

type Files = Map<number, FakeFile>;

/** Shares that are files in memory, with what file lifecycle needs of them. */
export class FakeShareEngine extends FakeSnapshotEngine {
  readonly files = new Map<string, Files>();
  readonly bins = new Map<string, { readonly file: FakeFile; readonly atMs: number }[]>();
  readonly #frozen = new Map<string, Files>();
  readonly #recalled = new Map<string, Buffer>();
  /** How the last recall of each file ended. */
  readonly recalls = new Map<string, string>();
  /** Runs before each call of these kinds: it may change files, wait, or throw. */
  before: ((call: 'list' | 'read' | 'archive' | 'expire') => Promise<void> | void) | undefined;
  nowMs: () => number = () => 0;
  #lastInode = 9;

  add(volume: string, path: string, content: string | Buffer, changes: Partial<ListedFile> = {}): number {
    const inode = (this.#lastInode += 1);
    const bytes = Buffer.from(content);
    const file = {
      ...listedFile({ inode, path, sizeBytes: bytes.length, usedBytes: bytes.length, ...changes }),
      bytes,
    };
    this.of(volume).set(inode, file);
    return inode;
  }

  change(volume: string, inode: number, content: string): void {
    const file = this.of(volume).get(inode);
    if (!file) throw new Error(`there is no file ${inode}`);
    const bytes = Buffer.from(content);
    const { archive: _, ...rest } = file;
    const changed = { ...rest, bytes, sizeBytes: bytes.length, change: file.change + 1, isArchived: false };
    this.of(volume).set(inode, changed);
  }

  of(volume: string): Files {
    const files = this.files.get(volume) ?? new Map<number, FakeFile>();
    this.files.set(volume, files);
    return files;
  }

  paths(volume: string): string[] {
    return [...this.of(volume).values()].map(({ path }) => path);
  }

  override async takeSnapshots(wanted: readonly NewSnapshot[]): Promise<SnapshotSizes> {
    for (const { volume, snapshot } of wanted) this.#frozen.set(snapshot, new Map(this.of(volume)));
    return super.takeSnapshots(wanted);
  }

  override async deleteSnapshot(id: string): Promise<void> {
    await super.deleteSnapshot(id);
    this.#frozen.delete(id);
  }

  async listFiles(snapshot: string, afterInode: number, limit: number): Promise<readonly ListedFile[]> {
    await this.before?.('list');
    const files = this.#frozen.get(snapshot);
    if (!files) throw new EngineError('not-found', `There is no snapshot ${snapshot}.`);
    const after = [...files.values()].filter(({ inode }) => inode > afterInode);
    return after.slice(0, limit).map(({ bytes: _, ...file }) => file);
  }

  async readFile(volume: string, version: FileVersion, offset: number, length: number): Promise<Uint8Array> {
    await this.before?.('read');
    const file = this.#version(volume, version);
    if (!file) throw new EngineError('conflict', 'It is another version by now.');
    return file.bytes.subarray(offset, offset + length);
  }

  async archiveFile(volume: string, version: FileVersion, archive: FileArchive): Promise<boolean> {
    await this.before?.('archive');
    const file = this.#version(volume, version);
    if (!file || file.isArchived) return false;
    this.of(volume).set(file.inode, { ...file, bytes: Buffer.alloc(0), usedBytes: 0, isArchived: true, archive });
    return true;
  }

  async expireFile(volume: string, version: FileVersion, toBin: boolean): Promise<boolean> {
    await this.before?.('expire');
    const file = this.#version(volume, version);
    if (!file) return false;
    this.of(volume).delete(file.inode);
    if (toBin) this.bins.set(volume, [...(this.bins.get(volume) ?? []), { file, atMs: this.nowMs() }]);
    return true;
  }

  async purgeBin(volume: string, beforeMs: number, _work: Work): Promise<number> {
    const bin = this.bins.get(volume) ?? [];
    const kept = bin.filter(({ atMs }) => atMs >= beforeMs);
    this.bins.set(volume, kept);
    return bin.length - kept.length;
  }

  async writeRecall(
    volume: string,
    inode: number,
    _generation: number,
    offset: number,
    bytes: Uint8Array,
  ): Promise<void> {
    const id = `${volume}/${inode}`;
    const size = this.of(volume).get(inode)?.sizeBytes ?? 0;
    const whole = this.#recalled.get(id) ?? Buffer.alloc(size);
    whole.set(bytes, offset);
    this.#recalled.set(id, whole);
  }

  async finishRecall(volume: string, inode: number, _generation: number, failure?: string): Promise<void> {
    const id = `${volume}/${inode}`;
    const file = this.of(volume).get(inode);
    if (file && failure === undefined) {
      const { archive: _, ...rest } = file;
      this.of(volume).set(inode, { ...rest, isArchived: false, bytes: this.#recalled.get(id) ?? Buffer.alloc(0) });
    }
    this.#recalled.delete(id);
    this.recalls.set(id, failure ?? 'done');
  }

  #version(volume: string, { inode, generation, change }: FileVersion): FakeFile | undefined {
    const file = this.of(volume).get(inode);
    return file?.generation === generation && file.change === change ? file : undefined;
  }
}
