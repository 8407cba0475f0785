import type { ListedFile } from '../../engine/shares.ts';
import { fieldOf, quoted, type CriteriaContext, type Field, type Value } from './fields.ts';
import { compileGlob } from './glob.ts';
import { CriteriaProblem, flagOf, wordsOf } from './operands.ts';

export type Matcher = (file: ListedFile) => boolean;

const DEPTH_MAX = 8;
const CONDITIONS_MAX = 200;
const VALUES_MAX = 1_000;
const TEXT_LENGTH_MAX = 65_536;

const comparisons: Readonly<Record<string, (left: number, right: number) => boolean>> = {
  $gt: (left, right) => left > right,
  $gte: (left, right) => left >= right,
  $lt: (left, right) => left < right,
  $lte: (left, right) => left <= right,
};

const everywhere = ['$eq', '$ne', '$in', '$nin', '$exists', '$not'];
const operatorsOf: Readonly<Record<Field['kind'], readonly string[]>> = {
  text: [...everywhere, '$glob'],
  number: [...everywhere, ...Object.keys(comparisons)],
  flag: everywhere,
  choice: everywhere,
};
const logical = ['$and', '$or', '$nor'];

/**
 * Turns a match expression, as document databases take it, into a function of a file. Everything that is not on the list
 * of operators is refused by name, here, before any file is looked at; what is left compares, and takes a time that
 * grows with the criteria and the path alone. Throws a `CriteriaProblem`.
 */
export function compileCriteria(criteria: unknown, context: CriteriaContext): Matcher {
  if (JSON.stringify(criteria).length > TEXT_LENGTH_MAX) {
    throw new CriteriaProblem(`must be a JSON text of at most ${TEXT_LENGTH_MAX / 1024} KB`);
  }
  const keys = isRecord(criteria) ? Object.keys(criteria) : [];
  // The first stage of an aggregation says the same.
  const inner = keys.length === 1 && keys[0] === '$match' && isRecord(criteria) ? criteria['$match'] : criteria;
  return new Compiler(context).expression(inner, 1);
}

class Compiler {
  readonly #context: CriteriaContext;
  #conditionsLeft = CONDITIONS_MAX;

  constructor(context: CriteriaContext) {
    this.#context = context;
  }

  expression(value: unknown, depth: number): Matcher {
    if (depth > DEPTH_MAX) throw new CriteriaProblem(`must not be nested deeper than ${DEPTH_MAX} levels`);
    if (!isRecord(value)) throw new CriteriaProblem('must be a JSON object, such as {"extension": {"$in": ["log"]}}');
    const tests = Object.entries(value).map(([key, wanted]) =>
      key.startsWith('$') ? this.#logical(key, wanted, depth) : this.#field(key, wanted, depth),
    );
    if (tests.length === 0) {
      throw new CriteriaProblem('must hold a condition; {"size": {"$gte": 0}} is true of every file');
    }
    return all(tests);
  }

  #logical(operator: string, value: unknown, depth: number): Matcher {
    if (!logical.includes(operator)) {
      const hint = operator === '$not' ? '; use $nor' : '';
      throw new CriteriaProblem(
        `has an operator that is not offered here, ${quoted(operator)}: it may be ${logical.join(', ')}${hint}`,
      );
    }
    if (!Array.isArray(value) || value.length === 0)
      throw new CriteriaProblem(`needs a list of conditions for ${operator}`);
    const tests = value.map((each) => this.expression(each, depth + 1));
    if (operator === '$and') return all(tests);
    const isAny: Matcher = (file) => tests.some((test) => test(file));
    return operator === '$or' ? isAny : (file) => !isAny(file);
  }

  #field(name: string, wanted: unknown, depth: number): Matcher {
    const field = fieldOf(name, this.#context);
    if (!isRecord(wanted) || '$date' in wanted) return this.#condition(name, field, '$eq', wanted, depth);
    const entries = Object.entries(wanted);
    if (entries.length === 0) throw new CriteriaProblem(`has no condition for ${name}`);
    return all(entries.map(([operator, value]) => this.#condition(name, field, operator, value, depth)));
  }

  #condition(name: string, field: Field, operator: string, value: unknown, depth: number): Matcher {
    if (!operatorsOf[field.kind].includes(operator)) throw refusedOperator(name, field, operator);
    if (depth > DEPTH_MAX) throw new CriteriaProblem(`must not be nested deeper than ${DEPTH_MAX} levels`);
    this.#conditionsLeft -= 1;
    if (this.#conditionsLeft < 0) throw new CriteriaProblem(`must hold at most ${CONDITIONS_MAX} conditions`);
    const { read } = field;
    if (operator === '$not') {
      if (!isRecord(value)) throw new CriteriaProblem(`needs conditions for $not of ${name}, such as {"$in": […]}`);
      const test = this.#field(name, value, depth + 1);
      return (file) => !test(file);
    }
    if (operator === '$exists') {
      const isWanted = flagOf(`$exists of ${name}`, value);
      return (file) => (read(file) !== undefined) === isWanted;
    }
    if (operator === '$glob') return globMatcher(name, field, value);
    if (operator === '$in' || operator === '$nin') {
      const values = valuesOf(name, field, operator, value);
      return (file) => values.has(read(file)) === (operator === '$in');
    }
    return compared(field, operator, field.operand(scalar(name, value)));
  }
}

function compared({ read }: Field, operator: string, operand: Value): Matcher {
  if (operator === '$eq') return (file) => read(file) === operand;
  if (operator === '$ne') return (file) => read(file) !== operand;
  const compare = comparisons[operator] as (left: number, right: number) => boolean;
  return (file) => compare(read(file) as number, operand as number);
}

function globMatcher(name: string, { read }: Field, value: unknown): Matcher {
  const text = wordsOf(`$glob of ${name}`, value);
  const match = compileGlob(name === 'extension' ? text.toLowerCase() : text);
  if (typeof match === 'string') throw new CriteriaProblem(`has a pattern for ${name}, ${quoted(text)}, that ${match}`);
  return (file) => {
    const read_ = read(file);
    return read_ !== undefined && match(read_ as string);
  };
}

function valuesOf(name: string, field: Field, operator: string, value: unknown): ReadonlySet<Value | undefined> {
  if (!Array.isArray(value) || value.length === 0 || value.length > VALUES_MAX) {
    throw new CriteriaProblem(`needs a list of 1 to ${VALUES_MAX} values for ${operator} of ${name}`);
  }
  return new Set(value.map((each) => field.operand(scalar(name, each))));
}

function scalar(name: string, value: unknown): unknown {
  if (Array.isArray(value)) throw new CriteriaProblem(`has a list for ${name}; use $in for one of several`);
  if (value === null) throw new CriteriaProblem(`has null for ${name}; use {"$exists": false} for files without it`);
  return value;
}

function refusedOperator(name: string, field: Field, operator: string): CriteriaProblem {
  const hint = operator === '$regex' && field.kind === 'text' ? '; use $glob for patterns' : '';
  return new CriteriaProblem(
    `has an operator that is not offered for ${name}, ${quoted(operator)}: it takes ${operatorsOf[field.kind].join(', ')}${hint}`,
  );
}

function all(tests: readonly Matcher[]): Matcher {
  const [only] = tests;
  if (only && tests.length === 1) return only;
  return (file) => tests.every((test) => test(file));
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
