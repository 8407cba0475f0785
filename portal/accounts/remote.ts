import { ApiError, StillRunning, type ObjectsClient } from '@granary/client';
import { errorCatalogue } from '@granary/contract';
import { parse } from 'csv-parse/sync';
import type { PortalArray } from '../arrays/array.ts';
import { ArrayRefusal, type ObjectsConnection } from '../arrays/objects-connection.ts';

/** Who asks for a record should not wait long for the figures in it. */
const FIGURES_MS_MAX = 3_000;

const SIGN_UPS_MAX = 100;

/** An account as the array has it. */
interface RemoteAccount {
  readonly id: string;
  readonly users: number;
}

interface Administrator {
  readonly username: string;
  readonly password: string;
  readonly email: string;
}

/** What an account holds. */
export interface AccountFigures {
  readonly usedGb: number;
  readonly containers: number;
  readonly objects: number;
}

/** Accounts live on the object storage array; this asks its own management interface for them. */
export class RemoteAccounts {
  readonly #connection: ObjectsConnection;

  constructor(connection: ObjectsConnection) {
    this.#connection = connection;
  }

  /** Undefined when no account has the name; one that was deleted no longer has it. */
  find(array: PortalArray, name: string): Promise<RemoteAccount | undefined> {
    return this.#connection.request(array, async (client) => {
      const { accounts } = await client.accounts.list({ filter_field: 'name', filter_value: name });
      const found = accounts.find((one) => one.name === name && one.state !== 'deleted');
      if (!found) return undefined;
      const { count: users } = await client.accounts.listUsers({ account_id: found.id });
      return { id: found.id, users };
    });
  }

  /** Returns the account's id on the array. */
  create(array: PortalArray, name: string): Promise<string> {
    return this.#connection.request(array, async (client) => (await client.accounts.create({ name })).count);
  }

  addAdministrator(array: PortalArray, account: { id: string; name: string }, admin: Administrator): Promise<void> {
    const { username, email, password } = admin;
    return this.#connection.request(array, async (client) => {
      const { code } = await client.users.create({ username, email, account_id: account.id, role: 'account_admin' });
      const place = { username, account: account.name };
      await client.users.usePasswordCode({ ...place, code, new_password: password });
    });
  }

  /** By the password the portal knows; one that was set by an earlier, interrupted try is set. */
  changePassword(
    array: PortalArray,
    { account, username: user }: { readonly account: string; readonly username: string },
    { before, after }: { readonly before: string; readonly after: string },
  ): Promise<void> {
    return this.#connection.request(array, async (client) => {
      try {
        await client.users.changePassword({ account, user, password: before, new_password: after });
      } catch (error) {
        if (!(error instanceof ApiError) || error.status !== errorCatalogue.invalid_credentials.code) throw error;
        const isSet = await client.users.authenticate({ account, user, password: after }).then(
          () => true,
          () => false,
        );
        if (!isSet)
          throw new ArrayRefusal(`The password of ${user} was changed at array ${array.name} itself; change it there.`);
      }
    });
  }

  /** True once it is deleted with all it held; false while the array is at it. One that is gone already is deleted. */
  delete(array: PortalArray, id: string): Promise<boolean> {
    return this.#connection.request(array, async (client) => {
      try {
        await client.accounts.delete({ account_id: id, force: true });
        return true;
      } catch (error) {
        if (error instanceof StillRunning) return false;
        if (isUnknownAccount(error)) return true;
        throw error;
      }
    });
  }

  /** Also its billing data: for an account that was never used. */
  async erase(array: PortalArray, id: string): Promise<void> {
    await this.delete(array, id);
    await this.#connection.request(array, async (client) => {
      try {
        await client.accounts.cleanUp({ account_id: id });
      } catch (error) {
        if (!isUnknownAccount(error)) throw error;
      }
    });
  }

  /** Approves who waits for an account, a few at a time; the names of the accounts that are open now. */
  approveSignUps(array: PortalArray): Promise<string[]> {
    return this.#connection.request(array, async (client) => {
      const { requests } = await client.requests.list({ state: 'pending', limit: SIGN_UPS_MAX, page: 1 });
      const opened: string[] = [];
      for (const { id, arguments: asked } of requests) {
        if (await isApproved(client, id)) opened.push(asked.account);
      }
      return opened;
    });
  }

  /** What every account holds, by its id; undefined when the array does not answer. */
  async figures(array: PortalArray): Promise<ReadonlyMap<string, AccountFigures> | undefined> {
    try {
      const file = await this.#connection.request(array, (client) => client.accounts.export(), FIGURES_MS_MAX);
      return figuresIn(file.bytes);
    } catch {
      return undefined;
    }
  }
}

export function accountExists({ name }: PortalArray, account: string): ArrayRefusal {
  return new ArrayRefusal(
    `Array ${name} has an account ${account} already. One that was opened on the array itself is listed on the Accounts page of that array.`,
  );
}

/** One for a name that was taken meanwhile will never be; any other refusal may pass. None keeps the others waiting. */
async function isApproved(client: ObjectsClient, id: number): Promise<boolean> {
  try {
    await client.requests.approve({ id });
    return true;
  } catch (error) {
    if (!(error instanceof ApiError) || error.status === errorCatalogue.internal.code) throw error;
    if (error.status === errorCatalogue.name_taken.code) await client.requests.deny({ id });
    return false;
  }
}

function figuresIn(csv: Uint8Array): Map<string, AccountFigures> {
  const lines = parse<Record<string, string>>(Buffer.from(csv), { columns: true });
  return new Map(
    lines.map((line) => [
      line['ID'] ?? '',
      {
        usedGb: Number(line['Used Capacity (GiB)']),
        containers: Number(line['Containers']),
        objects: Number(line['Objects']),
      },
    ]),
  );
}

function isUnknownAccount(error: unknown): boolean {
  return error instanceof ApiError && error.status === errorCatalogue.account_not_found.code;
}
