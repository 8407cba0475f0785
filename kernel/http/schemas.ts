import { createRequire } from 'node:module';
import { replySchema, type RecordReply } from '@granary/contract';
import type { TSchema } from 'typebox';
import type * as TypeBox from 'typebox/schema';

/** A schema as a check: whether a value fits, and what is wrong with it where it does not. */
export type Check = TypeBox.Validator;

const load = createRequire(import.meta.url);
let typebox: typeof TypeBox | undefined;

/** Loads typebox when the first value is to be checked: an array process that is never asked has no need for it. */
export function checkOf(schema: TSchema): Check {
  typebox ??= load('typebox/schema') as typeof TypeBox;
  return typebox.Compile(schema);
}

/** Whether an answer that came over the wire is one of these. */
export function isReply(reply: RecordReply, body: unknown): boolean {
  return checkOf(replySchema(reply)).Check(body);
}
