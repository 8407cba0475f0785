import { Stack } from '@mantine/core';
import { portal } from '../api/portal.ts';
import { useRead } from '../api/queries.ts';
import { useMay } from '../app/identity.tsx';
import { action } from '../contract/action-props.ts';
import { ActionButton, ActionMenu } from '../contract/action.tsx';
import type { Reply } from '../api/operations.ts';
import { IconPlus } from '../parts/icons.tsx';
import { Empty, Failed, Loading, PageHead } from '../parts/messages.tsx';
import { Reading } from '../parts/reading.tsx';
import { DataTable, type Column } from '../parts/table.tsx';

type VlanRecord = Reply<typeof portal.vlans.list.endpoint>['data'][number];
type Network = Reply<typeof portal.virtualNetworks.list.endpoint>['data'][number];

/** Virtual networks that arrays have addresses in, and the VLANs below them. */
export default function Networks() {
  const may = useMay();
  const providers = useRead(portal.providers.list, {});
  const tenants = useRead(portal.tenants.list, {});
  const tenantOf = (id: number) => tenants.data?.data.find((one) => one.id === id)?.username ?? '–';
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
            labels={{
              name: 'Name',
              provider_id: 'Provider',
              tenant_id: 'Owner of the network',
              cidr: 'Address range (CIDR)',
              gateway: 'Gateway',
              allocatable_ip_ranges: 'Addresses that arrays may have',
              vlan_id: 'VLAN',
              default_for_tenant: 'The one new arrays join',
            }}
            about="Leave the VLAN open to take a free one of the provider."
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
        <NetworkList nameOf={nameOf} tenantOf={tenantOf} />
      </div>
      {may(portal.vlans.list) && <Vlans nameOf={nameOf} providers={choices.provider_id} />}
    </Stack>
  );
}

const VLAN_LABELS = { provider_id: 'Provider', vlan: 'VLAN number' };

function Vlans(props: {
  readonly nameOf: (id: number) => string;
  readonly providers: readonly { readonly value: string; readonly label: string }[];
}) {
  const { nameOf, providers } = props;
  const list = useRead(portal.vlans.list, {});
  return (
    <div>
      <PageHead title="VLANs" about="Given to providers; networks are made in them.">
        <ActionButton
          op={portal.vlans.allocate}
          label="Give a VLAN to a provider"
          labels={VLAN_LABELS}
          choices={{ provider_id: providers }}
        />
      </PageHead>
      <Reading of={list}>
        {({ data }) => (
          <DataTable
            label="VLANs"
            prefix="vlans-"
            rows={data}
            columns={[...vlanColumns(nameOf), vlanActions]}
            rowKey={({ cloud_id: cloud, vlan_id: vlan }) => `${cloud}-${vlan}`}
            empty={
              <Empty title="No provider has a VLAN yet.">
                A network without a VLAN takes a free one by itself; give a provider one that your switches know.
              </Empty>
            }
          />
        )}
      </Reading>
    </div>
  );
}

function vlanColumns(nameOf: (id: number) => string): readonly Column<VlanRecord>[] {
  return [
    { name: 'vlan', heading: 'VLAN', value: (one) => one.vlan_id, cell: (one) => one.vlan_id },
    {
      name: 'provider',
      heading: 'Provider',
      value: (one) => nameOf(one.provider_id),
      cell: (one) => `${nameOf(one.provider_id)}${one.default ? ', its default' : ''}`,
    },
    {
      name: 'networks',
      heading: 'Networks',
      isExtra: true,
      value: (one) => one.custom_networks.join(', '),
      cell: (one) => one.custom_networks.join(', ') || 'none',
    },
    {
      name: 'arrays',
      heading: 'Arrays',
      isExtra: true,
      value: (one) => one.arrays.join(', '),
      cell: (one) => one.arrays.join(', ') || 'none',
    },
  ];
}

const vlanActions: Column<VlanRecord> = {
  name: 'actions',
  heading: '',
  align: 'right',
  cell: (one) => {
    const input = { provider_id: one.provider_id, vlan: one.vlan_id };
    const isUsed = one.custom_networks.length > 0 || one.arrays.length > 0;
    return (
      <ActionMenu
        label={`VLAN ${one.vlan_id}`}
        actions={[
          ...(one.default
            ? []
            : [
                action({
                  op: portal.vlans.setDefault,
                  label: 'Make it the default',
                  input,
                  about: 'New networks of the provider are made in it.',
                }),
              ]),
          action({
            op: portal.vlans.deallocate,
            label: 'Remove it from the provider',
            input,
            about: isUsed
              ? 'It is in use: remove its networks first.'
              : 'The provider can make no networks in it any more.',
          }),
        ]}
      />
    );
  },
};

function NetworkList(props: { readonly nameOf: (id: number) => string; readonly tenantOf: (id: number) => string }) {
  const { nameOf, tenantOf } = props;
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
      name: 'tenant',
      heading: 'Of',
      isExtra: true,
      value: (one) => tenantOf(one.tenant_id),
      cell: (one) => tenantOf(one.tenant_id),
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
