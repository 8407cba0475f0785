import { Accordion, Group } from '@mantine/core';
import { array } from '../../api/array.ts';
import { useRead } from '../../api/queries.ts';
import { useParam } from '../../app/base.ts';
import { action } from '../../contract/action-props.ts';
import { ActionButton, ActionMenu } from '../../contract/action.tsx';
import { Empty, PageHead } from '../../parts/messages.tsx';
import { PageLink, Section } from '../../parts/page-link.tsx';
import { Reading } from '../../parts/reading.tsx';
import { State } from '../../parts/small.tsx';
import { Actions } from '../actions.tsx';
import { FileHistory } from '../files/history.tsx';
import { VolumeQuotas } from '../files/volume-quotas.tsx';
import { Performance } from '../performance/figures.tsx';
import { connectionOf, isShare, type Volume, type VolumeServer } from '../records.ts';
import { attachActions } from '../servers/attach.ts';
import { Connect } from '../servers/connect.tsx';
import { canTake, cannotTakeWords } from '../servers/reach.ts';
import { NewServer } from '../servers/new-server.tsx';
import { TimeLine } from '../snapshots/time-line.tsx';
import { VolumePolicies } from '../snapshots/volume-policies.tsx';
import { volumeActions } from './actions.tsx';
import { useArrayHabits } from './all.ts';
import { VolumeFacts, VolumeOptions } from './facts.tsx';
import { Migration } from './migration.tsx';

export default function VolumePage() {
  const id = useParam('volumeId');
  const reading = useRead(array.volumes.get, { id });
  const pools = useRead(array.pools.list, {}).data?.pools ?? [];
  const servers = useRead(array.servers.list, {}).data?.servers ?? [];
  const habits = useArrayHabits();
  return (
    <Reading of={reading}>
      {({ volume }) => (
        <>
          <PageHead
            title={volume.display_name}
            about={volume.comment ?? (isShare(volume) ? 'File share' : 'Block volume')}
          >
            <Actions
              label={`More about ${volume.display_name}`}
              of={[...attachActions(volume, servers), ...volumeActions(volume, pools, habits)]}
              goneTo="/volumes"
            />
          </PageHead>
          {volume.status === 'Migrating' && <Migration group={volume.cg_name} />}
          <Section title="Details">
            <VolumeFacts volume={volume} />
          </Section>
          <Section title="Servers">
            <VolumeServers volume={volume} />
          </Section>
          <Section title="Snapshots">
            <TimeLine volume={volume} />
          </Section>
          <VolumePolicies volume={volume} />
          <Section title="Performance">
            <Performance op={array.volumes.performance} id={id} />
          </Section>
          {isShare(volume) && (
            <>
              <VolumeQuotas volume={volume} />
              <FileHistory volume={volume} />
            </>
          )}
          <Section title="Options">
            <VolumeOptions volume={volume} />
          </Section>
        </>
      )}
    </Reading>
  );
}

/** The servers it is attached to, each with what to type there. */
function VolumeServers({ volume }: { readonly volume: Volume }) {
  const reading = useRead(array.volumes.listServers, { id: volume.name });
  const servers = useRead(array.servers.list, {}).data?.servers ?? [];
  const [attach] = attachActions(volume, servers);
  const canAttach = servers.some((server) => canTake(server, volume));
  return (
    <Reading of={reading}>
      {({ servers: attached }) =>
        attached.length === 0 ? (
          <Empty
            title="No server has it yet."
            action={
              <Group>
                {canAttach && attach && <ActionButton {...attach} isMain />}
                <NewServer stay isMain={!canAttach} />
              </Group>
            }
          >
            {canAttach
              ? 'Attach it to a server; the commands to use it there are shown here then.'
              : (cannotTakeWords(servers, volume) ?? 'Add the server that is to use it, then attach it.')}
          </Empty>
        ) : (
          <AttachedServers volume={volume} servers={attached} />
        )
      }
    </Reading>
  );
}

function AttachedServers({ volume, servers }: { readonly volume: Volume; readonly servers: readonly VolumeServer[] }) {
  return (
    <Accordion variant="separated" defaultValue={servers.length === 1 ? servers[0]?.name : null}>
      {servers.map((server) => (
        <Accordion.Item key={server.name} value={server.name}>
          <Accordion.Control>
            {server.display_name}, {server.access_type === 'ISCSI' ? 'iSCSI' : server.access_type}
            {server.lun === null ? '' : `, LUN ${server.lun}`}
            {server.read_only === 'YES' ? ', read-only' : ''}
          </Accordion.Control>
          <Accordion.Panel>
            <Group justify="space-between" mb="xs">
              <Group>
                <State of={connectionOf(server)} />
                <PageLink to={`/servers/${server.name}`}>To the server’s page</PageLink>
              </Group>
              <ActionMenu label={server.display_name} actions={attachmentActions(volume, server)} />
            </Group>
            <Connect volume={volume} server={server} />
          </Accordion.Panel>
        </Accordion.Item>
      ))}
    </Accordion>
  );
}

function attachmentActions(volume: Volume, server: VolumeServer) {
  const isReadOnly = server.read_only === 'YES';
  return [
    action({
      op: array.volumes.setPermissions,
      label: isReadOnly ? 'Allow writes' : 'Make read-only',
      input: { id: volume.name, server_name: server.name, read_only: !isReadOnly },
    }),
    action({
      op: array.volumes.detach,
      label: 'Detach',
      input: { id: volume.name, servers: [server.name] },
      fields: [],
      more: [],
      about: `Unmount it at ${server.display_name} first: what it has not written yet is lost.`,
    }),
  ];
}
