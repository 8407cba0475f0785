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

export function tableOf<T extends object>(names: readonly (keyof T)[], records: readonly T[]): Table {
  const values: unknown[] = [];
  for (const record of records) for (const name of names) values.push(record[name]);
  return { count: records.length, values };
}

/** A field that a record did not have is one that it does not have. */
export function recordsOf<T extends object>(names: readonly (keyof T)[], { count, values }: Table): T[] {
  let at = 0;
  return Array.from({ length: count }, () => {
    const record: Partial<T> = {};
    for (const name of names) {
      const value = values[at++] as T[keyof T] | undefined;
      if (value !== undefined) record[name] = value;
    }
    return record as T;
  });
}
