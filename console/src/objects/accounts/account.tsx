import { objects } from '../../api/objects.ts';
import { useRead } from '../../api/queries.ts';
import { useParam } from '../../app/base.ts';
import { Actions } from '../../array/actions.tsx';
import { count, gigabytes } from '../../parts/format.ts';
import { PageHead } from '../../parts/messages.tsx';
import { PageLink, Section } from '../../parts/page-link.tsx';
import { Reading } from '../../parts/reading.tsx';
import { Copy, Facts, State, Time } from '../../parts/small.tsx';
import { Metering } from '../metering/figures.tsx';
import { Held } from '../metering/held.tsx';
import type { Account } from '../records.ts';
import { ThisMonth } from '../usage/this-month.tsx';
import { UsersOfAccount } from '../users/of-account.tsx';
import { accountState } from './accounts.tsx';
import { accountActions } from './actions.ts';

export default function AccountPage() {
  return <OneAccount id={useParam('accountId')} />;
}

/** An account with its users, what it uses and what that costs. */
export function OneAccount({ id }: { readonly id: string }) {
  const reading = useRead(objects.accounts.get, { account_id: id });
  return (
    <Reading of={reading}>
      {({ count: account }) => (
        <>
          <PageHead title={account.name} about={account.description ?? 'Account'}>
            <Actions of={accountActions(account)} goneTo="/accounts" />
          </PageHead>
          <AccountFacts account={account} />
          <UsersOfAccount account={account} />
          <Section title="This month" tools={<PageLink to={`/usage?account=${id}`}>Usage report</PageLink>}>
            <ThisMonth account={id} />
          </Section>
          <Held group="accounts" id={id} />
          <Section title="Requests">
            <Metering group="accounts" id={id} />
          </Section>
        </>
      )}
    </Reading>
  );
}

function AccountFacts({ account }: { readonly account: Account }) {
  return (
    <Section title="Details">
      <Facts
        of={[
          ['State', <State key="state" of={accountState(account)} />],
          ['Stored', `${gigabytes(account.used_capacity)} in ${count(account.objects)} objects`],
          ['Buckets', count(account.containers)],
          ['Limit of changes', <Limit key="limit" id={account.id} />],
          ['Mail of its first user', account.email],
          ['Created', <Time key="since" at={account.create_time} />],
          [
            'Identifier',
            <span key="id">
              {account.id} <Copy text={account.id} label="Copy the identifier" />
            </span>,
          ],
          ['Swift address', account.public_url_list.map((url) => <div key={url}>{url}</div>)],
        ]}
      />
    </Section>
  );
}

function Limit({ id }: { readonly id: string }) {
  const reading = useRead(objects.accounts.getRateLimit, { account_id: id });
  if (!reading.data) return <>–</>;
  const { enabled: isOwn, rate_limit: limit } = reading.data;
  const text = limit === null ? 'none' : `${count(limit)} a second`;
  return <>{isOwn ? `${text}, its own` : `${text}, as for all`}</>;
}
