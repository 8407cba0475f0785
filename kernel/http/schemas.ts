import { createRequire } from 'node:module';
import { replySchema, type RecordReply } from '@granary/contract';
import type { TSchema } from 'typebox';
import type * as TypeBox from 'typebox/schema';

/** A compiled schema: whether a value is valid, and its errors. */
export type Check = TypeBox.Validator;

const load = createRequire(import.meta.url);
let typebox: typeof TypeBox | undefined;

/** Loads typebox at the first validation: an array process without requests does not need it. */
export function checkOf(schema: TSchema): Check {
  typebox ??= load('typebox/schema') as typeof TypeBox;
  return typebox.Compile(schema);
}

/** Whether an answer that came over the wire is one of these. */
export function isReply(reply: RecordReply, body: unknown): boolean {
  return checkOf(replySchema(reply)).Check(body);
}
