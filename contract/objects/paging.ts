import { integer, type Params, withDefault } from '../params.ts';

/** The pair of the two lists that count in pages rather than in records. */
export const numberedPages = {
  limit: withDefault(integer('Records a page holds; 0 puts all on one page'), 0),
  page: withDefault(integer('Which page to return, counted from 1', { min: 1 }), 1),
} satisfies Params;
