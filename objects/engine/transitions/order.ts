/** A version whose bytes are to be kept under another storage policy. Plain data: it crosses threads. */
export interface MoveOrder {
  readonly bucket: number;
  readonly key: string;
  readonly sequence: number;
  /** Index of the policy. */
  readonly policy: number;
}
