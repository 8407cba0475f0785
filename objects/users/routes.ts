import { operations } from '@granary/contract';
import { objectsApi, type ObjectsRole } from '@granary/contract/objects';
import { formatUtc } from '@granary/kernel';
import type { ObjectsHandlers } from '../handlers.ts';
import { roleView } from '../roles/routes.ts';
import type { User, Users, UserSecrets } from './service.ts';

export function userRoutes(users: Users, publicUrl: () => string): ObjectsHandlers<'users'> {
  return {
    authenticate: async (input, { ip }) => {
      const user = await users.signIn({ ...input, ip });
      return { user: { ...viewOf(user, publicUrl()), permissions: permissionsOf(user.role) } };
    },
  };
}

function viewOf(user: User & UserSecrets, url: string) {
  const roles = [roleView(user.role)];
  return {
    id: user.number,
    username: user.username,
    email: user.email,
    access_key: user.accessKey,
    primary: user.isPrimary,
    admin: user.role !== 'member',
    locked: user.locked,
    roles,
    display_timezone: 'UTC',
    notify_on_events: user.notifyOnEvents,
    objs_data: {
      objs_user: {
        account_id: user.accountId,
        account_name: user.accountName,
        id: user.id,
        token: user.token,
        token_expire_at: formatUtc(user.tokenExpiresAt),
        s3_access_key: user.s3AccessKey,
        s3_secret_key: user.s3SecretKey,
        public_url: `${url}/v1/AUTH_${user.accountId}`,
        roles,
      },
    },
  };
}

/** The operations a role may call, by their names in the contract. */
function permissionsOf(role: ObjectsRole): string[] {
  return operations(objectsApi)
    .filter(({ endpoint: { access } }) => access.roles === 'anyone' || access.roles.includes(role))
    .map(({ id }) => id);
}
