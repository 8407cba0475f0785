import type { FileArchive } from './shares.ts';

/** What happens in an engine by itself, or by its hardware. Names as in `Engine`. */
export type EngineEvent =
  | { readonly type: 'drive-failed'; readonly drive: string; readonly group: string | null; readonly reason: string }
  | { readonly type: 'drive-returned'; readonly drive: string; readonly group: string }
  | { readonly type: 'spare-taken'; readonly drive: string; readonly group: string }
  | { readonly type: 'spare-failed'; readonly drive: string; readonly group: string; readonly reason: string }
  | { readonly type: 'rebuild-started'; readonly drive: string; readonly group: string }
  | { readonly type: 'rebuild-finished'; readonly drive: string; readonly group: string }
  | { readonly type: 'resync-started'; readonly group: string }
  | { readonly type: 'resync-finished'; readonly group: string }
  | { readonly type: 'blocks-repaired'; readonly drive: string; readonly group: string; readonly count: number }
  | { readonly type: 'checksums-rejected'; readonly drive: string; readonly group: string; readonly count: number }
  | { readonly type: 'blocks-lost'; readonly group: string; readonly count: number }
  | { readonly type: 'no-space'; readonly group: string; readonly reason: string }
  | { readonly type: 'group-failed'; readonly group: string; readonly drives: readonly string[] }
  | { readonly type: 'group-resumed'; readonly group: string }
  | { readonly type: 'background-error'; readonly pool: string; readonly reason: string }
  /** What it held when compression or deduplication was switched on is reduced as well. */
  | { readonly type: 'volume-reduced'; readonly volume: string }
  | { readonly type: 'session-opened'; readonly server: string; readonly initiator: string; readonly address: string }
  | { readonly type: 'session-closed'; readonly server: string; readonly initiator: string; readonly reason: string }
  | { readonly type: 'login-refused'; readonly initiator: string; readonly address: string; readonly reason: string }
  /** A client reads an archived file: its data is to be brought back by `writeRecall` and `finishRecall`. */
  | {
      readonly type: 'recall-wanted';
      readonly volume: string;
      readonly inode: number;
      readonly generation: number;
      readonly sizeBytes: number;
      readonly archive: FileArchive;
    }
  /** A client reads an archived file in a snapshot: a part of the object that holds it is to be given by `giveContents`. */
  | {
      readonly type: 'contents-wanted';
      readonly volume: string;
      readonly archive: FileArchive;
      /** Of the whole object. */
      readonly sizeBytes: number;
      readonly offset: number;
      readonly length: number;
    }
  | { readonly type: 'audit-space-reclaimed'; readonly volume: string; readonly untilMs: number }
  | { readonly type: 'controller-active'; readonly controller: string; readonly reason: string }
  | { readonly type: 'controller-failed'; readonly controller: string; readonly reason: string };
