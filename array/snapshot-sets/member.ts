/** A volume in a set, with what is still there of it. */
export interface SetMember {
  readonly volume: string;
  readonly snapshot: string | null;
  readonly clone: string | null;
}
