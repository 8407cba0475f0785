import { Stack } from '@mantine/core';
import { useMemo } from 'react';
import { portal } from '../api/portal.ts';
import { useRead } from '../api/queries.ts';
import { useMay } from '../app/identity.tsx';
import { GroupPage, type Wording } from '../contract/group-page.tsx';
import type { AnyRecord } from '../contract/records.tsx';
import { State } from '../parts/small.tsx';

const { api } = portal.providers.list;
const GROUP_WORDING: Wording = { one: 'group', headings: { name: 'Name' }, labels: { name: 'Name' } };

/** Under which names the storage of clouds is sold. */
export default function Providers() {
  const may = useMay();
  const wording = useWording();
  return (
    <Stack gap="xl">
      <GroupPage
        api={api}
        group="providers"
        title="Providers"
        about="Names under which the storage of a cloud is sold."
        wording={wording}
        next="Register a cloud, then sell its storage under a name."
      />
      {may(portal.providerGroups.list) && (
        <GroupPage
          api={api}
          group="providerGroups"
          title="Provider groups"
          about="Providers that belong together, such as those of a region."
          prefix="groups-"
          wording={GROUP_WORDING}
          next="Providers join a group by “Change” at the provider."
        />
      )}
    </Stack>
  );
}

/** Names in place of numbers. */
function useWording(): Wording {
  const may = useMay();
  const clouds = useRead(portal.clouds.list, {}).data?.data;
  const groups = useRead(portal.providerGroups.list, {}, { enabled: may(portal.providerGroups.list) }).data?.data;
  return useMemo(() => {
    const named = (all: readonly { id: string; name: string }[] | undefined, id: unknown) =>
      all?.find((one) => one.id === String(id))?.name ?? '–';
    const choices = (all: readonly { id: string; name: string }[] | undefined) =>
      (all ?? []).map(({ id, name }) => ({ value: id, label: name }));
    return {
      one: 'provider',
      headings: { name: 'Name', state: 'State', cloud_id: 'Cloud', key: 'Key in orders', provider_group_id: 'Group' },
      cells: {
        state: (row) => <State of={stateOf(row)} />,
        cloud_id: ({ cloud_id: id }) => named(clouds, id),
        provider_group_id: ({ provider_group_id: id }) => named(groups?.provider_groups, id),
      },
      labels: {
        name: 'Name',
        key: 'Key in orders',
        cloud_id: 'Cloud',
        enabled: 'Open: users see it and may order',
        hidden: 'Hidden from lists of users',
        provider_group_id: 'Group',
      },
      choices: { cloud_id: choices(clouds), provider_group_id: choices(groups?.provider_groups) },
      startOf: ({ name, enabled, hidden }) => ({ name, enabled: enabled === 'true', hidden: hidden === 'true' }),
    };
  }, [clouds, groups]);
}

function stateOf({ enabled, hidden }: AnyRecord): string {
  if (enabled === 'false') return 'closed';
  return hidden === 'true' ? 'hidden' : 'open';
}
