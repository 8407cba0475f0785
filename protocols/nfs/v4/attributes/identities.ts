import type { Awaitable } from '../../filesystem.ts';
import { Nfs4Error, Status4 } from '../status.ts';

/** Names of users and groups, where a directory knows them. Numbers are understood without one. */
export interface Identities {
  userName?(uid: number): Awaitable<string | undefined>;
  groupName?(gid: number): Awaitable<string | undefined>;
  userId?(name: string): Awaitable<number | undefined>;
  groupId?(name: string): Awaitable<number | undefined>;
}

const U32_MAX = 0xffff_ffff;
const NUMBER = /^(0|[1-9]\d{0,9})(@.*)?$/;

function numeric(name: string): number | undefined {
  const found = NUMBER.exec(name)?.[1];
  return found !== undefined && Number(found) <= U32_MAX ? Number(found) : undefined;
}

export function nameOf(identities: Identities, kind: 'user' | 'group', id: number): Awaitable<string> {
  const known = kind === 'user' ? identities.userName?.(id) : identities.groupName?.(id);
  return known instanceof Promise ? known.then((name) => name ?? `${id}`) : (known ?? `${id}`);
}

export async function idOf(identities: Identities, kind: 'user' | 'group', name: string): Promise<number> {
  const number = numeric(name);
  if (number !== undefined) return number;
  const found = await (kind === 'user' ? identities.userId?.(name) : identities.groupId?.(name));
  if (found === undefined) throw new Nfs4Error(Status4.badOwner);
  return found;
}
