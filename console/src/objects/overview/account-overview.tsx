import { SimpleGrid } from '@mantine/core';
import { objects } from '../../api/objects.ts';
import { useRead } from '../../api/queries.ts';
import { count, gigabytes } from '../../parts/format.ts';
import { PageHead } from '../../parts/messages.tsx';
import { PageLink, Section } from '../../parts/page-link.tsx';
import { Reading } from '../../parts/reading.tsx';
import { Metering } from '../metering/figures.tsx';
import { Held } from '../metering/held.tsx';
import { ThisMonth } from '../usage/this-month.tsx';
import { Figure } from './figure.tsx';

/** What an account administrator answers for. */
export function AccountOverview({ id }: { readonly id: string }) {
  const reading = useRead(objects.accounts.get, { account_id: id });
  const users = useRead(objects.accounts.listUsers, { account_id: id });
  return (
    <Reading of={reading}>
      {({ count: account }) => (
        <>
          <PageHead title={account.name} about={account.description ?? 'Your account.'} />
          <SimpleGrid cols={{ base: 1, xs: 3 }} mb="md">
            <Figure title="Buckets" to="/buckets" value={count(account.containers)}>
              {count(account.objects)} objects
            </Figure>
            <Figure title="Stored" to="/metering" value={gigabytes(account.used_capacity)}>
              all versions
            </Figure>
            <Figure title="Users" to="/users" value={users.data ? count(users.data.count) : '–'}>
              sign in to this account
            </Figure>
          </SimpleGrid>
          <Section title="This month" tools={<PageLink to="/usage">Usage report</PageLink>}>
            <ThisMonth account={id} />
          </Section>
          <Held group="accounts" id={id} />
          <Section title="Requests" tools={<PageLink to="/metering">Metering</PageLink>}>
            <Metering group="accounts" id={id} />
          </Section>
        </>
      )}
    </Reading>
  );
}
