import type { ByteRange } from '@granary/storage/object-store';

export type Bytes = Uint8Array | AsyncIterable<Uint8Array>;

/** An object as readers see it, however it is stored. */
export interface Whole {
  readonly size: number;
  /** As it is shown, with quotes where it is no MD5. */
  readonly etag: string;
  read(range: ByteRange): Promise<Bytes>;
}
