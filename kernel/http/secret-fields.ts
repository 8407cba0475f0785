import { replySchema, type RecordReply } from '@granary/contract';
import type { Shape } from './shape.ts';

/*
 * A page shows secrets when somebody asks for them, not before. Where a request is made with a session, fields that the
 * contract marks as `secretText` come out as empty texts: '' says that there is a secret, null or an absent field that there
 * is none. With `X-Reveal-Secrets: 1` they come out as they are, and the look is an event. Requests with a key or token are
 * programs: they get what they ask for.
 */

export const REVEAL_HEADER = 'x-reveal-secrets';
const HIDDEN = '';

type Fields = Readonly<Record<string, unknown>>;

/** A secret that a reply shows, and whose it is. */
interface Look {
  readonly what: string;
  /** What people call the record, such as `array tank`; undefined for a field of the reply itself. */
  readonly owner: string | undefined;
}

const NAME_FIELDS = ['display_name', 'name', 'username', 'ext_name', 'account_name', 'user_id', 'id'] as const;
const OWNERS_MAX = 3;

/** The secrets of one kind of reply. */
export class SecretFields {
  readonly #shape: Shape;

  private constructor(shape: Shape) {
    this.#shape = shape;
  }

  /** Undefined where the reply has none. */
  static of(reply: RecordReply): SecretFields | undefined {
    const shape: Shape = replySchema({ kind: 'record', constants: {}, fields: reply.fields });
    return hasSecret(shape) ? new SecretFields(shape) : undefined;
  }

  hide(fields: Fields): Fields {
    return walk(fields, [this.#shape], undefined, () => undefined) as Fields;
  }

  /** What the reply shows, in words: `the passcode of array tank`; undefined where it shows nothing. */
  describe(fields: Fields): string | undefined {
    const looks: Look[] = [];
    walk(fields, [this.#shape], undefined, (look) => looks.push(look));
    return looks.length === 0 ? undefined : wordsFor(looks);
  }
}

function hasSecret(shape: Shape): boolean {
  const inner = [
    ...Object.values(shape.properties ?? {}),
    ...Object.values(shape.patternProperties ?? {}),
    ...(shape.anyOf ?? []),
    ...(shape.items ? [shape.items] : []),
  ];
  return shape['x-secret'] !== undefined || inner.some(hasSecret);
}

/** A copy without secrets; calls `found` for each that is there. A value may have one of several shapes: any marks it. */
function walk(
  value: unknown,
  shapes: readonly Shape[],
  owner: string | undefined,
  found: (look: Look) => void,
): unknown {
  const all = shapes.flatMap(alternatives);
  if (typeof value === 'string') {
    const what = all.find((shape) => shape['x-secret'] !== undefined)?.['x-secret'];
    if (what === undefined || value === '') return value;
    found({ what, owner });
    return HIDDEN;
  }
  if (Array.isArray(value)) {
    const items = all.flatMap(({ items: item }) => (item ? [item] : []));
    return items.length === 0 ? value : value.map((one) => walk(one, items, owner, found));
  }
  if (typeof value !== 'object' || value === null) return value;
  const record = value as Fields;
  const own = ownerName(record, all) ?? owner;
  return Object.fromEntries(
    Object.entries(record).map(([key, field]) => [key, walk(field, fieldShapes(all, key), own, found)]),
  );
}

function alternatives(shape: Shape): readonly Shape[] {
  return shape.anyOf ? shape.anyOf.flatMap(alternatives) : [shape];
}

function fieldShapes(shapes: readonly Shape[], key: string): Shape[] {
  return shapes.flatMap(({ properties, patternProperties }) => {
    if (properties && Object.hasOwn(properties, key)) return [properties[key] as Shape];
    return Object.values(patternProperties ?? {}).slice(0, 1);
  });
}

function ownerName(record: Fields, shapes: readonly Shape[]): string | undefined {
  const kind = shapes.find(({ title }) => title !== undefined)?.title;
  const field = NAME_FIELDS.find((one) => typeof record[one] === 'string' || typeof record[one] === 'number');
  if (kind === undefined || field === undefined) return undefined;
  return `${kind.replace(/(?!^)([A-Z])/g, ' $1').toLowerCase()} ${String(record[field])}`;
}

function wordsFor(looks: readonly Look[]): string {
  const byOwner = new Map<string, Set<string>>();
  for (const { what, owner = '' } of looks) byOwner.set(owner, (byOwner.get(owner) ?? new Set()).add(what));
  const owners = [...byOwner];
  const parts = owners.slice(0, OWNERS_MAX).map(([owner, whats]) => {
    const things = [...whats].map((what) => `the ${what}`).join(', ');
    return owner === '' ? things : `${things} of ${owner}`;
  });
  const more = owners.length - OWNERS_MAX;
  return more > 0 ? `${parts.join('; ')}; and those of ${more} more` : parts.join('; ');
}
