import { pathParams, type Endpoint, type Param } from '@granary/contract';
import { numberProblem, sizeProblem, typedNumber, typedSize, type NumberRange } from '../parts/typed-number.ts';
import type { AnyInput } from '../api/operations.ts';

/** How many of one thing a form orders. */
export const AMOUNT = { min: 0, max: 10_000 } satisfies NumberRange;

export function rangeOf({ kind, schema }: Pick<Param, 'kind' | 'schema'>): NumberRange {
  const { minimum: min, maximum: max } = schema as { readonly minimum?: number; readonly maximum?: number };
  return { min, max, isDecimal: kind === 'number' };
}

/** A form may start with the text of a number, as some records have them. */
export function asNumber(value: unknown): number | undefined {
  if (typeof value === 'string') return typedNumber(value);
  return typeof value === 'number' ? value : undefined;
}

interface Asked {
  readonly endpoint: Endpoint;
  /** The fields of the form. */
  readonly names: readonly string[];
  readonly labelOf: (name: string) => string;
  /** Whether there is a list to choose it from. */
  readonly isChosen: (name: string) => boolean;
  /** What is set, where what is not sent stays so: a field that is emptied would change nothing. */
  readonly start?: AnyInput;
}

/** What is known to be wrong before anything is sent, by field. What only the service knows, it says itself. */
export function formProblems(
  { endpoint, names, labelOf, isChosen, start = {} }: Asked,
  given: AnyInput,
): Map<string, string> {
  const inPath = pathParams(endpoint.path);
  const problems = new Map<string, string>();
  for (const name of names) {
    const param = endpoint.params[name];
    if (!param) continue;
    const value = given[name];
    const isEmptied = value === undefined && start[name] !== undefined;
    const isNeeded = param.presence === 'required' || inPath.includes(name) || isEmptied;
    const problem =
      isNeeded && isNothing(value)
        ? missingWords(param, labelOf(name), isChosen(name))
        : problemOf(param, value, isChosen(name));
    if (problem !== undefined) problems.set(name, problem);
  }
  return problems;
}

function isNothing(value: unknown): boolean {
  return value === undefined || value === null || value === '' || (Array.isArray(value) && value.length === 0);
}

function missingWords({ kind }: Param, label: string, isChosen: boolean): string {
  if (isChosen && kind === 'json') return `Type how many: at least 1, at most 10,000.`;
  if (kind === 'file') return 'Choose a file.';
  if (kind === 'list' && isChosen && label.endsWith('s')) return 'Choose at least one.';
  if (kind === 'boolean') return 'Choose one.';
  if (!isChosen) return 'Must be filled in.';
  // `Server` → `Choose a server.`; a label of more words may be no noun.
  if (!/^[A-Z][a-z]+$/.test(label)) return 'Choose one.';
  return `Choose ${/^[AEIO]/.test(label) ? 'an' : 'a'} ${label.toLowerCase()}.`;
}

function problemOf(param: Param, value: unknown, isChosen: boolean): string | undefined {
  if (isNothing(value)) return undefined;
  switch (param.kind) {
    case 'integer':
    case 'number':
      return isChosen ? undefined : numberProblem(asNumber(value), rangeOf(param));
    case 'capacity':
      return typeof value === 'string' ? capacityProblem(value) : undefined;
    case 'json':
      return isChosen ? amountsProblem(value) : undefined;
    default:
      return undefined;
  }
}

function capacityProblem(text: string): string | undefined {
  const size = typedSize(text);
  return size === 0 ? 'Must be more than 0.' : sizeProblem(size);
}

/** Of `{SSD_10GB: 2}`: each has its own field, which says the same. */
function amountsProblem(value: unknown): string | undefined {
  const amounts = Object.values(value as Readonly<Record<string, unknown>>);
  const found = amounts.map((amount) => numberProblem(amount, AMOUNT)).find((problem) => problem !== undefined);
  return found === undefined ? undefined : `Each ${found.charAt(0).toLowerCase()}${found.slice(1)}`;
}
