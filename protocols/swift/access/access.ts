import type { Bucket } from '@granary/storage/object-store';
import type { AccountState, Caller, DataSettings } from '../../objects/context.ts';
import { SwiftRefusal } from '../request/refusal.ts';
import type { PolicyDecision } from './policy.ts';
import { levelOf, type Level } from './account-acl.ts';
import { aclAccountsOf, opensToCaller, opensToReferrer, storedAcl, withoutPublic, type Acl } from './acl.ts';

/** What a temporary URL opens: everything of an account, or one container of it; reading or writing. */
export interface TemporaryGrant {
  readonly account: string;
  readonly container: string | null;
  /** For writing alone: who may only put must not learn by copies and manifests what else is there. */
  readonly writes: boolean;
}

/** The caller: a user with a token, a client with a temporary URL, or anonymous. */
export interface Visitor {
  readonly caller: Caller | null;
  readonly grant: TemporaryGrant | null;
  readonly referer: string | undefined;
}

/** Names of accounts in an ACL stand for the ids they had when it was set, each ACL its own. */
function aclOf({ settings }: Bucket, kind: 'read' | 'write'): Acl {
  const { aclAccounts, publicAccessBlock } = settings;
  const acl = storedAcl(settings[kind], aclAccounts && aclAccountsOf(aclAccounts, kind));
  return publicAccessBlock?.ignorePublicAcls === true ? withoutPublic(acl) : acl;
}

/** What a visitor may do. */
export class SwiftAccess {
  readonly #visitor: Visitor;
  readonly #adminAccess: boolean;
  readonly #policy: Pick<PolicyDecision, 'decide'>;
  readonly #levels = new Map<string, Level>();

  constructor(visitor: Visitor, settings: DataSettings, policy: Pick<PolicyDecision, 'decide'>) {
    this.#visitor = visitor;
    this.#adminAccess = settings.adminAccess;
    this.#policy = policy;
  }

  /** What the ACL of an account opens is asked for before anything in it. */
  knows(account: AccountState): void {
    const { caller } = this.#visitor;
    if (caller !== null) this.#levels.set(account.id, levelOf(account, caller));
  }

  /** An operator who may reach the data of all accounts: quotas do not bind, and are set by, them. */
  get isOperator(): boolean {
    return this.#visitor.caller?.role === 'objs_admin' && this.#adminAccess;
  }

  /** Of an account: its administrators and operators have all of it, members what its ACL opens. */
  #level(account: string): Level {
    const { caller } = this.#visitor;
    if (caller === null) return 'none';
    const isAdministrator = caller.account === account && caller.role !== 'member';
    return isAdministrator || this.isOperator ? 'admin' : (this.#levels.get(account) ?? 'none');
  }

  /** Everything of the account is open, what others may see of it included. */
  owns(account: string): boolean {
    return this.#level(account) === 'admin';
  }

  /** What is in the account is open to reading. */
  sees(account: string): boolean {
    return this.#level(account) !== 'none';
  }

  /** Containers and objects of the account may be made, changed and removed. */
  writes(account: string): boolean {
    const level = this.#level(account);
    return level === 'admin' || level === 'read-write';
  }

  /** Comes by a temporary URL: metadata is not for them. */
  get isTemporary(): boolean {
    return this.#visitor.grant !== null;
  }

  /** An object. A certain version of it is the owner's, unless a policy grants it: ACLs and temporary URLs do not. */
  mayRead(bucket: Bucket, object: string, versionId?: string): boolean {
    const action = versionId === undefined ? 's3:GetObject' : 's3:GetObjectVersion';
    const verdict = this.#policy.decide(bucket, action, object, versionId);
    if (verdict === 'deny') return false;
    const { grant } = this.#visitor;
    if (grant !== null) return versionId === undefined && !grant.writes && this.#isGranted(bucket);
    if (verdict === 'allow' || this.sees(bucket.account)) return true;
    if (versionId !== undefined) return false;
    const acl = aclOf(bucket, 'read');
    return opensToReferrer(acl, this.#visitor.referer) || opensToCaller(acl, this.#visitor.caller);
  }

  mayList(bucket: Bucket, ofVersions: boolean): boolean {
    const verdict = this.#policy.decide(bucket, ofVersions ? 's3:ListBucketVersions' : 's3:ListBucket', null);
    if (verdict === 'deny' || this.#visitor.grant !== null) return false;
    if (verdict === 'allow' || this.sees(bucket.account)) return true;
    if (ofVersions) return false;
    const acl = aclOf(bucket, 'read');
    if (opensToCaller(acl, this.#visitor.caller)) return true;
    return acl.listings && opensToReferrer(acl, this.#visitor.referer);
  }

  mayPut(bucket: Bucket, object: string): boolean {
    return this.#mayWrite(bucket, 's3:PutObject', object);
  }

  mayDelete(bucket: Bucket, object: string, versionId?: string): boolean {
    const action = versionId === undefined ? 's3:DeleteObject' : 's3:DeleteObjectVersion';
    return this.#mayWrite(bucket, action, object, versionId);
  }

  /** The container itself. */
  mayRemove(bucket: Bucket): boolean {
    return this.writes(bucket.account) && this.#policy.decide(bucket, 's3:DeleteBucket', null) !== 'deny';
  }

  #mayWrite(bucket: Bucket, action: string, object: string, versionId?: string): boolean {
    const { grant, caller } = this.#visitor;
    const verdict = this.#policy.decide(bucket, action, object, versionId);
    if (verdict === 'deny') return false;
    if (grant !== null) return versionId === undefined && grant.writes && this.#isGranted(bucket);
    if (verdict === 'allow' || this.writes(bucket.account)) return true;
    return versionId === undefined && opensToCaller(aclOf(bucket, 'write'), caller);
  }

  #isGranted(bucket: Bucket): boolean {
    const { grant } = this.#visitor;
    if (grant?.account !== bucket.account) return false;
    return grant.container === null || grant.container === bucket.name;
  }

  demandOwner(account: string): void {
    if (!this.owns(account)) throw this.denied(account);
  }

  demandWriter(account: string): void {
    if (!this.writes(account)) throw this.denied(account);
  }

  demandReader(account: string): void {
    if (!this.sees(account)) throw this.denied(account);
  }

  demand(allowed: boolean, account: string): void {
    if (!allowed) throw this.denied(account);
  }

  /** 401 for an anonymous client, which may retry with a token; 403 for a known user. */
  denied(account: string): SwiftRefusal {
    if (this.#visitor.caller !== null) return new SwiftRefusal(403, 'Access was denied to this resource.');
    return unauthorized(account);
  }
}

export function unauthorized(
  account: string,
  message = 'This server could not verify that you are authorized.',
): SwiftRefusal {
  return new SwiftRefusal(401, message, {
    'www-authenticate': `Swift realm="AUTH_${account.replace(/[^\w.-]/g, '')}"`,
  });
}
