import { Stack } from '@mantine/core';
import { portal } from '../api/portal.ts';
import { useRead } from '../api/queries.ts';
import { useMay } from '../app/identity.tsx';
import { ActionButton, ActionMenu, action } from '../contract/action.tsx';
import { GroupPage } from '../contract/group-page.tsx';
import type { Reply } from '../api/operations.ts';
import { IconPlus } from '../parts/icons.tsx';
import { Empty, Failed, Loading, PageHead } from '../parts/messages.tsx';
import { DataTable, type Column } from '../parts/table.tsx';

const { api } = portal.vlans.list;
type Network = Reply<typeof portal.virtualNetworks.list.endpoint>['data'][number];

/** Virtual networks that arrays have addresses in, and the VLANs below them. */
export default function Networks() {
  const may = useMay();
  const providers = useRead(portal.providers.list, {});
  const tenants = useRead(portal.tenants.list, {});
  const nameOf = (id: number) => providers.data?.data.find((one) => one.id === String(id))?.name ?? String(id);
  const choices = {
    provider_id: providers.data?.data.map(({ id, name }) => ({ value: id, label: name })) ?? [],
    tenant_id:
      tenants.data?.data.map(({ id, name, username }) => ({ value: String(id), label: `${name} (${username})` })) ?? [],
  };
  return (
    <Stack gap="xl">
      <div>
        <PageHead title="Networks" about="An array that joins a network gets an address in it.">
          <ActionButton
            op={portal.virtualNetworks.create}
            label="New network"
            isMain
            icon={<IconPlus />}
            choices={choices}
            fields={[
              'name',
              'provider_id',
              'tenant_id',
              'cidr',
              'gateway',
              'allocatable_ip_ranges',
              'vlan_id',
              'default_for_tenant',
            ]}
          />
        </PageHead>
        <NetworkList nameOf={nameOf} />
      </div>
      {may(portal.vlans.list) && (
        <GroupPage
          api={api}
          group="vlans"
          title="VLANs"
          about="Given to providers; networks are made in them."
          prefix="vlans-"
        />
      )}
    </Stack>
  );
}

function NetworkList({ nameOf }: { readonly nameOf: (id: number) => string }) {
  const list = useRead(portal.virtualNetworks.list, {});
  if (list.isPending) return <Loading />;
  if (list.isError) return <Failed error={list.error} retry={() => void list.refetch()} />;
  const columns: readonly Column<Network>[] = [
    { name: 'name', heading: 'Name', value: ({ name }) => name, cell: ({ name }) => name },
    {
      name: 'vlan',
      heading: 'VLAN',
      value: ({ vlan_id: vlan }) => vlan,
      cell: ({ vlan_id: vlan }) => vlan,
      align: 'right',
    },
    {
      name: 'provider',
      heading: 'Provider',
      value: (one) => nameOf(one.provider_id),
      cell: (one) => nameOf(one.provider_id),
    },
    {
      name: 'actions',
      heading: '',
      align: 'right',
      cell: (one) => (
        <ActionMenu
          label={one.name}
          actions={[
            action({
              op: portal.virtualNetworks.delete,
              label: 'Remove',
              input: { id: one.id, provider_id: one.provider_id, vlan: one.vlan_id },
              destroys: one.name,
            }),
          ]}
        />
      ),
    },
  ];
  return (
    <DataTable
      label="Networks"
      rows={list.data.data}
      columns={columns}
      rowKey={({ id }) => String(id)}
      empty={
        <Empty title="There are no networks yet.">Arrays are reached at their own address until they join one.</Empty>
      }
    />
  );
}
