import { Card, Group, Stack, Title } from '@mantine/core';
import { portal } from '../api/portal.ts';
import { useRead } from '../api/queries.ts';
import { ActionButton } from '../contract/action.tsx';
import { Failed, Loading, PageHead } from '../parts/messages.tsx';
import { roleWords } from '../parts/role.ts';
import { Sessions } from '../parts/sessions.tsx';
import { Facts } from '../parts/small.tsx';
import { SecondFactor } from './second-factor.tsx';

/** The signed-in person: password, second factor, and the browsers that are signed in. */
export default function Profile() {
  const me = useRead(portal.me.get, {});
  if (me.isPending) return <Loading />;
  if (me.isError) return <Failed error={me.error} retry={() => void me.refetch()} />;
  const { username, role, email, auto_approved: isAutoApproved, totp, recovery_codes_left: left } = me.data.data;
  return (
    <>
      <PageHead title="Profile" />
      <Stack>
        <Card withBorder>
          <Group justify="space-between" mb="sm">
            <Title order={2} size="h4">
              You
            </Title>
            <Group gap="xs">
              <ActionButton
                op={portal.me.update}
                label="Change mail address"
                isSmall
                fields={['email']}
                more={[]}
                start={{ email }}
              />
              <ActionButton
                op={portal.me.update}
                label="Change password"
                isSmall
                fields={['current_password', 'password']}
                more={[]}
                labels={{ current_password: 'Current password', password: 'New password' }}
                about="Your other sessions end, and your token is revoked."
              />
            </Group>
          </Group>
          <Facts
            of={[
              ['User name', username],
              ['Role', roleWords(role)],
              ['Mail address', email],
              ['Orders', isAutoApproved || role === 'admin' ? 'act at once' : 'wait for an administrator'],
            ]}
          />
        </Card>
        <SecondFactor isOn={totp} codesLeft={left} />
        <Card withBorder>
          <Title order={2} size="h4" mb="sm">
            Where you are signed in
          </Title>
          <Sessions list={portal.sessions.list} end={portal.sessions.delete} />
        </Card>
      </Stack>
    </>
  );
}
