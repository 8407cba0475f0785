import { pathParams, type Endpoint } from '@granary/contract';
import type { AnyInput } from '../api/operations.ts';
import { words } from '../parts/format.ts';
import type { ActionProps } from './action-props.ts';

/** A form by what it is for. */
export function draftKey({ op, label, input = {} }: Pick<ActionProps, 'op' | 'label' | 'input'>): string {
  return JSON.stringify([op.api.name, op.id, label, input]);
}

/** What may be kept of a form while nobody is signed in: no secret, and no file. */
export function openPart({ params }: Endpoint, given: AnyInput): AnyInput {
  const isOpen = ([name, value]: [string, unknown]) => params[name]?.secret !== true && !(value instanceof File);
  return Object.fromEntries(Object.entries(given).filter(isOpen));
}

/** A file is read when the form is sent. */
export async function withFiles(input: AnyInput): Promise<AnyInput> {
  const entries = Object.entries(input).map(async ([name, value]) => {
    if (!(value instanceof File)) return [name, value] as const;
    return [name, { filename: value.name, bytes: new Uint8Array(await value.arrayBuffer()) }] as const;
  });
  return Object.fromEntries(await Promise.all(entries));
}

/** Parameters for programs: a form neither asks for them nor offers them. */
const NOT_ASKED = new Set(['timeout', 'access_key', 'start', 'limit']);

export function fieldsOf(
  endpoint: Endpoint,
  { input = {}, fields, more = 'all' }: Pick<ActionProps, 'input' | 'fields' | 'more'>,
) {
  const inPath = pathParams(endpoint.path);
  const open = Object.keys(endpoint.params).filter((name) => !(name in input) && !NOT_ASKED.has(name));
  const required = open.filter((name) => endpoint.params[name]?.presence === 'required' || inPath.includes(name));
  const isShort = open.length <= 6;
  const asked = fields ?? (isShort ? open : required);
  const rest = open.filter((name) => !asked.includes(name));
  return { asked, folded: more === 'all' ? rest : more };
}

export function labelOfField({ labels }: Pick<ActionProps, 'labels'>, name: string): string {
  return labels?.[name] ?? words(name);
}
