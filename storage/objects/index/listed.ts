import type { SQLOutputValue } from 'node:sqlite';
import type { ListedObject, ObjectAttributes } from '../records.ts';

/**
 * What is read for a listing, and no more: a page has a thousand rows, and every column of each costs. Bytes cost most,
 * as they would be memory of their own.
 */
export const LISTED_VALUES = 'key, size, etag, modified_at, attributes';

/** The values of `LISTED_VALUES`. */
export type ListedValues = readonly SQLOutputValue[];

export function listedKey(values: ListedValues): string {
  return values[0] as string;
}

export function listedObjects(rows: readonly ListedValues[]): ListedObject[] {
  let text: string | null = null;
  let attributes: ObjectAttributes = {};
  return rows.map((values) => {
    const own = values[4] as string | null;
    // Neighbours mostly have the same.
    if (own !== text) attributes = own === null ? {} : (JSON.parse(own) as ObjectAttributes);
    text = own;
    return {
      key: values[0] as string,
      size: values[1] as number,
      etag: values[2] as string,
      modifiedAt: values[3] as number,
      attributes,
    };
  });
}
