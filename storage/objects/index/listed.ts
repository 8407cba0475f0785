import type { SQLOutputValue } from 'node:sqlite';
import type { ListedObject, ObjectAttributes } from '../records.ts';

/** Stands for attributes that are the usual ones: to make a text of each row's is a quarter of reading a page. */
const USUAL = 0;

/**
 * What is read for a listing, and no more: a page has a thousand rows, and every column of each costs. Bytes cost most,
 * as they would be memory of their own. `?` is the text of the usual attributes.
 */
export const LISTED_VALUES = `key, size, etag, modified_at, iif(attributes IS ?, ${USUAL}, attributes)`;

/** The values of `LISTED_VALUES`. */
export type ListedValues = readonly SQLOutputValue[];

export function listedKey(values: ListedValues): string {
  return values[0] as string;
}

/** Makes objects of rows. What is listed together mostly has the same attributes: those seen last are the usual ones. */
export class ListedRows {
  #usual: string | null = null;
  #attributes: ObjectAttributes = {};

  /** To be given to the query whose rows `objects` gets. */
  get usual(): string | null {
    return this.#usual;
  }

  objects(rows: readonly ListedValues[]): ListedObject[] {
    const usual = this.#attributes;
    return rows.map((values) => ({
      key: values[0] as string,
      size: values[1] as number,
      etag: values[2] as string,
      modifiedAt: values[3] as number,
      attributes: values[4] === USUAL ? usual : this.#attributesOf(values[4] as string | null),
    }));
  }

  #attributesOf(text: string | null): ObjectAttributes {
    // Neighbours mostly have the same.
    if (text !== this.#usual) this.#attributes = text === null ? {} : (JSON.parse(text) as ObjectAttributes);
    this.#usual = text;
    return this.#attributes;
  }
}
