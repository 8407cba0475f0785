/** What a stopped engine keeps, and whether it is sound. */
export interface EngineCheck {
  readonly drives: readonly { readonly number: number; readonly uuid: string; readonly isThere: boolean }[];
  readonly pieces: {
    readonly blobs: number;
    readonly pieces: number;
    readonly missing: number;
    readonly damaged: number;
  };
  /** Partitions that wait for repair. */
  readonly marked: number;
  readonly segments: number;
  readonly liveBytes: number;
  /** Bytes in segments that no object uses. */
  readonly deadBytes: number;
  /** What must hold and does not, the first thousand. */
  readonly problems: readonly { readonly kind: string; readonly what: string }[];
  readonly problemCount: number;
}
