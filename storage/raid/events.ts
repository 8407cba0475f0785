/** Events of a group, for its owner. */
export type GroupEvent =
  | { readonly type: 'drive-failed'; readonly slot: number; readonly driveId: string; readonly reason: string }
  | { readonly type: 'drive-returned'; readonly slot: number; readonly driveId: string }
  | { readonly type: 'drive-ignored'; readonly driveId: string; readonly reason: string }
  | { readonly type: 'spare-taken'; readonly slot: number; readonly driveId: string }
  | { readonly type: 'spare-failed'; readonly driveId: string; readonly reason: string }
  | { readonly type: 'rebuild-started'; readonly slot: number; readonly driveId: string }
  | { readonly type: 'rebuild-finished'; readonly slot: number; readonly driveId: string }
  | { readonly type: 'resync-started'; readonly regions: number }
  | { readonly type: 'resync-finished' }
  | { readonly type: 'block-repaired'; readonly slot: number; readonly driveId: string; readonly row: number }
  | { readonly type: 'checksums-rejected'; readonly slot: number; readonly driveId: string; readonly region: number }
  | { readonly type: 'no-space'; readonly work: 'rebuild' | 'resync' | 'scrub' | 'spare'; readonly reason: string }
  | { readonly type: 'block-lost'; readonly row: number }
  | { readonly type: 'group-failed'; readonly missing: readonly string[] }
  | { readonly type: 'group-resumed' };

export type OnGroupEvent = (event: GroupEvent) => void;
