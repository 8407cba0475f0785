/** Sums of what was done, named as the columns that keep them. */
export interface Figures {
  puts: number;
  put_bytes: number;
  put_ms: number;
  gets: number;
  get_bytes: number;
  get_ms: number;
  deletes: number;
  delete_bytes: number;
  delete_ms: number;
}

export interface Work {
  readonly operations: number;
  readonly bytes: number;
  readonly milliseconds: number;
}

export const FIGURES = [
  'puts',
  'put_bytes',
  'put_ms',
  'gets',
  'get_bytes',
  'get_ms',
  'deletes',
  'delete_bytes',
  'delete_ms',
] as const satisfies readonly (keyof Figures)[];

export function noFigures(): Figures {
  return {
    puts: 0,
    put_bytes: 0,
    put_ms: 0,
    gets: 0,
    get_bytes: 0,
    get_ms: 0,
    deletes: 0,
    delete_bytes: 0,
    delete_ms: 0,
  };
}

export function addWork(figures: Figures, kind: 'put' | 'get' | 'delete', work: Work): void {
  figures[`${kind}s`] += work.operations;
  figures[`${kind}_bytes`] += work.bytes;
  figures[`${kind}_ms`] += work.milliseconds;
}

/** Adds a share of some figures to others. */
export function addFigures(sum: Figures, figures: Readonly<Figures>, share = 1): void {
  for (const name of FIGURES) sum[name] += figures[name] * share;
}
