import { Checkbox, Tabs, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import { array } from '../../api/array.ts';
import { useRead } from '../../api/queries.ts';
import { CommandText } from '../../parts/small.tsx';
import type { Server, Volume, VolumeServer } from '../records.ts';
import { linuxDisk, linuxMount, macMount, vmwareDisk, vmwareMount, windowsDisk, type Disk } from './commands.ts';

const DEFAULT_TABS: Readonly<Record<string, string>> = { Windows: 'Windows', ESXi: 'VMware' };

/** The commands by which a server reaches what is attached to it. */
export function Connect({
  volume,
  server,
}: {
  readonly volume: Volume;
  readonly server: Server & Partial<VolumeServer>;
}) {
  if (volume.data_type === 'File-System') return <ConnectShare volume={volume} server={server} />;
  return <ConnectDisk volume={volume} server={server} />;
}

function ConnectDisk({ volume, server }: { readonly volume: Volume; readonly server: Server & Partial<VolumeServer> }) {
  const controllers = useRead(array.controllers.list, {}).data?.vcontrollers ?? [];
  const active = controllers.find(({ state }) => state === 'active') ?? controllers[0];
  const [isChap, setChap] = useState(false);
  const [user, setUser] = useState<string>();
  if (!active) return null;
  const chapUser = user ?? active.array_chap_user;
  const disk: Disk = {
    address: active.iscsi_ip,
    target: server.target ?? volume.target ?? active.target,
    lun: server.lun ?? volume.lun ?? 0,
    name: volume.display_name,
    initiator: server.iqn,
    chapUser: isChap ? chapUser : undefined,
    isReadOnly: (server.read_only ?? volume.read_only) === 'YES',
  };
  return (
    <>
      <Checkbox
        label="This server signs in with CHAP"
        checked={isChap}
        onChange={(event) => setChap(event.currentTarget.checked)}
        mb="xs"
      />
      {isChap && (
        <TextInput
          label="CHAP name"
          description="The one it was given, or the array’s own. Put its secret in place of SECRET-OF-THE-SERVER."
          value={chapUser}
          onChange={(event) => setUser(event.currentTarget.value)}
          mb="xs"
          maw={360}
        />
      )}
      <Commands
        start={DEFAULT_TABS[server.os ?? '']}
        of={[
          ['Linux', linuxDisk(disk)],
          ['Windows', windowsDisk(disk)],
          ['VMware', vmwareDisk(disk)],
        ]}
      />
    </>
  );
}

function ConnectShare({
  volume,
  server,
}: {
  readonly volume: Volume;
  readonly server: Server & Partial<VolumeServer>;
}) {
  if (volume.nfs_export_path === null) return <Text size="sm">The share is not exported over NFS.</Text>;
  const isReadOnly = (server.read_only ?? volume.read_only) === 'YES';
  const mount = { path: volume.nfs_export_path, name: volume.display_name, isReadOnly };
  return (
    <Commands
      start={DEFAULT_TABS[server.os ?? '']}
      of={[
        ['Linux', linuxMount(mount)],
        ['VMware', vmwareMount(mount)],
        ['macOS', macMount(mount)],
      ]}
    />
  );
}

function Commands({
  of: all,
  start,
}: {
  readonly of: readonly (readonly [string, string])[];
  readonly start?: string;
}) {
  const names = all.map(([name]) => name);
  return (
    <Tabs defaultValue={start !== undefined && names.includes(start) ? start : names[0]}>
      <Tabs.List mb="xs">
        {names.map((name) => (
          <Tabs.Tab key={name} value={name}>
            {name}
          </Tabs.Tab>
        ))}
      </Tabs.List>
      {all.map(([name, text]) => (
        <Tabs.Panel key={name} value={name}>
          <CommandText text={text} label={`Copy the commands for ${name}`} />
        </Tabs.Panel>
      ))}
    </Tabs>
  );
}
