/**
 * Records of one kind as they cross from thread to thread: the values of all of them in one list. To name the fields of
 * each again costs several times what the values do.
 */
export interface Table {
  readonly count: number;
  /** One record after the other, fields in the order of their names. */
  readonly values: readonly unknown[];
}

/** The names of all fields of `T`, checked to be all. */
export function namesOf<T extends object>(all: Readonly<Record<keyof T, true>>): readonly (keyof T)[] {
  return Object.keys(all) as (keyof T)[];
}

/** One record as a list of its values. */
export function valuesOf<T extends object>(names: readonly (keyof T)[], record: T): readonly unknown[] {
  return names.map((name) => record[name]);
}

export function tableOf<T extends object>(names: readonly (keyof T)[], records: readonly T[]): Table {
  const values: unknown[] = [];
  for (const record of records) for (const name of names) values.push(record[name]);
  return { count: records.length, values };
}

/** The record whose values begin at `from`. A field that it did not have is one that it does not have. */
export function recordOf<T extends object>(names: readonly (keyof T)[], values: readonly unknown[], from = 0): T {
  const record: Partial<T> = {};
  let at = from;
  for (const name of names) {
    const value = values[at++] as T[keyof T] | undefined;
    if (value !== undefined) record[name] = value;
  }
  return record as T;
}

export function recordsOf<T extends object>(names: readonly (keyof T)[], { count, values }: Table): T[] {
  return Array.from({ length: count }, (_, index) => recordOf(names, values, index * names.length));
}
