/** A line of the palette. */
export interface Found {
  readonly key: string;
  readonly name: string;
  readonly detail: string;
  /** Where it is; absent: `run` does it here. */
  readonly to?: string;
  readonly search?: Readonly<Record<string, string>>;
  readonly run?: () => void;
  /** A service found it; absent of pages and actions, which are known here. */
  readonly isThing?: true;
}
