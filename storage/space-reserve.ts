/** Disk space reserved for changes that free space. */
export interface SpaceReserve {
  /** Part of it was released: only changes that free space are written until it is filled again. */
  readonly isReleased: boolean;
  /** Releases a piece of it; false when there is none left. */
  release(): boolean;
  /** The disk has so little free space that unused extents should be deallocated. */
  isScarce(): Promise<boolean>;
}
