import { Accordion } from '@mantine/core';
import { array } from '../../api/array.ts';
import { useRead } from '../../api/queries.ts';
import { useParam } from '../../app/base.ts';
import { action } from '../../contract/action-props.ts';
import { ActionButton, ActionMenu } from '../../contract/action.tsx';
import { gigabytes } from '../../parts/format.ts';
import { Empty, PageHead } from '../../parts/messages.tsx';
import { PageLink, Section } from '../../parts/page-link.tsx';
import { Reading } from '../../parts/reading.tsx';
import { Facts, State, Time } from '../../parts/small.tsx';
import { DataTable } from '../../parts/table.tsx';
import { Actions } from '../actions.tsx';
import { Performance } from '../performance/figures.tsx';
import { connectionOf, type Server, type Volume } from '../records.ts';
import { useVolumes } from '../volumes/all.ts';
import { kindOf } from '../volumes/table.tsx';
import { serverActions } from './actions.ts';
import { attachToServer } from './attach.ts';
import { NO_ADDRESS } from './reach.ts';
import { Connect } from './connect.tsx';

export default function ServerPage() {
  const id = useParam('serverId');
  const reading = useRead(array.servers.get, { id });
  const attached = useRead(array.servers.listVolumes, { id });
  return (
    <Reading of={reading}>
      {({ server }) => (
        <>
          <PageHead title={server.display_name} about="Server">
            <AttachButton server={server} />
            <Actions of={serverActions(server)} goneTo="/servers" />
          </PageHead>
          <Section title="Details">
            <Facts
              of={[
                ['State', <State key="state" of={connectionOf(server)} />],
                ['State since', <Time key="since" at={server.last_state_change_time} />],
                ['Initiator', server.iqn],
                ['Address', server.iscsi_ip ?? NO_ADDRESS],
                ['System', server.os],
                ['IPsec', server.ipsec_iscsi === 'YES' || server.ipsec_nfs === 'YES' ? 'asked for' : 'no'],
                ['Identifier', server.name],
                ['Created', <Time key="made" at={server.created_at} />],
              ]}
            />
          </Section>
          <Section title="Volumes and shares">
            <Reading of={attached}>{({ volumes }) => <Attached server={server} volumes={volumes} />}</Reading>
          </Section>
          <Sessions id={id} />
          <Section title="Performance">
            <Performance op={array.servers.performance} id={id} />
          </Section>
        </>
      )}
    </Reading>
  );
}

function AttachButton({ server }: { readonly server: Server }) {
  const volumes = useVolumes().data ?? [];
  return <ActionButton {...attachToServer(server, volumes)} isMain />;
}

/** Each with the commands by which this server reaches it. */
function Attached({ server, volumes }: { readonly server: Server; readonly volumes: readonly Volume[] }) {
  if (volumes.length === 0) return <Empty title="Nothing is attached yet." action={<AttachButton server={server} />} />;
  return (
    <Accordion variant="separated" defaultValue={volumes.length === 1 ? volumes[0]?.name : null}>
      {volumes.map((volume) => (
        <Accordion.Item key={volume.name} value={volume.name}>
          <Accordion.Control>
            {volume.display_name}, {kindOf(volume)}, {gigabytes(volume.virtual_capacity)}
            {volume.lun === null ? '' : `, LUN ${volume.lun}`}
            {volume.read_only === 'YES' ? ', read-only' : ''}
          </Accordion.Control>
          <Accordion.Panel>
            <PageLink to={`/volumes/${volume.name}`}>To the volume’s page</PageLink>
            <Connect volume={volume} server={server} />
          </Accordion.Panel>
        </Accordion.Item>
      ))}
    </Accordion>
  );
}

function Sessions({ id }: { readonly id: string }) {
  const { data } = useRead(array.servers.listSessions, { id });
  const sessions = data?.sessions ?? [];
  if (sessions.length === 0) return null;
  return (
    <Section title="Sessions">
      <DataTable
        label="Sessions"
        prefix="s"
        rows={sessions}
        rowKey={({ initiator, target, vc, access_type }) => `${access_type} ${initiator} ${target} ${vc}`}
        empty={null}
        columns={[
          {
            name: 'type',
            heading: 'Protocol',
            cell: ({ access_type }) => access_type,
            value: ({ access_type }) => access_type,
          },
          { name: 'from', heading: 'From', cell: ({ initiator }) => initiator, value: ({ initiator }) => initiator },
          {
            name: 'count',
            heading: 'Connections',
            align: 'right',
            cell: ({ count }) => count,
            value: ({ count }) => count,
          },
          { name: 'vc', heading: 'Controller', isExtra: true, cell: ({ vc }) => vc, value: ({ vc }) => vc },
          {
            name: 'actions',
            heading: '',
            align: 'right',
            cell: ({ initiator, target }) => (
              <ActionMenu
                label={initiator}
                actions={[
                  action({
                    op: array.servers.closeSession,
                    label: 'Close',
                    input: { initiator, target },
                    about: 'The server may open it again.',
                  }),
                ]}
              />
            ),
          },
        ]}
      />
    </Section>
  );
}
