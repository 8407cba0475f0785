/** A line of a chart: a value for each time, null where there is none. */
export interface Line {
  readonly label: string;
  readonly values: readonly (number | null)[];
}
