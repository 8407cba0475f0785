import { setImmediate as yieldTurn } from 'node:timers/promises';
import { formatUtc } from '@granary/kernel';
import type { ObjectsHandlers } from '../handlers.ts';
import type { ArraySettings } from '../settings/service.ts';
import type { ObjectUserService } from './service.ts';
import type { SignIns } from './sign-ins.ts';
import { accountUserView, permissionsOf, userDetailView, userView } from './view.ts';

interface UserRouteParts {
  readonly users: ObjectUserService;
  readonly signIns: SignIns;
  readonly settings: ArraySettings;
  /** Where the data path is reached first of all. */
  readonly publicUrl: () => string;
  readonly managementUrl: () => string;
}

type Served = Omit<ObjectsHandlers<'users'>, 'iops' | 'latency' | 'throughput' | 'presign'>;

/** Unsealing takes a while; a long list lets others have a turn in between. */
const OPENED_PER_TURN = 500;

export function userRoutes(parts: UserRouteParts): Served {
  return { ...managementRoutes(parts), ...signInRoutes(parts), ...adminAccessRoutes(parts) };
}

function managementRoutes({ users, signIns, publicUrl, managementUrl }: UserRouteParts): Served {
  return {
    list: async (page, { actor }) => {
      const { users: found, count } = users.list(actor, page);
      const shown: ReturnType<typeof userView>[] = [];
      for (const one of found) {
        const user = users.shown(actor, one);
        shown.push(userView(user, publicUrl(), signIns.isRefused(user)));
        if (shown.length % OPENED_PER_TURN === 0) await yieldTurn();
      }
      return { users: shown, count };
    },
    get: ({ id }, { actor }) => ({ user: userDetailView(users.get(actor, id), managementUrl()) }),
    create: async ({ account_id: accountId, notify_on_events: notifyOnEvents, ...input }, { actor }) => ({
      code: await users.create(actor, { ...input, accountId, notifyOnEvents }),
    }),
    delete: async ({ id }, { actor }) => {
      await users.delete(actor, id);
      return {};
    },
    enable: async ({ user_id: id }, { actor }) => {
      await users.enable(actor, id);
      return {};
    },
    disable: async ({ user_id: id }, { actor }) => {
      await users.disable(actor, id);
      return {};
    },
    changeRole: async ({ user_id: id, role }, { actor }) => {
      await users.changeRole(actor, id, role);
      return {};
    },
    resetS3Secret: async (place, { actor }) => {
      const { access, secret, userId, accountId } = await users.resetS3Secret(actor, place);
      return { credentials: [{ access, secret, user_id: userId, account_id: accountId }], count: 1 };
    },
  };
}

function signInRoutes({ signIns, publicUrl }: UserRouteParts): Served {
  return {
    authenticate: async (input, { ip }) => {
      const user = await signIns.signIn({ ...input, ip });
      return {
        user: { ...userView(user, publicUrl(), signIns.isRefused(user)), permissions: permissionsOf(user.role) },
      };
    },
    resetToken: async (input, { ip }) => {
      const { token, tokenExpiresAt } = await signIns.resetToken({ ...input, ip });
      return { token, token_expire_at: formatUtc(tokenExpiresAt) };
    },
    changePassword: async ({ new_password: next, ...input }, { ip }) => {
      const user = await signIns.changePassword({ ...input, ip }, next);
      // There are no cookies here, hence nothing that a forged request could ride on.
      return {
        user: userView(user, publicUrl(), signIns.isRefused(user)),
        csrf: '',
        message: 'The password was changed.',
      };
    },
    usePasswordCode: async ({ new_password: newPassword, ...input }, { ip }) => {
      await signIns.usePasswordCode({ ...input, newPassword, ip });
      return { status_msg: 'The password was set.' };
    },
    resetPassword: async (place, { ip }) => {
      await signIns.resetPassword({ ...place, ip });
      return { status_msg: 'If there is such a user with a mail address, a temporary code is on its way there.' };
    },
  };
}

function adminAccessRoutes({ settings }: UserRouteParts): Served {
  const opened = 'Administrators of the array can reach the data of all accounts.';
  const closed = 'Administrators of the array cannot reach the data of accounts other than their own.';
  return {
    enableAdminAccess: async (_, { actor }) => {
      await settings.change({ adminAccess: true }, opened, actor.username);
      return { message: opened };
    },
    disableAdminAccess: async (_, { actor }) => {
      await settings.change({ adminAccess: false }, closed, actor.username);
      return { message: closed };
    },
  };
}

/** The users of an account, below the address of the account. */
export function accountUserRoutes(users: ObjectUserService): Pick<ObjectsHandlers<'accounts'>, 'listUsers'> {
  return {
    listUsers: ({ account_id: id }, { actor }) => {
      const found = users.listOf(actor, id);
      return { users: found.map(accountUserView), count: found.length };
    },
  };
}
