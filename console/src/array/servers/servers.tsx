import { useMemo } from 'react';
import { array } from '../../api/array.ts';
import { useRead } from '../../api/queries.ts';
import { ActionMenu } from '../../contract/action.tsx';
import { Bulk } from '../../parts/bulk.tsx';
import { Empty, PageHead } from '../../parts/messages.tsx';
import { PageLink } from '../../parts/page-link.tsx';
import { Reading } from '../../parts/reading.tsx';
import { State, Time } from '../../parts/small.tsx';
import { DataTable, type Column } from '../../parts/table.tsx';
import { connectionOf, namesIn, type Server } from '../records.ts';
import { useVolumes } from '../volumes/all.ts';
import { serverActions } from './actions.ts';
import { attachToServer } from './attach.ts';
import { NO_ADDRESS } from './reach.ts';
import { NewServer } from './new-server.tsx';

const columns: readonly Column<Server>[] = [
  {
    name: 'server',
    heading: 'Server',
    cell: ({ name, display_name }) => <PageLink to={`/servers/${name}`}>{display_name}</PageLink>,
    value: ({ display_name }) => display_name,
  },
  { name: 'state', heading: 'State', cell: (server) => <State of={connectionOf(server)} />, value: connectionOf },
  { name: 'iqn', heading: 'Initiator', cell: ({ iqn }) => iqn ?? '–', value: ({ iqn }) => iqn },
  {
    name: 'address',
    heading: 'Address',
    isExtra: true,
    cell: ({ iscsi_ip }) => iscsi_ip ?? NO_ADDRESS,
    value: ({ iscsi_ip }) => iscsi_ip,
  },
  { name: 'os', heading: 'System', isExtra: true, cell: ({ os }) => os ?? '–', value: ({ os }) => os },
  {
    name: 'changed',
    heading: 'State since',
    isExtra: true,
    cell: ({ last_state_change_time }) => <Time at={last_state_change_time} isRelative />,
    value: ({ last_state_change_time }) => last_state_change_time,
  },
];

export default function Servers() {
  const reading = useRead(array.servers.list, {});
  const volumes = useVolumes().data;
  const all = useMemo(() => {
    const counts = new Map<string, number>();
    for (const { server_ext_names } of volumes ?? [])
      for (const name of namesIn(server_ext_names)) counts.set(name, (counts.get(name) ?? 0) + 1);
    const attached: Column<Server> = {
      name: 'volumes',
      heading: 'Volumes',
      align: 'right',
      cell: ({ name }) => counts.get(name) ?? 0,
      value: ({ name }) => counts.get(name) ?? 0,
    };
    const actions: Column<Server> = {
      name: 'actions',
      heading: '',
      align: 'right',
      cell: (server) => (
        <ActionMenu
          label={server.display_name}
          actions={[attachToServer(server, volumes ?? []), ...serverActions(server)]}
        />
      ),
    };
    return [...columns, attached, actions];
  }, [volumes]);
  return (
    <>
      <PageHead title="Servers" about="Hosts that use the volumes and shares.">
        <NewServer />
      </PageHead>
      <Reading of={reading}>
        {({ servers }) => (
          <DataTable
            label="Servers"
            rows={servers}
            columns={all}
            rowKey={({ name }) => name}
            empty={
              <Empty title="There are no servers yet." action={<NewServer />}>
                A volume or share can be used once it is attached to a server.
              </Empty>
            }
            bulk={(chosen, clear) => (
              <Bulk
                op={array.servers.delete}
                label="Remove"
                about="Only servers without attached volumes can be removed. No data is lost."
                rows={chosen}
                nameOf={({ display_name }) => display_name}
                inputOf={({ name: id }) => ({ id })}
                isDestroying
                onDone={clear}
              />
            )}
          />
        )}
      </Reading>
    </>
  );
}
