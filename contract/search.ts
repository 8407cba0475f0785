import { integer, text, withDefault } from './params.ts';
import { nullable, record, str, type RecordOf } from './records.ts';

const SEARCH_RESULTS_MAX = 100;

/** Something that has a name and was found by it. */
export const FoundRecord = record('SearchResult', {
  kind: str('The page of the web console that shows it, such as `volumes`'),
  id: str('What its own group names it by'),
  name: str(),
  detail: nullable(str('What it is, in words')),
});
export type FoundRecord = RecordOf<typeof FoundRecord>;

export const searchParams = {
  q: text('Part of a name, in whatever case', { max: 128, example: 'acc' }),
  limit: withDefault(integer('Results to return, the best first', { min: 1, max: SEARCH_RESULTS_MAX }), 20),
};
