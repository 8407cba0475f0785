/** One line of the benchmark: what was measured, and what we hold ourselves to. */
export interface Ratio {
  readonly what: string;
  /** Undefined: it was not measured. */
  readonly value: number | undefined;
  readonly wanted: string;
  readonly met: boolean;
}

/** Neither met nor missed. */
export function notMeasured(what: string, why: string): Ratio {
  return { what, value: undefined, wanted: `not measured: ${why}`, met: false };
}

export function atLeast(what: string, value: number, goal: number): Ratio {
  // Of a baseline that answered nothing every ratio would be large enough.
  if (!Number.isFinite(value)) return notMeasured(what, 'there is nothing to compare with');
  return { what, value, wanted: `at least ${goal}`, met: value >= goal };
}

export function atMost(what: string, value: number, goal: number): Ratio {
  return { what, value, wanted: `at most ${goal}`, met: value <= goal };
}

export function below(what: string, value: number, limit: number): Ratio {
  return { what, value, wanted: `below ${limit}`, met: value < limit };
}

/** Nothing is held against it. */
export function reported(what: string, value: number): Ratio {
  return { what, value, wanted: 'no target', met: true };
}

export function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}
