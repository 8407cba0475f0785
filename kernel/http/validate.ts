import type { Endpoint, Param, Params } from '@granary/contract';
import { badParameters, type FieldProblem } from '../errors.ts';
import type { Raw } from './body.ts';
import { coerce } from './coerce.ts';
import { checkOf, type Check } from './schemas.ts';

export type Reader = (raw: Raw) => Record<string, unknown>;

/** Compiled at first use: an array process without requests pays nothing for its 200 endpoints. */
export function readerOf(endpoint: Endpoint): Reader {
  let reader: Reader | undefined;
  return (raw) => (reader ??= compileReader(endpoint.params))(raw);
}

function compileReader(params: Params): Reader {
  const readers = Object.entries(params).map(([name, param]) => ({ name, param, check: checkOf(param.schema) }));
  return (raw) => {
    const input: Record<string, unknown> = {};
    let problems: FieldProblem[] | undefined;
    for (const { name, param, check } of readers) {
      const result = readParam(rawValue(raw, name, param), param, check);
      if (typeof result === 'string') (problems ??= []).push({ field: name, message: result });
      else if (result !== undefined) input[name] = result.value;
    }
    if (problems) throw badParameters(problems);
    return input;
  };
}

function rawValue(raw: Raw, name: string, param: Param): unknown {
  const value = raw[name];
  if (value !== undefined || !param.aliases) return value;
  const alias = param.aliases.find((one) => raw[one] !== undefined);
  return alias === undefined ? undefined : raw[alias];
}

/** The value; undefined where it is absent and may be; text that says what is wrong. */
function readParam(raw: unknown, param: Param, check: Check): { value: unknown } | string | undefined {
  if (isAbsent(raw, param)) {
    if (param.presence === 'required') return 'is required';
    return param.presence === 'defaulted' ? { value: param.default } : undefined;
  }
  const coerced = coerce(raw, param);
  if ('problem' in coerced) return coerced.problem;
  // The schema of a file describes its encoding; there is nothing to validate.
  return param.kind === 'file' || check.Check(coerced.value) ? coerced : problemOf(check, coerced.value, param);
}

/** An empty form field is absent, unless the parameter is a text that may be empty. */
function isAbsent(raw: unknown, param: Param): boolean {
  if (raw === undefined || raw === null) return true;
  return raw === '' && !(param.kind === 'text' && (param.schema as { minLength?: number }).minLength === 0);
}

function problemOf(check: Check, value: unknown, { form, kind }: Param): string {
  const [, [error]] = check.Errors(value);
  if (!error) return 'is not valid';
  if (error.keyword === 'pattern' && form !== undefined) return `must be ${form}`;
  const where = error.instancePath === '' ? '' : `at ${error.instancePath.slice(1, 65)} `;
  const problem = wordings[error.keyword]?.(error.params as RuleParams) ?? error.message;
  // Capacities have many units and are counted in one.
  return `${where}${problem}${kind === 'capacity' && isLimit(error.keyword) ? ' MB' : ''}`;
}

function isLimit(keyword: string): boolean {
  return keyword === 'minimum' || keyword === 'maximum';
}

const typeWords: Readonly<Record<string, string>> = {
  integer: 'a whole number',
  number: 'a number',
  string: 'text',
  boolean: 'true or false',
  object: 'a map',
  array: 'a list',
};

interface RuleParams {
  readonly type?: unknown;
  readonly limit?: number;
  readonly allowedValues?: readonly unknown[];
}

const wordings: Readonly<Record<string, (params: RuleParams) => string>> = {
  minimum: ({ limit }) => `must be at least ${limit}`,
  maximum: ({ limit }) => `must be at most ${limit}`,
  minLength: ({ limit }) => `must have at least ${limit} characters`,
  maxLength: ({ limit }) => `must have at most ${limit} characters`,
  type: ({ type }) => `must be ${typeWords[String(type)] ?? String(type)}`,
  minProperties: () => 'must not be empty',
  maxProperties: ({ limit }) => `must have at most ${limit} entries`,
  minItems: ({ limit }) => `must have at least ${limit} items`,
  maxItems: ({ limit }) => `must have at most ${limit} items`,
  enum: ({ allowedValues = [] }) => `must be one of ${allowedValues.join(', ')}`,
  pattern: () => 'is not in the expected form',
  boolean: () => 'is not a known field',
};
