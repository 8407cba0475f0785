import { randomInt } from 'node:crypto';
import { badParameter, type Db, type Tx, type Vault } from '@granary/kernel';
import type { ArrayTools } from '../tools.ts';
import { findChap, findHostChap, insertChap, putHostChap, updateChap, type SealedChap } from './repository.ts';

/** The names and secrets of the array, for servers without their own. */
export interface ArrayChap {
  readonly user: string;
  readonly secret: string;
  /** What the array proves to servers. */
  readonly hostUser: string | null;
  readonly hostSecret: string | null;
}

/** As callers send it: what is left out stays, and an empty text takes the array's own proof away. */
export interface ChapChange {
  readonly array_chap_user?: string | undefined;
  readonly array_chap_secret?: string | undefined;
  readonly host_chap_user?: string | undefined;
  readonly host_chap_secret?: string | undefined;
}

/** Servers, which import this. */
export interface ChapServers {
  /** Throws where a server would have one secret for both proofs. */
  checkArrayChap(db: Db, chap: ArrayChap): void;
  /** Those that are to show the array's secret name its user. */
  renameArrayUser(tx: Tx, from: string, to: string): void;
  resendAll(): Promise<void>;
}

const SECRET_LENGTH = 16;
const SECRET_CHARACTERS = 'ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnpqrstuvwxyz23456789';

export class ControllerChap {
  readonly #tools: ArrayTools;
  readonly #servers: ChapServers;

  constructor(tools: ArrayTools, servers: ChapServers) {
    this.#tools = tools;
    this.#servers = servers;
  }

  /** At the first start: the name and secret servers sign in to the array with. */
  async create(): Promise<void> {
    const { store, vault, configuration } = this.#tools;
    const fresh = { user: configuration().internalName, secret: vault.seal(newSecret()) };
    await store.write((tx) => insertChap(tx, fresh));
  }

  async change(wanted: ChapChange, actor: string): Promise<void> {
    const { store, vault, events } = this.#tools;
    await store.write((tx) => {
      const before = readArrayChap(tx, vault);
      if (before === undefined) throw new Error('An array has a CHAP secret from its first start on.');
      const after = changed(before, wanted);
      check(after);
      this.#servers.checkArrayChap(tx, after);
      updateChap(tx, sealed(after.user, after.secret, vault));
      const { hostUser, hostSecret } = after;
      putHostChap(tx, hostUser === null || hostSecret === null ? undefined : sealed(hostUser, hostSecret, vault));
      if (after.user !== before.user) this.#servers.renameArrayUser(tx, before.user, after.user);
      const title = 'The CHAP names or secrets of the array were changed.';
      events.record(tx, { severity: 'notice', title, subject: 'settings:chap', actor });
    });
    await this.#servers.resendAll();
  }
}

/** Unsealed. */
export function readArrayChap(db: Db, vault: Vault): ArrayChap | undefined {
  const chap = findChap(db);
  const host = findHostChap(db);
  return (
    chap && {
      user: chap.user,
      secret: vault.unseal(chap.secret),
      hostUser: host?.user ?? null,
      hostSecret: host === undefined ? null : vault.unseal(host.secret),
    }
  );
}

function changed(before: ArrayChap, wanted: ChapChange): ArrayChap {
  const textOf = (sent: string | undefined, kept: string | null) => (sent === undefined ? kept : sent || null);
  return {
    user: wanted.array_chap_user ?? before.user,
    secret: wanted.array_chap_secret ?? before.secret,
    hostUser: textOf(wanted.host_chap_user, before.hostUser),
    hostSecret: textOf(wanted.host_chap_secret, before.hostSecret),
  };
}

/** A name with each secret, and never one secret for both proofs. */
function check({ secret, hostUser, hostSecret }: ArrayChap): void {
  if (hostUser !== null && hostSecret === null)
    throw badParameter('host_chap_secret', 'is required with host_chap_user');
  if (hostUser === null && hostSecret !== null)
    throw badParameter('host_chap_user', 'is required with host_chap_secret');
  if (hostSecret === secret) throw badParameter('host_chap_secret', 'must differ from array_chap_secret');
}

function sealed(user: string, secret: string, vault: Vault): SealedChap {
  return { user, secret: vault.seal(secret) };
}

/** CHAP secrets have 12 to 16 characters; these are easy to read out. */
function newSecret(): string {
  return Array.from({ length: SECRET_LENGTH }, () => SECRET_CHARACTERS[randomInt(SECRET_CHARACTERS.length)]).join('');
}
