import { objects } from '../../api/objects.ts';
import { action, type ActionProps } from '../../contract/action-props.ts';
import type { Account } from '../records.ts';

/** What can be done with an account in the state it is in. */
export function accountActions(account: Account): ActionProps<never>[] {
  const { id, name, state, description } = account;
  const input = { account_id: id };
  if (state === 'deleting') return [];
  if (state === 'deleted')
    return [
      action({
        op: objects.accounts.cleanUp,
        takesAway: true,
        label: 'Remove its bills',
        input,
        fields: [],
        more: [],
        destroys: name,
        about: 'What the deleted account used is no longer in usage reports, and its record goes.',
      }),
    ];
  return [
    action({
      op: objects.accounts.setDescription,
      label: 'Describe',
      input,
      start: { ...(description !== null && { description }) },
    }),
    action({ op: objects.accounts.setRateLimit, label: 'Limit its changes', input }),
    ...switchOf(account),
    ...(account.is_system_account === 'True' ? [] : [deletion(account)]),
  ];
}

function switchOf({ id, name, enabled, is_system_account: isSystem }: Account): ActionProps<never>[] {
  const input = { account_id: id };
  if (isSystem === 'True') return [];
  if (enabled === 'False')
    return [action({ op: objects.accounts.enable, label: 'Enable', input, said: `${name} is let in again.` })];
  return [
    action({
      op: objects.accounts.disable,
      label: 'Disable',
      input,
      about: `All users of ${name} are kept out, with every key and token. Its data stays and is billed on.`,
    }),
  ];
}

function deletion({ id, name, containers, objects: count }: Account): ActionProps<never> {
  return action({
    op: objects.accounts.delete,
    label: 'Delete',
    input: { account_id: id, force: true },
    fields: [],
    more: [],
    destroys: name,
    about: `Its users, ${containers} buckets and ${count} objects are deleted with it and cannot be restored.`,
    said: `${name} is being deleted.`,
  });
}
