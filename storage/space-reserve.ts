/** Room that is kept on a disk for changes that make room. */
export interface SpaceReserve {
  /** Some of it was given away: only changes that make room are written until it was filled again. */
  readonly isReleased: boolean;
  /** Gives a piece of it away; false when there is none left. */
  release(): boolean;
  /** The disk has so little room that what is free should go back to it. */
  isScarce(): Promise<boolean>;
}
