import type { Static, TProperties, TSchema } from 'typebox';
import { Type } from './schema.ts';

/**
 * The types of reply records. `str` in the specification is a string here even where it holds a number,
 * because clients compare it as one.
 */
export const str = (description?: string) => Type.String(described(description));
export const int = (description?: string) => Type.Integer(described(description));
export const num = (description?: string) => Type.Number(described(description));
export const bool = (description?: string) => Type.Boolean(described(description));
export const nullable = <S extends TSchema>(schema: S) => Type.Union([schema, Type.Null()]);
export const maybe = <S extends TSchema>(schema: S) => Type.Optional(schema);
export const listOf = <S extends TSchema>(schema: S) => Type.Array(schema);
export const mapOf = <S extends TSchema>(schema: S) => Type.Record(Type.String(), schema);
export const oneOf = <const V extends readonly string[]>(...values: V) =>
  Type.Unsafe<V[number]>({ type: 'string', enum: [...values] });

/** What a browser's session is shown when it asks for it only; `what` names it in the event. Others see it as it is. */
export const secretText = (what: string, description?: string) =>
  Type.String({ format: 'password', 'x-secret': what, ...described(description) });
/** Made by the call that shows it. */
export const shownOnce = (what: string, description?: string) =>
  Type.String({ format: 'password', 'x-shown-once': what, ...described(description) });

/** `YYYY-MM-DD HH:MM:SS UTC`, marked so that XML says `type="datetime"`. */
export const utc = (description?: string) => Type.String({ format: 'utc', ...described(description) });
/** `YYYY-MM-DDTHH:MM:SS+0000`, in the records the specification names. */
export const iso = (description?: string) => Type.String({ format: 'iso', ...described(description) });
export const yesNo = () => oneOf('YES', 'NO');

/** A named record: one entry under `components.schemas` of the OpenAPI document. */
export function record<F extends TProperties>(title: string, fields: F) {
  return Type.Object(fields, { title, additionalProperties: false });
}

function described(description: string | undefined): { description?: string } {
  return description === undefined ? {} : { description };
}

export type RecordOf<S extends TSchema> = Static<S>;
