import { fail } from './errors.ts';

/** What block arrays and object arrays refuse with, each in its own family of errors. */
type LacksPart = 'engine_lacks_part' | 'objs_engine_lacks_part';

/** An optional part of an engine. The one place where an array refuses what its engine does not have. */
export function requirePart<E extends { readonly kind: string }, P extends keyof E>(
  engine: E,
  part: P,
  words: string,
  refusal: LacksPart,
): NonNullable<E[P]> {
  const found = engine[part];
  if (found === undefined || found === null) throw fail(refusal, { engine: engine.kind, part: words });
  return found;
}

/** The kind of engine that an array's configuration names; `embedded` when it names none. */
export function engineKind<K>(
  { storageEngine = 'embedded' }: { readonly storageEngine?: string },
  kinds: Readonly<Record<string, K>>,
): K {
  const kind = kinds[storageEngine];
  if (kind) return kind;
  const known = Object.keys(kinds).join(', ');
  throw new Error(`The array's configuration names the storage engine ${storageEngine}; there is ${known}.`);
}
