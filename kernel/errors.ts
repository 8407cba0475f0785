import { errorCatalogue, type ErrorName } from '@granary/contract/errors';

export interface FieldProblem {
  readonly field: string;
  readonly message: string;
}

type Facts = Readonly<Record<string, string | number>>;

/** An error of the catalogue: the only kind a caller ever sees. */
export class GranaryError extends Error {
  readonly entry: ErrorName;
  readonly problems: readonly FieldProblem[];
  /** Headers of the reply, such as `Retry-After`. */
  readonly headers: Readonly<Record<string, string>>;

  constructor(entry: ErrorName, facts: Facts = {}, problems: readonly FieldProblem[] = [], headers = {}) {
    super(fill(errorCatalogue[entry].message, facts));
    this.name = 'GranaryError';
    this.entry = entry;
    this.problems = problems;
    this.headers = headers;
  }
}

export function fail(entry: ErrorName, facts: Facts = {}): GranaryError {
  return new GranaryError(entry, facts);
}

/** Bad input, named: `drives: must have at least 2 drives`. */
export function badParameter(field: string, message: string): GranaryError {
  return badParameters([{ field, message }]);
}

export function badParameters(problems: readonly FieldProblem[]): GranaryError {
  const problem = problems.map(({ field, message }) => `${field} ${message}`).join('; ');
  return new GranaryError('bad_parameter', { problem: `${problem}.` }, problems);
}

function fill(template: string, facts: Facts): string {
  return template.replace(/\{(\w+)\}/g, (_, key: string) => String(facts[key] ?? ''));
}
