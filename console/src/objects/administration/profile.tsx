import { objects } from '../../api/objects.ts';
import { useRead } from '../../api/queries.ts';
import { useIdentity, useMay, type Identity } from '../../app/identity.tsx';
import { ActionButton } from '../../contract/action.tsx';
import { Empty, PageHead } from '../../parts/messages.tsx';
import { PageLink, Section } from '../../parts/page-link.tsx';
import { Reading } from '../../parts/reading.tsx';
import { Sessions } from '../../parts/sessions.tsx';
import { Facts } from '../../parts/small.tsx';
import { roleWords } from '../../parts/role.ts';
import { S3Keys } from '../users/keys.tsx';
import { KeysByPassword } from './keys-by-password.tsx';

/** The signed-in person: keys, password, and the browsers that are signed in. */
export default function Profile() {
  const me = useIdentity('objects');
  const may = useMay();
  if (!me) return <Empty title="You have no user here." />;
  return (
    <>
      <PageHead title={me.username} about="You, as a user of this array.">
        <ActionButton
          op={objects.users.changePassword}
          label="Change the password"
          input={{ account: me.accountId ?? me.accountName ?? '', user: me.username }}
          labels={{ password: 'Current password', new_password: 'New password' }}
        />
      </PageHead>
      <Section title="Identity">
        <Facts
          of={[
            ['User name', me.username],
            ['Role', roleWords(me.role)],
            ['Account', me.accountName],
          ]}
        />
      </Section>
      <Section title="Your S3 keys">
        {may(objects.users.list) && me.accountId !== undefined ? <OwnKeys me={me} /> : <KeysByPassword me={me} />}
      </Section>
      <Section title="Where you are signed in">
        <Sessions list={objects.sessions.list} end={objects.sessions.delete} />
      </Section>
    </>
  );
}

function OwnKeys({ me }: { readonly me: Identity }) {
  const reading = useRead(objects.users.list, {});
  return (
    <Reading of={reading}>
      {({ users }) => {
        const own = users.find(
          ({ username, objs_data: { objs_user: user } }) =>
            username === me.username && user.account_id === me.accountId,
        );
        if (!own) return <Empty title="You have no keys here." />;
        const id = String(own.id);
        return (
          <>
            <S3Keys userId={id} name={me.username} accessKey={own.objs_data.objs_user.s3_access_key} />
            <PageLink to={`/users/${id}`}>Replace them, and see how they are used</PageLink>
          </>
        );
      }}
    </Reading>
  );
}
