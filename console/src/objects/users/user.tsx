import { objects } from '../../api/objects.ts';
import { useRead } from '../../api/queries.ts';
import { useParam } from '../../app/base.ts';
import { Actions } from '../../array/actions.tsx';
import { PageHead } from '../../parts/messages.tsx';
import { PageLink, Section } from '../../parts/page-link.tsx';
import { Reading } from '../../parts/reading.tsx';
import { severities } from '../../parts/severity.tsx';
import { Facts, State, Time } from '../../parts/small.tsx';
import { Metering } from '../metering/figures.tsx';
import { roleWords } from '../../parts/role.ts';
import { userActions } from './actions.ts';
import { S3Keys } from './keys.tsx';

export default function UserPage() {
  const id = useParam('userId');
  const reading = useRead(objects.users.get, { id });
  return (
    <Reading of={reading}>
      {({ user }) => {
        const [role = 'member'] = user.role_list;
        const isEnabled = user.enabled === 'True';
        const acted = { id, name: user.name, account: user.account_id, role, isEnabled };
        return (
          <>
            <PageHead title={user.name} about={`${roleWords(role)} of the account ${user.account_name}`}>
              <Actions of={userActions({ ...acted, isSystem: user.account_name === 'objs_admin' })} goneTo="/users" />
            </PageHead>
            <Section title="Details">
              <Facts
                of={[
                  ['State', <State key="state" of={isEnabled ? 'active' : 'disabled'} />],
                  [
                    'Account',
                    <PageLink key="of" to={`/accounts/${user.account_id}`}>
                      {user.account_name}
                    </PageLink>,
                  ],
                  ['First user of the account', user.primary ? 'yes' : 'no'],
                  ['First password', user.init_password_changed === 'True' ? 'was replaced' : 'still to be chosen'],
                  ['Password expires', <Time key="expires" at={user.password_expires_at} />],
                  ['Mail', user.email],
                  [
                    'Events by mail',
                    user.notify_on_events
                      ? `${severities[user.notification_severity] ?? user.notification_severity} and worse`
                      : 'none',
                  ],
                  ['Created', <Time key="since" at={user.create_time} />],
                  ['Identifier', user.id],
                ]}
              />
            </Section>
            <Section title="S3 keys">
              <S3Keys userId={id} name={user.name} accessKey={user.s3_access_key} />
            </Section>
            <Section title="Requests">
              <Metering group="users" id={id} />
            </Section>
          </>
        );
      }}
    </Reading>
  );
}
