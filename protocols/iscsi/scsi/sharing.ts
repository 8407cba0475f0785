/** What reservations have to do with a command (SPC-4 table 67, SBC-3 table 13). */
export type Sharing =
  /** Allowed whatever is reserved. */
  | 'free'
  /** Refused to others by exclusive access. */
  | 'read'
  /** Refused to others by every reservation. */
  | 'write';
