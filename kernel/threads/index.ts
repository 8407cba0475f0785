export { Line, packError, type Answers, type Calls, type LineEnd, type PackedError } from './line.ts';
export { Outbox } from './outbox.ts';
export { namesOf, recordOf, recordsOf, tableOf, valuesOf, type Table } from './table.ts';
