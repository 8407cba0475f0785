import { Badge } from '@mantine/core';
import { portal } from '../api/portal.ts';
import { useSession } from '../app/session.tsx';
import { GroupPage, type Wording } from '../contract/group-page.tsx';
import { roleWords } from '../parts/role.ts';
import { State } from '../parts/small.tsx';

const wording: Wording = {
  one: 'user',
  headings: {
    username: 'User',
    role: 'Role',
    state: 'State',
    email: 'Mail address',
    auto_approved: 'Orders',
    totp: 'Second factor',
    created_at: 'Created',
  },
  cells: {
    role: ({ role }) => (
      <Badge variant="default" tt="none">
        {roleWords(String(role))}
      </Badge>
    ),
    state: ({ enabled, locked }) => (
      <State of={enabled === false ? 'disabled' : locked === true ? 'locked' : 'active'} />
    ),
    totp: ({ totp }) => (totp === true ? 'on' : 'off'),
    auto_approved: ({ role, auto_approved: isAutoApproved }) =>
      role === 'admin' || isAutoApproved === true ? 'act at once' : 'wait for approval',
  },
  labels: {
    username: 'User name',
    password: 'Password',
    email: 'Mail address',
    role: 'Role',
    auto_approved: 'Orders act at once, without an administrator',
  },
  startOf: ({ email, role, auto_approved: isAutoApproved }) => ({
    ...(email !== null && { email }),
    role,
    auto_approved: isAutoApproved,
  }),
  fits: (operation, { enabled, totp }) => {
    if (operation === 'enable') return enabled === false;
    if (operation === 'disable') return enabled !== false;
    return operation !== 'removeTotp' || totp === true;
  },
  actions: {
    disable: { label: 'Disable', about: 'Sessions and tokens of the user end now.' },
    enable: { label: 'Enable' },
    revokeTokens: {
      label: 'Revoke the tokens',
      about: 'Programs that use the token of the user have to ask for another.',
    },
    removeTotp: {
      label: 'Remove the second factor',
      about: 'For somebody who lost it: the password alone is enough then.',
    },
  },
};

/** What one does to others only. */
const TO_OTHERS = ['disable', 'removeTotp'];

export default function Users() {
  const { username: own } = useSession();
  const fits: Wording['fits'] = (operation, row) =>
    !(row['username'] === own && TO_OTHERS.includes(operation)) && (wording.fits?.(operation, row) ?? true);
  return (
    <GroupPage
      api={portal.users.list.api}
      group="users"
      title="Users"
      about="Who signs in here. An administrator sees and decides everything; a user, what is their own."
      wording={{ ...wording, fits }}
    />
  );
}
