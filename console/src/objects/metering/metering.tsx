import { Group, Select } from '@mantine/core';
import { objects } from '../../api/objects.ts';
import { useRead } from '../../api/queries.ts';
import { useAddressText } from '../../app/base.ts';
import { useIdentity } from '../../app/identity.tsx';
import type { Choice } from '../../contract/choice.ts';
import { Empty, Loading, PageHead } from '../../parts/messages.tsx';
import { Section } from '../../parts/page-link.tsx';
import { Capacity } from './capacity.tsx';
import { Metering, type Metered } from './figures.tsx';
import { Held } from './held.tsx';

const KINDS: readonly { readonly value: Metered; readonly label: string; readonly isOperators: boolean }[] = [
  { value: 'loadBalancerGroups', label: 'All requests', isOperators: true },
  { value: 'policies', label: 'A storage policy', isOperators: true },
  { value: 'accounts', label: 'An account', isOperators: false },
  { value: 'users', label: 'A user', isOperators: false },
  { value: 'virtualControllers', label: 'A controller', isOperators: true },
  { value: 'drives', label: 'A drive', isOperators: true },
];

interface Thing extends Choice {
  readonly controller?: string | undefined;
}

export default function MeteringPage() {
  const me = useIdentity('objects');
  const isOperator = me?.role === 'objs_admin';
  const kinds = KINDS.filter(({ isOperators }) => isOperator || !isOperators);
  const [of, setOf] = useAddressText('of');
  const kind = kinds.find(({ value }) => value === of) ?? kinds[0];
  const [id, setId] = useAddressText('id');
  const things = useThings(kind?.value, isOperator);
  const present = things?.find(({ value }) => value === id) ?? things?.[0];
  if (!kind) return null;
  return (
    <>
      <PageHead
        title="Metering"
        about="Requests of S3 and Swift: how many, how much they carry, and how long they take."
      >
        <Group gap="xs">
          <Select
            aria-label="Of what"
            data={kinds.map(({ value, label }) => ({ value, label }))}
            value={kind.value}
            onChange={(value) => setOf(value ?? '')}
            allowDeselect={false}
            w={200}
          />
          {things && things.length > 1 && (
            <Select
              aria-label="Which"
              data={things.map(({ value, label }) => ({ value, label }))}
              value={present?.value ?? null}
              onChange={(value) => setId(value ?? '')}
              searchable
              limit={200}
              allowDeselect={false}
              w={240}
            />
          )}
        </Group>
      </PageHead>
      {!things && <Loading />}
      {things && !present && <Empty title="There is none of these yet." />}
      {present && (
        <Section title={kind.value === 'loadBalancerGroups' ? kind.label : present.label}>
          <Metering
            group={kind.value}
            id={present.value}
            {...(present.controller !== undefined && { controller: present.controller })}
          />
        </Section>
      )}
      {present && (kind.value === 'accounts' || kind.value === 'policies') && (
        <Held group={kind.value} id={present.value} />
      )}
      <Capacity />
    </>
  );
}

/** What the second choice offers; undefined while it is read. */
function useThings(kind: Metered | undefined, isOperator: boolean): readonly Thing[] | undefined {
  const me = useIdentity('objects');
  const groups = useRead(objects.loadBalancerGroups.list, {}, { enabled: kind === 'loadBalancerGroups' }).data?.lbgs;
  const policies = useRead(objects.policies.list, {}, { enabled: kind === 'policies' }).data?.policies;
  const accounts = useRead(objects.accounts.list, {}, { enabled: kind === 'accounts' && isOperator }).data?.accounts;
  const users = useRead(objects.users.list, {}, { enabled: kind === 'users' }).data?.users;
  const controllers = useRead(objects.virtualControllers.list, {}, { enabled: kind === 'virtualControllers' }).data
    ?.vcs;
  const drives = useRead(objects.drives.list, {}, { enabled: kind === 'drives' }).data?.disks;
  switch (kind) {
    case 'loadBalancerGroups':
      return groups?.map(({ name }) => ({ value: name, label: name }));
    case 'policies':
      return policies?.map(({ name, display_name: label }) => ({ value: name, label }));
    case 'accounts':
      if (!isOperator) return me?.accountId === undefined ? [] : [{ value: me.accountId, label: me.accountName ?? '' }];
      return accounts?.map(({ id, name }) => ({ value: id, label: name }));
    case 'users':
      return users?.map(({ id, username, objs_data: { objs_user: user } }) => ({
        value: String(id),
        label: isOperator ? `${username} of ${user.account_name}` : username,
      }));
    case 'virtualControllers':
      return controllers?.map(({ name }) => ({ value: name, label: name }));
    case 'drives':
      return drives
        ?.filter(({ vc }) => vc !== null)
        .map(({ name, display_name: label, vc }) => ({ value: name, label, controller: vc ?? undefined }));
    default:
      return [];
  }
}
