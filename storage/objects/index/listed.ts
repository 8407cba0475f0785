import type { SQLOutputValue } from 'node:sqlite';
import type { ListedAttributes, ListedObject } from '../records.ts';

/** Stands for attributes that are the usual ones: to make a text of each row's is a quarter of reading a page. */
const USUAL = 0;
/** Stands where a time belongs, in a row whose attributes are others. */
const OTHER = -1;

/**
 * What is read for a listing, and no more: a page has a thousand rows, and every column of each costs. Bytes cost most,
 * as they would be memory of their own. `?` is the text of the usual attributes; where all have those, it is enough to
 * know that.
 */
const COLUMNS = {
  alike: `key, size, etag, iif(attributes IS ?, modified_at, ${OTHER})`,
  each: `key, size, etag, modified_at, iif(attributes IS ?, ${USUAL}, attributes)`,
};

/** The values of one row. */
export type ListedValues = readonly SQLOutputValue[];

type Listed = readonly [key: string, size: number, etag: string, modifiedAt: number, attributes?: string | null | 0];

/** Reads these columns of rows. The first value is the text of the usual attributes. */
type ReadColumns = (columns: string, usual: string | null) => ListedValues[];

export function listedKey(values: ListedValues): string {
  return values[0] as string;
}

/** Makes objects of rows. What is listed together mostly has the same attributes: those seen last are the usual ones. */
export class ListedRows {
  #usual: string | null = null;
  #attributes: ListedAttributes = {};
  #areAlike = false;

  rows(read: ReadColumns): ListedValues[] {
    if (this.#areAlike) {
      const rows = read(COLUMNS.alike, this.#usual);
      if (!rows.some((values) => values[3] === OTHER)) return rows;
      this.#areAlike = false;
    }
    return read(COLUMNS.each, this.#usual);
  }

  /** All rows of a page, after which others may be the usual attributes. */
  objects(rows: readonly ListedValues[]): ListedObject[] {
    const usual = this.#attributes;
    this.#areAlike = true;
    return rows.map((values) => {
      const [key, size, etag, modifiedAt, attributes = USUAL] = values as unknown as Listed;
      return {
        key,
        size,
        etag,
        modifiedAt,
        attributes: attributes === USUAL ? usual : this.#attributesOf(attributes),
      };
    });
  }

  #attributesOf(text: string | null): ListedAttributes {
    this.#areAlike = false;
    // Neighbours mostly have the same.
    if (text !== this.#usual) this.#attributes = text === null ? {} : (JSON.parse(text) as ListedAttributes);
    this.#usual = text;
    return this.#attributes;
  }
}
