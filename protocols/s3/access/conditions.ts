import { BlockList, isIP } from 'node:net';
import { conditionKey } from './condition-keys.ts';
import { type Lookup, Pattern } from './pattern.ts';

/** One operator with one key: all of a statement's must hold. */
export type Condition = (lookup: Lookup) => boolean;

/** Whether a value of the request is what a value of the policy wants. */
type Match = (value: string, lookup: Lookup) => boolean;

interface Operator {
  /** What a value of the policy wants; undefined when it cannot be read. */
  compile(wanted: string): Match | undefined;
  readonly negated: boolean;
}

const VALUES_MAX = 256;

/** Reads the Condition element of a statement; `complain` names what is wrong. */
export function readConditions(block: unknown, complain: (message: string) => Error): Condition[] {
  return entriesOf(block, 'Condition', complain).flatMap(([operator, keys]) =>
    entriesOf(keys, operator, complain).map(([key, values]) => readCondition(operator, key, values, complain)),
  );
}

function entriesOf(value: unknown, name: string, complain: (message: string) => Error): [string, unknown][] {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw complain(`${name} must be an object.`);
  return Object.entries(value);
}

function readCondition(name: string, key: string, values: unknown, complain: (message: string) => Error): Condition {
  const known = conditionKey(key);
  if (known === undefined) throw complain(`The condition key ${key} is not known.`);
  const wanted = (Array.isArray(values) ? values : [values]).map((value: unknown) => {
    if (typeof value === 'string' || typeof value === 'boolean' || typeof value === 'number') return String(value);
    throw complain(`The values of ${key} must be texts.`);
  });
  if (wanted.length === 0 || wanted.length > VALUES_MAX) throw complain(`${key} needs 1 to ${VALUES_MAX} values.`);
  if (name === 'Null') return nullCondition(known, wanted, complain);
  const { operator, quantifier, ifExists } = readOperator(name, complain);
  const matches = wanted.map((value) => {
    const match = operator.compile(value);
    if (!match) throw complain(`'${value.slice(0, 64)}' is no value for ${name}.`);
    return match;
  });
  return (lookup) => holds(lookup(known), matches, { operator, quantifier, ifExists }, lookup);
}

function nullCondition(key: string, wanted: readonly string[], complain: (message: string) => Error): Condition {
  const [value = '', ...others] = wanted.map((each) => each.toLowerCase());
  if (others.length > 0 || !['true', 'false'].includes(value)) throw complain('Null takes true or false.');
  return (lookup) => (lookup(key) === undefined) === (value === 'true');
}

type Quantifier = 'one' | 'any' | 'all';

interface Usage {
  readonly operator: Operator;
  readonly quantifier: Quantifier;
  readonly ifExists: boolean;
}

function readOperator(name: string, complain: (message: string) => Error): Usage {
  const match = /^(ForAnyValue:|ForAllValues:)?(\w+?)(IfExists)?$/.exec(name);
  const base = match?.[2] ?? '';
  const operator = Object.hasOwn(OPERATORS, base) ? OPERATORS[base] : undefined;
  if (!operator) throw complain(`The condition operator ${name.slice(0, 64)} is not known.`);
  const quantifier = match?.[1] === 'ForAnyValue:' ? 'any' : match?.[1] === 'ForAllValues:' ? 'all' : 'one';
  return { operator, quantifier, ifExists: match?.[3] !== undefined };
}

function holds(
  values: readonly string[] | undefined,
  matches: readonly Match[],
  { operator, quantifier, ifExists }: Usage,
  lookup: Lookup,
): boolean {
  if (values === undefined) return ifExists || quantifier === 'all' || (quantifier === 'one' && operator.negated);
  const fits = (value: string) => matches.some((match) => match(value, lookup)) !== operator.negated;
  return quantifier === 'any' ? values.some(fits) : values.every(fits);
}

function text(wild: boolean, ignoreCase: boolean): Operator['compile'] {
  return (wanted) => {
    const pattern = new Pattern(wanted, wild);
    if (pattern.variables().some((key) => conditionKey(key) === undefined)) return undefined;
    return (value, lookup) => pattern.matches(value, lookup, ignoreCase);
  };
}

function compared(
  read: (text: string) => number,
  holdsFor: (value: number, wanted: number) => boolean,
): Operator['compile'] {
  return (wantedText) => {
    const wanted = read(wantedText);
    if (Number.isNaN(wanted)) return undefined;
    return (valueText) => {
      const value = read(valueText);
      return !Number.isNaN(value) && holdsFor(value, wanted);
    };
  };
}

function readNumber(value: string): number {
  return /^-?\d+(\.\d+)?$/.test(value) ? Number(value) : Number.NaN;
}

/** ISO 8601, or seconds since 1970. */
function readDate(value: string): number {
  return /^\d+$/.test(value) ? Number(value) * 1000 : Date.parse(value);
}

function bool(wanted: string): Match | undefined {
  const lower = wanted.toLowerCase();
  return ['true', 'false'].includes(lower) ? (value) => value.toLowerCase() === lower : undefined;
}

function address(wanted: string): Match | undefined {
  const [ip = '', bits, more] = wanted.split('/');
  const family = isIP(ip);
  const width = family === 4 ? 32 : 128;
  const prefix = bits === undefined ? width : /^\d{1,3}$/.test(bits) ? Number(bits) : Number.NaN;
  if (family === 0 || more !== undefined || !(prefix <= width)) return undefined;
  const type = family === 4 ? 'ipv4' : 'ipv6';
  const list = new BlockList();
  list.addSubnet(ip, prefix, type);
  return (value) => {
    const valueFamily = isIP(value);
    return valueFamily !== 0 && list.check(value, valueFamily === 4 ? 'ipv4' : 'ipv6');
  };
}

type Compile = Operator['compile'];

function both(name: string, negatedName: string, compile: Compile): Record<string, Operator> {
  return { [name]: { compile, negated: false }, [negatedName]: { compile, negated: true } };
}

function ordered(family: string, read: (text: string) => number): Record<string, Operator> {
  const plain = (holdsFor: (value: number, wanted: number) => boolean): Operator => ({
    compile: compared(read, holdsFor),
    negated: false,
  });
  return {
    ...both(
      `${family}Equals`,
      `${family}NotEquals`,
      compared(read, (value, wanted) => value === wanted),
    ),
    [`${family}LessThan`]: plain((value, wanted) => value < wanted),
    [`${family}LessThanEquals`]: plain((value, wanted) => value <= wanted),
    [`${family}GreaterThan`]: plain((value, wanted) => value > wanted),
    [`${family}GreaterThanEquals`]: plain((value, wanted) => value >= wanted),
  };
}

const OPERATORS: Readonly<Record<string, Operator>> = {
  ...both('StringEquals', 'StringNotEquals', text(false, false)),
  ...both('StringEqualsIgnoreCase', 'StringNotEqualsIgnoreCase', text(false, true)),
  ...both('StringLike', 'StringNotLike', text(true, false)),
  ...both('ArnEquals', 'ArnNotEquals', text(true, false)),
  ...both('ArnLike', 'ArnNotLike', text(true, false)),
  ...both('IpAddress', 'NotIpAddress', address),
  ...ordered('Numeric', readNumber),
  ...ordered('Date', readDate),
  Bool: { compile: bool, negated: false },
};
