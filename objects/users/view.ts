import { operations } from '@granary/contract';
import { objectsApi, type ObjectsRole } from '@granary/contract/objects';
import { formatUtc } from '@granary/kernel';
import { accountUrl } from '../accounts/view.ts';
import { roleView } from '../roles/routes.ts';
import { epochSeconds, trueFalse } from '../wording.ts';
import type { ShownSecrets, User } from './user.ts';

/** Swift's words for what there is one of here. */
const DOMAIN = 'default';

/** As lists and sign-in show a user; `locked` while sign-in is refused, for whatever reason. */
export function userView(user: User & ShownSecrets, publicUrl: string, locked: boolean) {
  const roles = [roleView(user.role)];
  return {
    id: user.number,
    username: user.username,
    email: user.email,
    access_key: user.accessKey,
    primary: user.isPrimary,
    admin: user.role !== 'member',
    locked,
    roles,
    display_timezone: 'UTC',
    notify_on_events: user.notifyOnEvents,
    objs_data: {
      objs_user: {
        account_id: user.accountId,
        account_name: user.accountName,
        id: user.id,
        token: user.token,
        token_expire_at: user.tokenExpiresAt === null ? null : formatUtc(user.tokenExpiresAt),
        s3_access_key: user.s3AccessKey,
        s3_secret_key: user.s3SecretKey,
        public_url: accountUrl(publicUrl, user.accountId),
        roles,
      },
    },
  };
}

/** As an account shows its users. */
export function accountUserView(user: User) {
  return {
    account_name: user.accountName,
    account_id: user.accountId,
    update_time: epochSeconds(user.modifiedAt),
    create_time: epochSeconds(user.createdAt),
    name: user.username,
    id: user.id,
    enabled: trueFalse(!user.locked),
    init_password_changed: trueFalse(user.initPasswordChanged),
    role_list: [user.role],
    is_system_user: trueFalse(user.isSystem),
  };
}

/** As a user is shown alone. */
export function userDetailView(
  user: User & ShownSecrets & { readonly passwordExpiresAt: number | null },
  managementUrl: string,
) {
  return {
    ...accountUserView(user),
    links: { self: `${managementUrl}/api/objs/users/${user.number}` },
    s3_secret_key: user.s3SecretKey,
    s3_access_key: user.s3AccessKey,
    domain_id: DOMAIN,
    project_id: user.accountId,
    password_expires_at: user.passwordExpiresAt === null ? null : formatUtc(user.passwordExpiresAt),
    notify_on_events: user.notifyOnEvents,
    notification_severity: user.notificationSeverity,
    primary: user.isPrimary,
    email: user.email,
  };
}

/** The operations a role may call, by their names in the contract. */
export function permissionsOf(role: ObjectsRole): string[] {
  return operations(objectsApi)
    .filter(({ endpoint: { access } }) => access.roles === 'anyone' || access.roles.includes(role))
    .map(({ id }) => id);
}
