import { array } from '../../api/array.ts';
import { action, type ActionProps } from '../../contract/action.tsx';
import { gigabytes } from '../../parts/format.ts';
import { choicesOf, isShare, namesIn, type Server } from '../records.ts';
import type { ListedVolume } from '../volumes/all.ts';

const LABELS = { id: 'Servers', volume_name: 'Volumes and shares', readonly: 'Access', lun: 'LUN' };
const ACCESS = [
  { value: 'false', label: 'Read and write' },
  { value: 'true', label: 'Read-only' },
];
/** A choice of its own, not one more of the servers. */
const START = { readonly: 'false' };

function addressOf({ iqn, iscsi_ip }: Server): string {
  return iqn ?? iscsi_ip ?? 'no address';
}

/** From the side of a volume. */
export function attachActions(volume: ListedVolume, servers: readonly Server[]): ActionProps<never>[] {
  const present = namesIn(volume.server_ext_names);
  const others = servers.filter(({ name }) => !present.includes(name));
  const attached = servers.filter(({ name }) => present.includes(name));
  const attach = action({
    op: array.servers.attachVolumes,
    label: 'Attach to servers',
    input: { volume_name: [volume.name] },
    fields: ['id', 'readonly'],
    more: isShare(volume) ? [] : ['lun', 'force'],
    labels: LABELS,
    choices: { id: choicesOf(others, addressOf), readonly: ACCESS },
    start: { ...START, ...(others.length === 1 && { id: others.map(({ name }) => name) }) },
    about: isShare(volume)
      ? 'The servers may mount it over NFS. They are known by their address.'
      : 'The servers see it as a disk over iSCSI.',
    said: `${volume.display_name} is attached.`,
  });
  const detach = action({
    op: array.volumes.detach,
    label: 'Detach from servers',
    input: { id: volume.name },
    fields: ['servers'],
    more: [],
    start: { servers: attached.map(({ name }) => name) },
    choices: { servers: choicesOf(attached, addressOf) },
    said: `${volume.display_name} is detached.`,
    about: 'Unmount it there first: a server that is writing loses what it has not written yet.',
  });
  return [...(others.length > 0 ? [attach] : []), ...(attached.length > 0 ? [detach] : [])];
}

/** From the side of a server. */
export function attachToServer(server: Server, volumes: readonly ListedVolume[]): ActionProps<never> {
  const others = volumes.filter(({ server_ext_names }) => !namesIn(server_ext_names).includes(server.name));
  return action({
    op: array.servers.attachVolumes,
    label: 'Attach volumes',
    input: { id: [server.name] },
    fields: ['volume_name', 'readonly'],
    more: ['lun', 'force'],
    labels: LABELS,
    choices: { volume_name: choicesOf(others, ({ virtual_capacity: size }) => gigabytes(size)), readonly: ACCESS },
    start: { ...START, ...(others.length === 1 && { volume_name: others.map(({ name }) => name) }) },
    said: `Attached to ${server.display_name}.`,
  });
}
