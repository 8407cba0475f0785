import type { Endpoint } from '@granary/contract';
import { words } from '../parts/format.ts';

/** What a reply says, by field: enough to show any of them without knowing it. */
export interface ReplyFact {
  readonly label: string;
  readonly text: string;
  /** It was made by the call, and no other shows it again. */
  readonly isOnce: boolean;
}

interface Schema {
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly 'x-secret'?: string;
  readonly 'x-shown-once'?: string;
}

/** Where the name of a field alone does not say what it is. */
const LABELS: Readonly<Record<string, string>> = {
  access: 'Access key',
  code: 'Code',
  initial_password: 'First password',
  http_status: 'HTTP status',
  username: 'User name',
  metrics_token: 'Token',
};
/** Beside a secret: whose it is, and what goes with it. */
const BESIDE = new Set(['access', 'expires_at', 'name', 'username']);

/** The facts of a reply; where it has a secret that is shown once, only that and what goes with it. */
export function replyFacts({ reply }: Endpoint, value: unknown): ReplyFact[] {
  if (reply.kind !== 'record') return [];
  const all = factsIn({ properties: reply.fields }, value);
  const isOnce = all.some((one) => one.isOnce);
  return all.filter((one) => !isOnce || one.isOnce || BESIDE.has(one.name));
}

export function showsSecret(endpoint: Endpoint, value: unknown): boolean {
  return replyFacts(endpoint, value).some(({ isOnce }) => isOnce);
}

function factsIn(schema: Schema, value: unknown): (ReplyFact & { readonly name: string })[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]: [string, unknown]) => {
    const known = schemaOf(schema, name);
    if (known?.['x-secret'] !== undefined || inner === null || inner === '') return [];
    if (isRecords(inner)) return inner.flatMap((one) => factsIn(known?.items ?? {}, one));
    if (typeof inner === 'object' && !Array.isArray(inner)) return factsIn(known ?? {}, inner);
    const isOnce = isShownOnce(known);
    return [{ name, label: LABELS[name] ?? words(name), text: textOf(inner), isOnce }];
  });
}

function isRecords(value: unknown): value is readonly unknown[] {
  return Array.isArray(value) && value.some((one) => typeof one === 'object');
}

function schemaOf({ properties, anyOf = [] }: Schema, name: string): Schema | undefined {
  return properties?.[name] ?? anyOf.map((one) => schemaOf(one, name)).find((one) => one !== undefined);
}

function isShownOnce(schema: Schema | undefined): boolean {
  return schema?.['x-shown-once'] !== undefined || (schema?.anyOf ?? []).some(isShownOnce);
}

function textOf(value: unknown): string {
  return Array.isArray(value) ? value.join(', ') : String(value);
}
