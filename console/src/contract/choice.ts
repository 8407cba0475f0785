/** One of the values that a field may have, in words. */
export interface Choice {
  readonly value: string;
  readonly label: string;
}
