/** One line of the benchmark: what was measured, and what we hold ourselves to. */
export interface Ratio {
  readonly what: string;
  readonly value: number;
  readonly wanted: string;
  readonly met: boolean;
}

export function atLeast(what: string, value: number, goal: number): Ratio {
  return { what, value, wanted: `at least ${goal}`, met: value >= goal };
}

export function atMost(what: string, value: number, goal: number): Ratio {
  return { what, value, wanted: `at most ${goal}`, met: value <= goal };
}

export function below(what: string, value: number, limit: number): Ratio {
  return { what, value, wanted: `below ${limit}`, met: value < limit };
}

/** Nothing is held against it. */
export function told(what: string, value: number): Ratio {
  return { what, value, wanted: 'told only', met: true };
}

export function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}
