import { ApiError, ConnectionError, objectsClient } from '@granary/client';
import { fail, type GranaryError, type Vault } from '@granary/kernel';
import type { ArrayRow } from '../arrays/repository.ts';

const ANSWER_MS_MAX = 10_000;
const HTTP_NOT_SERVED = 2;

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
      const { code } = await client.users.create({
        username: account.admin,
        email: account.email,
        account_id: id,
        role: 'account_admin',
      });
      const place = { username: account.admin, account: account.name };
      await client.users.usePasswordCode({ ...place, code, new_password: account.password });
      return id;
    });
  }

  async delete(array: ArrayRow, remoteId: string): Promise<void> {
    await this.#ask(array, (client) => client.accounts.delete({ account_id: remoteId, force: true }));
  }

  async #ask<T>(array: ArrayRow, question: (client: ReturnType<typeof objectsClient>) => Promise<T>): Promise<T> {
    if (array.management_url === null) throw unreachable(array);
    const accessKey = this.#vault.unseal(array.internal_key_sealed);
    try {
      return await question(objectsClient({ url: array.management_url, accessKey, timeoutMs: ANSWER_MS_MAX }));
    } catch (error) {
      throw explained(error, array);
    }
  }
}

function explained(error: unknown, array: ArrayRow): unknown {
  if (error instanceof ConnectionError) return unreachable(array);
  if (!(error instanceof ApiError)) return error;
  if (error.status === HTTP_NOT_SERVED) {
    return fail('not_supported', { problem: `Array ${array.name} does not serve accounts in this release.` });
  }
  return fail('not_supported', { problem: `Array ${array.name} refused: ${error.message}` });
}

function unreachable({ name, management_url: address }: ArrayRow): GranaryError {
  return fail('array_unreachable', { name, address: address ?? '(no address)' });
}
