import type { TSchema } from 'typebox';
import { Type } from './schema.ts';

/** How the text of a request becomes a value; the kernel holds one coercion for each. */
export type ParamKind = 'text' | 'integer' | 'number' | 'boolean' | 'list' | 'json' | 'capacity' | 'file';

/** Whether a caller must send the parameter, may, or may because a default stands in. */
export type Presence = 'required' | 'optional' | 'defaulted';

export interface Param<T = unknown, P extends Presence = Presence> {
  readonly kind: ParamKind;
  /** JSON Schema of the value after coercion: validation, OpenAPI and the docs all read this one. */
  readonly schema: TSchema;
  readonly presence: P;
  readonly description: string;
  readonly default?: T;
  /** Other names that mean the same parameter. */
  readonly aliases?: readonly string[];
  /** Never written to a log, an event or an error. */
  readonly secret?: true;
  /** A value a reader can copy; also what the tests that walk every endpoint send. */
  readonly example?: T;
  /** What its pattern asks for, in words. */
  readonly form?: string;
  /** For a list: how each item is coerced. */
  readonly item?: Param;
  /** The records it names one of: the group that lists them, and their field that holds the identifier. */
  readonly refers?: Reference;
  /** What to ask the list for to find, by name, what it may name: a plain list does not show it. */
  readonly listedWith?: Readonly<Record<string, unknown>>;
}

export interface Reference {
  readonly group: string;
  readonly field: string;
}

export type Params = Readonly<Record<string, Param>>;

/** An uploaded file, read whole: uploads are small (price files, quota lists) and limited in size. */
export interface UploadedFile {
  readonly filename: string;
  readonly bytes: Uint8Array;
}

interface Common<T> {
  readonly example?: T;
  readonly aliases?: readonly string[];
}

interface TextOptions extends Common<string> {
  readonly min?: number;
  readonly max?: number;
  readonly pattern?: string;
  /** What the pattern asks for, in words: "must be …". */
  readonly form?: string;
}

const TEXT_LENGTH_MAX = 1024;

/** With `min: 0` an empty text is a value: an update removes by it what was set. Null counts as not sent. */
export function text(description: string, options: TextOptions = {}): Param<string, 'required'> {
  const { min = 1, max = TEXT_LENGTH_MAX, pattern, ...rest } = options;
  const schema = Type.String({ minLength: min, maxLength: max, ...(pattern && { pattern }) });
  return { kind: 'text', schema, presence: 'required', description, ...rest };
}

/** A display name: what the people who use Granary call a thing. */
export function name(description: string, options: Common<string> = {}): Param<string, 'required'> {
  return text(description, {
    max: 128,
    pattern: '^[^\\u0000-\\u001f\\u007f]*\\S[^\\u0000-\\u001f\\u007f]*$',
    form: 'a name that is not blank and has no control characters',
    ...options,
  });
}

export function secret(description: string, options: TextOptions = {}): Param<string, 'required'> {
  return { ...text(description, options), secret: true };
}

export function choice<const V extends readonly string[]>(
  values: V,
  description: string,
  options: Common<V[number]> = {},
): Param<V[number], 'required'> {
  const schema = Type.Unsafe<V[number]>({ type: 'string', enum: [...values] });
  return { kind: 'text', schema, presence: 'required', description, example: values[0] as V[number], ...options };
}

interface NumberOptions extends Common<number> {
  readonly min?: number;
  readonly max?: number;
  readonly multipleOf?: number;
}

const INTEGER_MAX = 2 ** 31 - 1;

function numberRules({ min = 0, max = INTEGER_MAX, multipleOf }: NumberOptions): Record<string, number> {
  return { minimum: min, maximum: max, ...(multipleOf !== undefined && { multipleOf }) };
}

function numberExtras({ example, aliases }: NumberOptions): Common<number> {
  return { ...(example !== undefined && { example }), ...(aliases && { aliases }) };
}

export function integer(description: string, options: NumberOptions = {}): Param<number, 'required'> {
  const schema = Type.Integer(numberRules(options));
  return { kind: 'integer', schema, presence: 'required', description, ...numberExtras(options) };
}

/** The number of a record, as paths and parameters carry it. */
export function recordNumber(description: string): Param<number, 'required'> {
  return integer(description, { min: 1, example: 1 });
}

export function decimal(description: string, options: NumberOptions = {}): Param<number, 'required'> {
  const schema = Type.Number(numberRules(options));
  return { kind: 'number', schema, presence: 'required', description, ...numberExtras(options) };
}

/** An amount of money, kept as the text it was written in: prices never pass through floating point. */
export function price(description: string): Param<string, 'required'> {
  return text(description, {
    max: 24,
    pattern: '^[0-9]{1,9}(\\.[0-9]{1,9})?$',
    form: 'an amount such as 0.25',
    example: '0.25',
  });
}

export function boolean(description: string, options: Common<boolean> = {}): Param<boolean, 'required'> {
  return { kind: 'boolean', schema: Type.Boolean(), presence: 'required', description, example: true, ...options };
}

/** `<n>G`, `<n>T`, `<n>M` or a bare number of GB, with a fraction or without; the value is whole megabytes, rounded up. */
export function capacity(description: string): Param<number, 'required'> {
  return {
    kind: 'capacity',
    schema: Type.Integer({ minimum: 1, maximum: 2 ** 50 / 2 ** 20 }),
    presence: 'required',
    description: `${description} (such as \`500G\`, \`2T\` or \`100M\`; a number alone is GiB)`,
  };
}

interface ListOptions<T> extends Common<T[]> {
  readonly min?: number;
  readonly max?: number;
}

/** `name[]=a&name[]=b`, a JSON array, or a comma list. */
export function list<T>(
  item: Param<T, 'required'>,
  description: string,
  { min = 1, max = 1000, ...rest }: ListOptions<T> = {},
): Param<T[], 'required'> {
  const schema = Type.Array(item.schema, { minItems: min, maxItems: max });
  return { kind: 'list', schema, presence: 'required', description, item, ...rest };
}

/** A structured value: JSON text, a JSON body's own structure, or `name[key][key]=value`. */
export function json<T>(schema: TSchema, description: string, options: Common<T> = {}): Param<T, 'required'> {
  return { kind: 'json', schema, presence: 'required', description, ...options };
}

export function file(description: string): Param<UploadedFile, 'required'> {
  return {
    kind: 'file',
    schema: Type.Unsafe<UploadedFile>({ type: 'string', format: 'binary' }),
    presence: 'required',
    description,
  };
}

export function optional<T>(param: Param<T>): Param<T, 'optional'> {
  return { ...param, presence: 'optional' };
}

export function withDefault<T>(param: Param<T>, value: NoInfer<T>): Param<T, 'defaulted'> {
  return { ...param, presence: 'defaulted', default: value };
}

/** The pair every list takes: an offset and a page size, where absent or 0 means all. */
export const page = {
  start: withDefault(integer('Records to pass over before the first one returned'), 0),
  limit: withDefault(integer('Records to return; 0 returns all'), 0),
} satisfies Params;

/** On operations that run a job: how long the caller waits before the reply says that the work goes on. */
export const waiting = {
  timeout: withDefault(integer('Seconds to wait for the work; -1 waits until it is done', { min: -1, max: 86_400 }), 5),
} satisfies Params;

/** On operations whose reply names what they started: it comes as soon as the work is on record. */
export const startsWork = {
  timeout: withDefault(
    integer('Accepted from clients that send it; the reply names what was started and never waits for its end', {
      min: -1,
      max: 86_400,
    }),
    5,
  ),
} satisfies Params;

type Value<Q> = Q extends Param<infer T> ? T : never;
type KeysWith<Q extends Params, P extends Presence> = {
  [K in keyof Q]: Q[K] extends Param<unknown, infer R> ? (R extends P ? K : never) : never;
}[keyof Q];
type Flat<T> = { [K in keyof T]: T[K] };

/** What a handler receives: defaults filled in, optional values possibly absent. */
export type Parsed<Q extends Params> = Flat<
  { [K in KeysWith<Q, 'required' | 'defaulted'>]: Value<Q[K]> } & {
    [K in KeysWith<Q, 'optional'>]?: Value<Q[K]> | undefined;
  }
>;

/** What a caller sends: a default spares the parameter. */
export type Sent<Q extends Params> = Flat<
  { [K in KeysWith<Q, 'required'>]: Value<Q[K]> } & {
    [K in KeysWith<Q, 'optional' | 'defaulted'>]?: Value<Q[K]> | undefined;
  }
>;
