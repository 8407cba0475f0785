import type { Caller } from '../../objects/context.ts';
import { SwiftRefusal } from '../request/refusal.ts';

const MAX_ACL = 4096;
const REFERRER = /^\.(r|ref|referer|referrer)$/;

interface Referrer {
  readonly host: string;
  readonly allowed: boolean;
}

/** X-Container-Read or X-Container-Write, read. */
export interface Acl {
  readonly referrers: readonly Referrer[];
  /** Who comes by a referrer may list, too. */
  readonly listings: boolean;
  readonly groups: readonly Group[];
}

/** Ids of the accounts that an ACL names, as they were when it was set: a name may be another account's later. */
export type AccountIds = Readonly<Record<string, string>>;

/** Undefined stands for every account, or every user. Names of users mean something within an account only. */
export interface Group {
  readonly account?: string;
  readonly userId?: string;
  readonly username?: string;
}

const EMPTY: Acl = { referrers: [], listings: false, groups: [] };

function bad(name: string, item: string): SwiftRefusal {
  return new SwiftRefusal(400, `${name}: cannot read "${item}" of the access control list`);
}

const ID = /^[0-9a-f]{32}$/;

/**
 * `account`, `account:user`, `account:*`, `*:user`, `*:*`. Users of any account are named by id: a name can be taken by
 * another account's user, before or after. So can names of accounts, which stand for the id they had when the ACL was set.
 * What looks like an id is never taken for a name.
 */
function groupOf(item: string, accounts: AccountIds): Group | undefined {
  const { name, user } = partsOf(item);
  const who = user === '*' ? {} : ID.test(user) ? { userId: user } : { username: user };
  const account = ID.test(name) ? name : Object.hasOwn(accounts, name) ? accounts[name] : undefined;
  if (account !== undefined) return user === '' ? undefined : { account, ...who };
  // A lone star is no group: opening to every authenticated user is written `*:*`.
  return name === '*' && item.includes(':') && who.username === undefined ? who : undefined;
}

function partsOf(item: string): { readonly name: string; readonly user: string } {
  const colon = item.indexOf(':');
  return colon < 0 ? { name: item, user: '*' } : { name: item.slice(0, colon), user: item.slice(colon + 1) };
}

function itemsOf(text: string): string[] {
  return text.split(',').map((item) => item.trim());
}

/** The accounts that an ACL names otherwise than by their ids. */
export function accountNamesOf(text: string): readonly string[] {
  const named = itemsOf(text).filter((item) => item !== '' && !item.startsWith('.'));
  return [...new Set(named.map((item) => partsOf(item).name))].filter(
    (name) => name !== '*' && name !== '' && !ID.test(name),
  );
}

/** Of the names kept with a container, as `read:<name>` and `write:<name>`, those of one of its ACLs. */
export function aclAccountsOf(kept: AccountIds, kind: 'read' | 'write'): AccountIds {
  const own = Object.entries(kept).filter(([name]) => name.startsWith(`${kind}:`));
  return Object.fromEntries(own.map(([name, id]) => [name.slice(kind.length + 1), id]));
}

/** What is kept of an ACL that cannot be read opens nothing. */
export function groupsOf(text: string, accounts: AccountIds): readonly Group[] {
  return itemsOf(text).flatMap((item) => groupOf(item, accounts) ?? []);
}

function group(name: string, item: string, accounts: AccountIds): Group {
  const read = groupOf(item, accounts);
  if (read) return read;
  const forms = '<account>, <account>:<user>, *:<user id> or *:*, with accounts by id or by a name that is known here';
  throw new SwiftRefusal(400, `${name}: "${item}" of the access control list must be ${forms}`);
}

function referrer(name: string, item: string): Referrer {
  let host = item.slice(item.indexOf(':') + 1).trim();
  const allowed = !host.startsWith('-');
  if (!allowed) host = host.slice(1).trim();
  if (host !== '*' && host.startsWith('*')) host = host.slice(1);
  if (host === '' || host === '.' || /[\s/:]/.test(host)) throw bad(name, item);
  return { host: host.toLowerCase(), allowed };
}

function isReferrer(item: string): boolean {
  const colon = item.indexOf(':');
  return colon > 0 && REFERRER.test(item.slice(0, colon).trim().toLowerCase());
}

/** Reads an ACL that a client sets; what cannot be understood is refused, because it would open less or more than meant. */
export function parseAcl(name: string, text: string, accounts: AccountIds = {}): Acl {
  if (text.length > MAX_ACL) throw new SwiftRefusal(400, `${name} is longer than ${MAX_ACL} characters`);
  const referrers: Referrer[] = [];
  const groups: Group[] = [];
  let listings = false;
  for (const item of itemsOf(text)) {
    if (item === '') continue;
    if (!item.startsWith('.')) groups.push(group(name, item, accounts));
    else if (name.toLowerCase() === 'x-container-write') throw bad(name, item);
    else if (item.toLowerCase() === '.rlistings') listings = true;
    else if (isReferrer(item)) referrers.push(referrer(name, item));
    else throw bad(name, item);
  }
  return { referrers, listings, groups };
}

const known = new Map<string, Acl>();
const KNOWN_LIMIT = 1000;

/** An ACL as it is kept. Containers share few of them, so they are read once. */
export function storedAcl(text: string | undefined, accounts: AccountIds = {}): Acl {
  if (text === undefined || text === '') return EMPTY;
  const key = `${text}\n${JSON.stringify(accounts)}`;
  const cached = known.get(key);
  if (cached !== undefined) return cached;
  if (known.size >= KNOWN_LIMIT) known.clear();
  // What names an account that is not known by now opens nothing.
  const readable = itemsOf(text).filter((item) => item.startsWith('.') || groupOf(item, accounts) !== undefined);
  const acl = parseAcl('X-Container-Read', readable.join(','), accounts);
  known.set(key, acl);
  return acl;
}

/** Anybody can send a referrer, and `*:*` is every user of every account. */
export function isPublicAcl({ referrers, groups }: Acl): boolean {
  return referrers.some(({ allowed }) => allowed) || groups.some(isEveryone);
}

/** What is left where public entries are ignored. */
export function withoutPublic({ groups }: Acl): Acl {
  return { ...EMPTY, groups: groups.filter((each) => !isEveryone(each)) };
}

function isEveryone({ account, userId, username }: Group): boolean {
  return account === undefined && userId === undefined && username === undefined;
}

function hostOf(referer: string | undefined): string {
  if (referer === undefined || !URL.canParse(referer)) return 'unknown';
  return new URL(referer).hostname.toLowerCase() || 'unknown';
}

/** The last entry that fits decides. */
export function opensToReferrer(acl: Acl, referer: string | undefined): boolean {
  if (acl.referrers.length === 0) return false;
  const host = hostOf(referer);
  let allowed = false;
  for (const entry of acl.referrers) {
    const fits = entry.host === '*' || entry.host === host || (entry.host.startsWith('.') && host.endsWith(entry.host));
    if (fits) allowed = entry.allowed;
  }
  return allowed;
}

function fitsGroup({ account, userId, username }: Group, caller: Caller): boolean {
  if (account !== undefined && account !== caller.account) return false;
  if (userId !== undefined) return userId === caller.user;
  return username === undefined || username === caller.username;
}

export function opensTo(groups: readonly Group[], caller: Caller): boolean {
  return groups.some((each) => fitsGroup(each, caller));
}

export function opensToCaller(acl: Acl, caller: Caller | null): boolean {
  return caller !== null && opensTo(acl.groups, caller);
}
