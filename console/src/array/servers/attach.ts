import { array } from '../../api/array.ts';
import { action, type ActionProps } from '../../contract/action-props.ts';
import { gigabytes } from '../../parts/format.ts';
import { choicesOf, isShare, namesIn, type Server } from '../records.ts';
import type { ListedVolume } from '../volumes/all.ts';
import { canTake, cannotTakeWords, offeredFor, reachWords } from './reach.ts';

const LABELS = { id: 'Servers', volume_name: 'Volumes and shares', readonly: 'Access', lun: 'LUN' };
const ACCESS = [
  { value: 'false', label: 'Read and write' },
  { value: 'true', label: 'Read-only' },
];
/** A choice of its own, not one more of the servers. */
const START = { readonly: 'false' };

/** From the side of a volume. */
export function attachActions(volume: ListedVolume, servers: readonly Server[]): ActionProps<never>[] {
  const present = namesIn(volume.server_ext_names);
  const others = servers.filter(({ name }) => !present.includes(name));
  const attached = servers.filter(({ name }) => present.includes(name));
  const { able, chosen } = offeredFor(others, volume);
  const attach = action({
    op: array.servers.attachVolumes,
    label: 'Attach to servers',
    input: { volume_name: [volume.name] },
    fields: ['id', 'readonly'],
    more: isShare(volume) ? [] : ['lun', 'force'],
    labels: LABELS,
    choices: { id: choicesOf(able, (server) => reachWords(server, volume)), readonly: ACCESS },
    start: { ...START, ...(chosen && { id: [chosen.name] }) },
    about: [
      isShare(volume)
        ? 'The servers may mount it over NFS. They are known by their address.'
        : 'The servers see it as a disk over iSCSI.',
      cannotTakeWords(others, volume),
    ]
      .filter(Boolean)
      .join(' '),
    said: `${volume.display_name} is attached.`,
  });
  const detach = action({
    op: array.volumes.detach,
    label: 'Detach from servers',
    input: { id: volume.name },
    fields: ['servers'],
    more: [],
    start: { servers: attached.map(({ name }) => name) },
    choices: { servers: choicesOf(attached, (server) => reachWords(server, volume)) },
    said: `${volume.display_name} is detached.`,
    about: 'Unmount it there first: a server that is writing loses what it has not written yet.',
  });
  return [...(able.length > 0 ? [attach] : []), ...(attached.length > 0 ? [detach] : [])];
}

/** From the side of a server. */
export function attachToServer(server: Server, volumes: readonly ListedVolume[]): ActionProps<never> {
  const all = volumes.filter(({ server_ext_names }) => !namesIn(server_ext_names).includes(server.name));
  const others = all.filter((volume) => canTake(server, volume));
  return action({
    op: array.servers.attachVolumes,
    label: 'Attach volumes',
    input: { id: [server.name] },
    fields: ['volume_name', 'readonly'],
    more: ['lun', 'force'],
    labels: LABELS,
    about:
      others.length < all.length
        ? `Not offered: ${server.iqn === null ? 'volumes and shares' : 'shares'}, because ${server.display_name} has ${server.iqn === null ? 'neither an initiator name nor an address' : 'no address, and shares are mounted by address'}. Give it one with “Change”.`
        : undefined,
    choices: { volume_name: choicesOf(others, ({ virtual_capacity: size }) => gigabytes(size)), readonly: ACCESS },
    start: { ...START, ...(others.length === 1 && { volume_name: others.map(({ name }) => name) }) },
    said: `Attached to ${server.display_name}.`,
  });
}
