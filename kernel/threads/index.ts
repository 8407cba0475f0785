export { Line, packError, type Answers, type Calls, type LineEnd, type PackedError } from './line.ts';
export { Outbox } from './outbox.ts';
