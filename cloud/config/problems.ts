import { counted } from '@granary/contract';
import { Value } from 'typebox/value';
import { AMOUNT_PATTERN, ConfigSchema, FOLDER_NAME_PATTERN, KEY_PATTERN } from './schema.ts';

interface SchemaProblem {
  readonly keyword: string;
  readonly instancePath: string;
  readonly params: object;
}

interface Params {
  readonly additionalProperties?: readonly string[];
  readonly requiredProperties?: readonly string[];
  readonly allowedValues?: readonly unknown[];
  readonly pattern?: string;
  readonly type?: string;
  readonly limit?: number;
}

/** What the patterns of the schema ask for. */
const FORMS: Readonly<Record<string, string>> = {
  [AMOUNT_PATTERN]: 'an amount in US dollars as text, such as "0.05"',
  [KEY_PATTERN]: 'a name of letters, digits, dots, dashes and underscores that begins with a letter or digit',
  [FOLDER_NAME_PATTERN]: 'a name of small letters, digits and dashes that begins with a letter or digit',
};

const TYPES: Readonly<Record<string, string>> = {
  integer: 'a whole number',
  number: 'a number',
  string: 'text in double quotes',
  boolean: 'true or false, without quotes',
  array: 'a list in [ ]',
  object: 'an object in { }',
};

const VALUE_LENGTH_MAX = 60;

/** Sentences that name the field and say what to write there; none where the config has the form of the schema. */
export function schemaProblems(value: unknown): string[] {
  return (
    Value.Errors(ConfigSchema, value)
      // A misspelt key is reported twice: once by its parent, which lists it by name.
      .filter(({ keyword }) => keyword !== 'boolean')
      .map((problem: SchemaProblem) => sentence(problem, value))
  );
}

function sentence({ keyword, instancePath, params }: SchemaProblem, whole: unknown): string {
  const path = instancePath.split('/').slice(1);
  const { additionalProperties, requiredProperties, ...rest } = params as Params;
  const place = placeOf(path);
  if (additionalProperties)
    return `${place}: ${additionalProperties.join(', ')} is not known here; remove it or correct its spelling`;
  if (requiredProperties)
    return `${place}: ${requiredProperties.join(', ')} is missing; add it as granary.config.schema.json describes it`;
  return `${place} is ${shown(valueAt(whole, path))}; write ${wanted(keyword, rest)}`;
}

function wanted(keyword: string, { allowedValues = [], pattern = '', type = '', limit = 0 }: Params): string {
  switch (keyword) {
    case 'enum':
      return `one of ${allowedValues.join(', ')}`;
    case 'pattern':
      return FORMS[pattern] ?? 'it in the form that granary.config.schema.json describes';
    case 'type':
      return TYPES[type] ?? type;
    case 'minimum':
      return `${limit} or more`;
    case 'maximum':
      return `${limit} or less`;
    case 'minItems':
      return `at least ${counted(limit, 'entries')}`;
    case 'maxItems':
      return `at most ${limit} entries`;
    case 'minLength':
      return `at least ${counted(limit, 'characters')}`;
    case 'maxLength':
      return `at most ${limit} characters`;
    default:
      return 'what granary.config.schema.json describes';
  }
}

/** `engine_types[1].hourly_price_usd`, as one would write it in a program. */
function placeOf(path: readonly string[]): string {
  if (path.length === 0) return 'the whole file';
  return path
    .map((step) => (/^\d+$/.test(step) ? `[${step}]` : `.${step}`))
    .join('')
    .slice(1);
}

function valueAt(whole: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>((value, step) => (value as Record<string, unknown> | undefined)?.[step], whole);
}

function shown(value: unknown): string {
  if (Array.isArray(value)) return value.length === 0 ? 'an empty list' : 'a list';
  if (typeof value === 'object' && value !== null) return 'an object';
  const text = JSON.stringify(value);
  return text.length <= VALUE_LENGTH_MAX ? text : `${text.slice(0, VALUE_LENGTH_MAX)}…`;
}
