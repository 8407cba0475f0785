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

/** Undefined stands for every account, or every user. Names of users mean something within an account only. */
interface Group {
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
 * `account`, `account:user`, `account:*`, `*:user`, `*:*`. Accounts are named by id, and so are users of any account: a
 * name can be taken by another account, before or after. What looks like an id is never taken for a name.
 */
function groupOf(item: string): Group | undefined {
  const colon = item.indexOf(':');
  const account = colon < 0 ? item : item.slice(0, colon);
  const user = colon < 0 ? '*' : item.slice(colon + 1);
  const who = user === '*' ? {} : ID.test(user) ? { userId: user } : { username: user };
  if (ID.test(account)) return user === '' ? undefined : { account, ...who };
  // A lone star is no group: opening to every authenticated user is written `*:*`.
  return account === '*' && colon > 0 && who.username === undefined ? who : undefined;
}

function group(name: string, item: string): Group {
  const read = groupOf(item);
  if (read) return read;
  const forms = '<account id>, <account id>:<user>, *:<user id> or *:*';
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
export function parseAcl(name: string, text: string): Acl {
  if (text.length > MAX_ACL) throw new SwiftRefusal(400, `${name} is longer than ${MAX_ACL} characters`);
  const referrers: Referrer[] = [];
  const groups: Group[] = [];
  let listings = false;
  for (const item of text.split(',').map((part) => part.trim())) {
    if (item === '') continue;
    if (!item.startsWith('.')) groups.push(group(name, item));
    else if (name.toLowerCase() === 'x-container-write') throw bad(name, item);
    else if (item.toLowerCase() === '.rlistings') listings = true;
    else if (isReferrer(item)) referrers.push(referrer(name, item));
    else throw bad(name, item);
  }
  return { referrers, listings, groups };
}

const known = new Map<string, Acl>();
const KNOWN_LIMIT = 1000;

/** Lists kept before names of accounts were refused may have some; these open nothing. */
function isReadable(item: string): boolean {
  const text = item.trim();
  return text === '' || text.startsWith('.') || groupOf(text) !== undefined;
}

/** An ACL as it is kept. Containers share few of them, so they are read once. */
export function storedAcl(text: string | undefined): Acl {
  if (text === undefined || text === '') return EMPTY;
  const cached = known.get(text);
  if (cached !== undefined) return cached;
  if (known.size >= KNOWN_LIMIT) known.clear();
  const acl = parseAcl('X-Container-Read', text.split(',').filter(isReadable).join(','));
  known.set(text, acl);
  return acl;
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

export function opensToCaller(acl: Acl, caller: Caller | null): boolean {
  return caller !== null && acl.groups.some((each) => fitsGroup(each, caller));
}
