import { objects } from '../../api/objects.ts';
import { action, type ActionProps } from '../../contract/action-props.ts';
import { roleChoices } from '../records.ts';

/** What the actions need to know of a user, whichever record it came in. */
export interface ActedUser {
  /** Its number or its id. */
  readonly id: string;
  readonly name: string;
  readonly account: string;
  readonly role: string;
  readonly isEnabled: boolean;
  /** Of the array's own account. */
  readonly isSystem: boolean;
}

export function userActions(user: ActedUser): ActionProps<never>[] {
  const { id, name, role, isSystem } = user;
  return [
    action({
      op: objects.users.changeRole,
      label: 'Change the role',
      input: { user_id: id },
      start: { role },
      choices: { role: roleChoices(isSystem) },
    }),
    newSecret(user),
    action({
      op: objects.users.resetPassword,
      label: 'Mail a code for a new password',
      input: { account: user.account, username: name },
      fields: [],
      more: [],
      about: 'The code is good once and for a day. Without a mail server it waits in the outbox folder of the array.',
      said: 'The code is on its way.',
    }),
    switchOf(user),
    action({
      op: objects.users.delete,
      takesAway: true,
      label: 'Delete',
      input: { id },
      destroys: name,
      about: 'The user is out at once, with every key. Buckets and objects belong to the account and stay.',
    }),
  ];
}

export function newSecret({ name, account }: Pick<ActedUser, 'name' | 'account'>): ActionProps<never> {
  return action({
    op: objects.users.resetS3Secret,
    label: 'New S3 secret key',
    input: { username: name, account },
    fields: [],
    more: [],
    about: 'Programs that use the old one are refused at once. The new one is shown here.',
    showsReply: true,
  });
}

function switchOf({ id, name, isEnabled }: ActedUser): ActionProps<never> {
  if (!isEnabled)
    return action({
      op: objects.users.enable,
      label: 'Enable',
      input: { user_id: id },
      said: `${name} is let in again.`,
    });
  return action({
    op: objects.users.disable,
    label: 'Disable',
    input: { user_id: id },
    about: `${name} is kept out, with every key and token, until it is enabled again.`,
  });
}
