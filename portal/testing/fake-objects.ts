import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { delegatedKeyApi } from '@granary/contract';
import { objectsApi } from '@granary/contract/objects';
import {
  createApiServer,
  createLog,
  fail,
  GranaryError,
  innerApi,
  Store,
  systemClock,
  Vault,
  type Actor,
  type Handlers,
} from '@granary/kernel';

interface RemoteAccount {
  readonly name: string;
  readonly figures?: { readonly gib: number; readonly containers: number; readonly objects: number };
  admin?: { readonly username: string; readonly email: string; password?: string };
}

export interface FakeObjects {
  readonly url: string;
  /** Accounts by their id. */
  readonly accounts: Map<string, RemoteAccount>;
  /** People who signed up and wait, by the number of their request. */
  readonly signUps: Map<number, { readonly account: string; state: 'pending' | 'approved' | 'denied' }>;
  /** What people call the storage policies, by the names the array gives them. */
  readonly policies: Map<string, string>;
  /** Keys that callers came with. */
  readonly keysSeen: Set<string>;
  /** Whether new users are refused, as when a limit is reached. */
  refusesUsers: boolean;
  /** The next call of that operation is carried out, but its answer is lost. */
  losesAnswerTo: 'create' | 'user' | 'password' | 'delete' | undefined;
  stop(): Promise<void>;
}

/** The management interface of an object storage array, as far as accounts go. */
export async function startFakeObjects(): Promise<FakeObjects> {
  const dir = mkdtempSync(join(tmpdir(), 'granary-fake-objects-'));
  const store = new Store(join(dir, 'objects.db'), { component: 'fake', steps: [] });
  const accounts: FakeObjects['accounts'] = new Map();
  const keysSeen = new Set<string>();
  let made = 0;
  const signUps: FakeObjects['signUps'] = new Map();
  const fake = {
    accounts,
    signUps,
    keysSeen,
    policies: new Map<string, string>(),
    refusesUsers: false,
    losesAnswerTo: undefined as FakeObjects['losesAnswerTo'],
  };
  const lose = (operation: FakeObjects['losesAnswerTo']) => {
    if (fake.losesAnswerTo !== operation) return;
    fake.losesAnswerTo = undefined;
    throw new Error('the answer is lost');
  };
  const known = (id: string) => {
    const account = accounts.get(id);
    if (!account) throw fail('account_not_found', { id });
    return account;
  };
  const served: Handlers<typeof objectsApi, Actor> = {
    accounts: {
      create: ({ name }) => {
        if ([...accounts.values()].some((one) => one.name === name)) throw fail('name_taken', { name });
        const id = (++made).toString(16).padStart(32, '0');
        accounts.set(id, { name });
        lose('create');
        return { count: id };
      },
      delete: ({ account_id: id }) => {
        known(id);
        accounts.delete(id);
        lose('delete');
        return {};
      },
      cleanUp: ({ account_id: id }) => {
        known(id);
        return {};
      },
      list: () => ({ accounts: [...accounts].map(([id, { name }]) => shown(id, name)), count: accounts.size }),
      listUsers: ({ account_id: id }) => {
        const { admin } = known(id);
        return { users: [], count: admin ? 1 : 0 };
      },
      export: () => ({ filename: 'accounts.csv', bytes: Buffer.from(csvOf(accounts)) }),
    },
    policies: {
      get: ({ name }) => {
        const displayName = fake.policies.get(name);
        if (displayName === undefined) throw fail('objs_policy_not_found', { id: name });
        return { policy: { name, display_name: displayName } as never };
      },
    },
    requests: {
      list: () => {
        const waiting = [...signUps].filter(([, { state }]) => state === 'pending');
        const decided = { action: 'register_account', decided_by: null, decided_at: null, requested_at: '' };
        const requests = waiting.map(([id, { account }]) => {
          return { id, arguments: { username: 'dana', account, email: 'dana@x.org' }, ...decided };
        });
        return { requests, count: requests.length };
      },
      approve: ({ id }) => {
        const asked = signUps.get(id);
        if (!asked) throw fail('request_not_found', { id });
        if ([...accounts.values()].some(({ name }) => name === asked.account))
          throw fail('name_taken', { name: asked.account });
        asked.state = 'approved';
        return { count: id.toString(16).padStart(32, '0') };
      },
      deny: ({ id }) => {
        const asked = signUps.get(id);
        if (asked) asked.state = 'denied';
        return { request_id: id };
      },
    },
    users: {
      create: ({ username, email, account_id: id }) => {
        if (fake.refusesUsers) throw new GranaryError('objs_limit_reached', 'There are too many users.');
        if (known(id).admin) throw fail('name_taken', { name: username });
        known(id).admin = { username, email };
        lose('user');
        return { code: 'once-only' };
      },
      changePassword: (input) => {
        const account = [...accounts.values()].find((one) => one.name === input.account);
        if (account?.admin?.username !== input.user || account.admin.password !== input.password)
          throw fail('invalid_credentials');
        account.admin.password = input.new_password;
        lose('password');
        return { user: {} as never, csrf: '', message: 'The password was changed.' };
      },
      authenticate: (input) => {
        const account = [...accounts.values()].find((one) => one.name === input.account);
        if (account?.admin?.password !== input.password) throw fail('invalid_credentials');
        return { user: {} as never };
      },
      usePasswordCode: (input) => {
        const account = [...accounts.values()].find((one) => one.name === input.account);
        if (account?.admin?.username !== input.username || input.code !== 'once-only')
          throw fail('invalid_credentials');
        account.admin.password = input.new_password;
        lose('password');
        return { status_msg: 'The password was set.' };
      },
    },
  };
  const app = await createApiServer<typeof objectsApi, Actor>({
    api: objectsApi,
    handlers: served,
    inner: [
      innerApi(
        delegatedKeyApi,
        {
          delegatedKeys: {
            create: ({ username }) => ({
              delegated_key: {
                id: username,
                key: `portal.${username}`,
                username,
                role: 'objs_admin',
                account_id: '0'.repeat(32),
                account_name: 'objs_admin',
                expires_at: '2100-01-01 00:00:00 UTC',
                idle_seconds: 600,
              },
            }),
          },
        },
        () => ({ id: 'portal', role: 'portal' }),
      ),
    ],
    authenticate: ({ headers }) => {
      const key = headers['x-access-key'];
      if (typeof key !== 'string') return undefined;
      keysSeen.add(key);
      return { id: 'portal', role: 'objs_admin' };
    },
    store,
    vault: Vault.open(join(dir, 'master.key')),
    clock: systemClock,
    log: createLog('fake-objects', 'silent'),
    version: '0.0.0-test',
  });
  const url = await app.listen({ host: '127.0.0.1', port: 0 });
  return Object.assign(fake, {
    url,
    async stop() {
      await app.close();
      store.close();
      rmSync(dir, { recursive: true, force: true });
    },
  });
}

function shown(id: string, name: string) {
  const text = {
    is_system_account: 'False',
    enabled: 'True',
    state: 'normal',
    create_time: '0',
    update_time: '0',
  } as const;
  return {
    ...text,
    id,
    name,
    public_url_list: [],
    email: null,
    description: null,
    used_capacity: 0,
    containers: 0,
    objects: 0,
  };
}

function csvOf(accounts: FakeObjects['accounts']): string {
  const lines = [...accounts].map(([id, { name, figures }]) => {
    const { gib = 0, containers = 0, objects = 0 } = figures ?? {};
    return [name, id, 'normal', gib, containers, objects, 'True'].join(',');
  });
  return ['Name,ID,Status,Used Capacity (GiB),Containers,Objects,Enabled', ...lines, ''].join('\n');
}
