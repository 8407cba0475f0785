import type { Reply } from '../api/operations.ts';
import { objects } from '../api/objects.ts';
import { roleWords } from '../parts/role.ts';
import type { Choice } from '../contract/choice.ts';

/** Records of an object storage array, as its lists show them. */
export type Account = Reply<typeof objects.accounts.list.endpoint>['accounts'][number];
export type User = Reply<typeof objects.users.list.endpoint>['users'][number];
export type Policy = Reply<typeof objects.policies.list.endpoint>['policies'][number];
export type Drive = Reply<typeof objects.drives.list.endpoint>['disks'][number];
export type Controller = Reply<typeof objects.virtualControllers.list.endpoint>['vcs'][number];
export type BalancerGroup = Reply<typeof objects.loadBalancerGroups.list.endpoint>['lbgs'][number];
export type AccountRequest = Reply<typeof objects.requests.list.endpoint>['requests'][number];
export type Destination = Reply<typeof objects.destinations.list.endpoint>['container_replication_targets'][number];
export type Message = Reply<typeof objects.messages.list.endpoint>['messages'][number];
export type LogEntry = Reply<typeof objects.accessLogs.list.endpoint>['access_logs'][number];
export type Settings = Reply<typeof objects.settings.get.endpoint>;

/** Roles in words. The administrators of the array are all in its own account. */
export const allRoleChoices: Choice[] = ['objs_admin', 'account_admin', 'member'].map((value) => ({
  value,
  label: roleWords(value),
}));

export function roleChoices(isSystem: boolean): readonly Choice[] {
  const values = isSystem ? ['objs_admin', 'member'] : ['account_admin', 'member'];
  return values.map((value) => ({ value, label: roleWords(value) }));
}

export function accountChoices(accounts: readonly Account[]): Choice[] {
  return accounts.filter(({ state }) => state === 'normal').map(({ id, name }) => ({ value: id, label: name }));
}

export function roleOf({ roles }: User): string {
  const [role] = roles;
  return role?.name ?? 'member';
}
