import { ApiError, ConnectionError, objectsClient, type ObjectsClient } from '@granary/client';
import { errorCatalogue } from '@granary/contract';
import { fail, type GranaryError, type Vault } from '@granary/kernel';
import type { ArrayRow } from '../arrays/repository.ts';

const ANSWER_MS_MAX = 10_000;

export interface NewRemoteAccount {
  readonly name: string;
  readonly admin: string;
  readonly password: string;
  readonly email: string;
}

/** Accounts live on the object storage array; this asks its own management interface for them. */
export class RemoteAccounts {
  readonly #vault: Vault;

  constructor(vault: Vault) {
    this.#vault = vault;
  }

  /** Opens the account with its administrator; returns the account's id on the array. */
  async create(array: ArrayRow, account: NewRemoteAccount): Promise<string> {
    return this.#ask(array, async (client) => {
      const { count: id } = await client.accounts.create({ name: account.name });
      try {
        await addAdministrator(client, id, account);
      } catch (error) {
        // Half an account would keep the name taken for the next try; what is wrong is told, not what comes of this.
        await client.accounts.delete({ account_id: id, force: true }).catch(() => undefined);
        throw error;
      }
      return id;
    });
  }

  /** An account that is gone already is what was asked for. */
  async delete(array: ArrayRow, remoteId: string): Promise<void> {
    await this.#ask(array, async (client) => {
      try {
        await client.accounts.delete({ account_id: remoteId, force: true });
      } catch (error) {
        if (!(error instanceof ApiError) || error.status !== errorCatalogue.account_not_found.code) throw error;
      }
    });
  }

  async #ask<T>(array: ArrayRow, question: (client: ObjectsClient) => Promise<T>): Promise<T> {
    if (array.management_url === null) throw unreachable(array);
    const accessKey = this.#vault.unseal(array.internal_key_sealed);
    try {
      return await question(objectsClient({ url: array.management_url, accessKey, timeoutMs: ANSWER_MS_MAX }));
    } catch (error) {
      throw explained(error, array);
    }
  }
}

async function addAdministrator(client: ObjectsClient, id: string, account: NewRemoteAccount): Promise<void> {
  const { code } = await client.users.create({
    username: account.admin,
    email: account.email,
    account_id: id,
    role: 'account_admin',
  });
  const place = { username: account.admin, account: account.name };
  await client.users.usePasswordCode({ ...place, code, new_password: account.password });
}

function explained(error: unknown, array: ArrayRow): unknown {
  if (error instanceof ConnectionError) return unreachable(array);
  if (!(error instanceof ApiError)) return error;
  if (error.status === errorCatalogue.not_served.code) {
    return fail('not_supported', { problem: `Array ${array.name} does not serve accounts in this release.` });
  }
  return fail('not_supported', { problem: `Array ${array.name} refused: ${error.message}` });
}

function unreachable({ name, management_url: address }: ArrayRow): GranaryError {
  return fail('array_unreachable', { name, address: address ?? '(no address)' });
}
