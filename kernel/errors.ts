import { counted } from '@granary/contract';
import { refusals, singleErrors, type ErrorName } from '@granary/contract/errors';

export interface FieldProblem {
  readonly field: string;
  readonly message: string;
}

const messages = { ...singleErrors, ...refusals };

/** A message of the catalogue, by the name of its error. */
type MessageName = keyof typeof messages;

type FactName<Message extends string> = Message extends `${string}{${infer Place}}${infer Rest}`
  ? NameIn<Place> | FactName<Rest>
  : never;

/** A place is a fact, or how many there are of something: `{pool}`, `{count volumes}`. */
type NameIn<Place extends string> = Place extends `${infer Name} ${string}` ? Name : Place;

/** The facts a message has places for. */
type FactsOf<E extends MessageName> = {
  readonly [Name in FactName<(typeof messages)[E]['message']>]: string | number;
};

/** A message without placeholders takes no facts. */
type FactArguments<E extends MessageName> = keyof FactsOf<E> extends never ? [] : [facts: FactsOf<E>];

interface Details {
  readonly problems?: readonly FieldProblem[];
  readonly headers?: Readonly<Record<string, string>>;
}

/** An error of the catalogue: the only kind that callers see. */
export class GranaryError extends Error {
  /** The declared error, or its family. */
  readonly entry: ErrorName;
  readonly problems: readonly FieldProblem[];
  /** Headers of the reply, such as `Retry-After`. */
  readonly headers: Readonly<Record<string, string>>;

  /** For a message from an engine or a remote array; otherwise `fail` creates it from the entry. */
  constructor(entry: ErrorName, message: string, { problems = [], headers = {} }: Details = {}) {
    super(message);
    this.name = 'GranaryError';
    this.entry = entry;
    this.problems = problems;
    this.headers = headers;
  }
}

export function fail<E extends MessageName>(name: E, ...facts: FactArguments<E>): GranaryError {
  return new GranaryError(entryOf(name), messageOf(name, ...facts));
}

/** Refused temporarily: the message and `Retry-After` say for how long. */
export function retryLater(entry: 'too_many_attempts' | 'too_many_requests', seconds: number): GranaryError {
  return new GranaryError(entry, messageOf(entry, { seconds }), { headers: { 'retry-after': String(seconds) } });
}

/** Bad input, named: `drives: must have at least 2 drives`. */
export function badParameter(field: string, message: string): GranaryError {
  return badParameters([{ field, message }]);
}

export function badParameters(problems: readonly FieldProblem[]): GranaryError {
  const problem = problems.map(({ field, message }) => `${field} ${message}`).join('; ');
  return new GranaryError('bad_parameter', `${problem}.`, { problems });
}

function entryOf(name: MessageName): ErrorName {
  return name in refusals ? refusals[name as keyof typeof refusals].family : (name as keyof typeof singleErrors);
}

function messageOf<E extends MessageName>(name: E, ...[facts]: FactArguments<E>): string {
  const known = new Map<string, string | number>(Object.entries(facts ?? {}));
  return messages[name].message.replace(/\{(\w+)(?: ([\w ]+))?\}/g, (_, fact: string, things?: string) =>
    things === undefined ? String(known.get(fact)) : counted(Number(known.get(fact)), things),
  );
}
