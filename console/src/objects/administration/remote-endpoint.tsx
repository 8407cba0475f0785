import { objects } from '../../api/objects.ts';
import { usePlace } from '../../api/places.tsx';
import { act, useRead } from '../../api/queries.ts';
import { useParam } from '../../app/base.ts';
import { Actions } from '../../array/actions.tsx';
import { ActionButton } from '../../contract/action.tsx';
import { Empty, PageHead } from '../../parts/messages.tsx';
import { PageLink, Section } from '../../parts/page-link.tsx';
import { Reading } from '../../parts/reading.tsx';
import { Facts, Secret, State, Time } from '../../parts/small.tsx';
import { DataTable } from '../../parts/table.tsx';
import { accountChoices } from '../records.ts';
import { destinationActions, TYPES } from './remote-endpoints.tsx';

export default function RemoteEndpoint() {
  const name = useParam('endpointName');
  const place = usePlace('objects');
  const reading = useRead(objects.destinations.get, { 'target-ext-name': name });
  const reveal = async () => {
    const { value } = await act(objects.destinations.get, place, { 'target-ext-name': name }, { reveal: true });
    return value?.target.secret ?? null;
  };
  return (
    <Reading of={reading}>
      {({ target }) => (
        <>
          <PageHead title={target.display_name} about="Remote endpoint">
            <Actions of={destinationActions(target)} goneTo="/remote-endpoints" />
          </PageHead>
          <Section title="Details">
            <Facts
              of={[
                ['State', <State key="state" of={target.state} />],
                ['Address', target.endpoint],
                ['Kind', TYPES[target.type] ?? target.type],
                ['Region', target.region],
                ['Connected by', target.network === 'feip' ? 'the address of the array' : 'the public address'],
                ['Buckets replicated', target.job_count],
                ['Access key', target.access],
                ['Secret key', <Secret key="secret" reveal={reveal} label="the secret key" />],
                ['Created', <Time key="since" at={target.created_at} />],
              ]}
            />
          </Section>
          <Grants name={name} />
        </>
      )}
    </Reading>
  );
}

/** Which accounts may replicate there. */
function Grants({ name }: { readonly name: string }) {
  const grants = useRead(objects.destinations.listGrants, { 'ext-name': name });
  const accounts = useRead(objects.accounts.list, {});
  const input = { 'ext-name': name };
  const give = (
    <ActionButton
      op={objects.destinations.grant}
      label="Grant to an account"
      isSmall
      input={input}
      fields={['account_id', 'own_prefix']}
      labels={{ account_id: 'Account', own_prefix: 'Names begin with the account’s id there' }}
      choices={{ account_id: accountChoices(accounts.data?.accounts ?? []) }}
    />
  );
  return (
    <Section title="Accounts that may use it" tools={give}>
      <Reading of={grants}>
        {({ grants: all }) => (
          <DataTable
            label="Grants"
            rows={all}
            rowKey={({ account_id: id }) => id}
            empty={<Empty title="No account may use it yet.">Without a grant it does not exist for an account.</Empty>}
            columns={[
              {
                name: 'account',
                heading: 'Account',
                value: ({ account_name: account }) => account,
                cell: ({ account_id: id, account_name: account }) => (
                  <PageLink to={`/accounts/${id}`}>{account}</PageLink>
                ),
              },
              {
                name: 'prefix',
                heading: 'Key prefix',
                value: ({ prefix }) => prefix,
                cell: ({ prefix }) => (prefix === '' ? 'none' : prefix),
              },
              {
                name: 'actions',
                heading: '',
                align: 'right',
                cell: ({ account_id: id, account_name: account }) => (
                  <ActionButton
                    op={objects.destinations.revoke}
                    label="Revoke"
                    isSmall
                    input={{ ...input, account_id: id }}
                    destroys={account}
                    about={`The buckets of ${account} are no longer replicated there. What is there stays.`}
                  />
                ),
              },
            ]}
          />
        )}
      </Reading>
    </Section>
  );
}
