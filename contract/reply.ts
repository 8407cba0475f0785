import type { Static, TObject, TProperties } from 'typebox';
import { Type } from './schema.ts';

/** A JSON or XML reply: constants the specification fixes, fields the handler returns, and the level around both. */
export interface RecordReply<F extends TProperties = TProperties> {
  readonly kind: 'record';
  /** `response` on arrays; absent on the portal. */
  readonly wrapper?: string;
  readonly constants: Readonly<Record<string, string | number>>;
  readonly fields: F;
}

/** A reply that is a file of its own type, not an envelope. */
export interface FileReply {
  readonly kind: 'file';
  readonly contentType: string;
}

export type Reply = RecordReply | FileReply;

/** A file without an end: events as they happen. */
export const EVENT_STREAM = 'text/event-stream';

/** What a handler of a file reply returns. */
export interface FileBody {
  readonly filename: string;
  readonly bytes: Uint8Array;
}

export function envelope<F extends TProperties>(
  constants: Readonly<Record<string, string | number>>,
  fields: F,
  wrapper?: string,
): RecordReply<F> {
  return { kind: 'record', constants, fields, ...(wrapper !== undefined && { wrapper }) };
}

/** `{status: 'success', …}`: the portal's usual form. */
export function success<F extends TProperties>(fields: F): RecordReply<F> {
  return envelope({ status: 'success' }, fields);
}

/** `{response: {status: 0, …}}`: the form `R` of arrays and object storage. */
export function response<F extends TProperties>(fields: F): RecordReply<F> {
  return envelope({ status: 0 }, fields, 'response');
}

export function fileReply(contentType: string): FileReply {
  return { kind: 'file', contentType };
}

/** The reply as one schema, constants and wrapper included: for OpenAPI and for the tests that hold replies against it. */
export function replySchema(reply: RecordReply): TObject {
  const constants = Object.entries(reply.constants).map(([key, value]) => [key, Type.Literal(value)] as const);
  const body = Type.Object({ ...Object.fromEntries(constants), ...reply.fields });
  return reply.wrapper === undefined ? body : Type.Object({ [reply.wrapper]: body });
}

export type Returned<R extends Reply> = R extends RecordReply<infer F> ? Static<TObject<F>> : FileBody;
