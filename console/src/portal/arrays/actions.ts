import { portal } from '../../api/portal.ts';
import { action, type ActionProps } from '../../contract/action.tsx';
import type { PortalArray } from './record.ts';

const arrays = portal.arrays;

/** What can be done with an array in the state it is in. */
export function actionsOf(array: PortalArray): ActionProps<never>[] {
  const input = { array_id: array.id };
  const isObjects = array.product === 'object_storage';
  switch (array.status) {
    case 'created':
      return [
        action({
          op: arrays.addDrives,
          label: 'Add drives',
          input,
          fields: isObjects ? ['drives', 'storage_policy'] : ['drives'],
          more: [],
        }),
        ...(isObjects ? [action({ op: arrays.addStoragePolicy, label: 'Add a storage policy', input })] : []),
        ...(isObjects ? [action({ op: arrays.addProxyController, label: 'Add a proxy controller', input })] : []),
        ...(isObjects ? [] : [action({ op: arrays.setEngine, label: 'Change the engine', input })]),
        ...(isObjects ? [] : [action({ op: arrays.setCache, label: 'Change the cache', input })]),
        action({ op: arrays.addPublicIp, label: 'Add a public address', input }),
        action({ op: arrays.removePublicIp, label: 'Remove the public address', input }),
        action({ op: arrays.addInterface, label: 'Join a network', input }),
        action({
          op: arrays.hibernate,
          label: 'Hibernate',
          input,
          about: 'The array stops and keeps its data. Servers lose their disks and shares until it is restored.',
        }),
        ...lockActions(array),
        deletion(array),
      ];
    case 'hibernated':
      return [
        action({ op: arrays.restore, label: 'Restore', input, about: 'The array starts again.' }),
        deletion(array),
      ];
    case 'failed':
      return [action({ op: arrays.restore, label: 'Try again', input }), deletion(array)];
    case 'deleted':
      return [
        action({
          op: arrays.undelete,
          label: 'Undelete',
          input,
          about: 'The array comes back with its data and addresses.',
        }),
        action({
          op: arrays.purge,
          label: 'Remove for good',
          input,
          destroys: array.name,
          about: 'All data of the array is removed now and cannot be brought back.',
        }),
      ];
    default:
      return [];
  }
}

function lockActions(array: PortalArray): ActionProps<never>[] {
  const input = { array_id: array.id };
  if (array.locked_down)
    return [action({ op: arrays.release, label: 'Release', input, about: 'It can be changed again.' })];
  const about = 'The array serves its data, and nothing of it is changed until you release it.';
  return [action({ op: arrays.lockDown, label: 'Lock down', input, about })];
}

function deletion(array: PortalArray): ActionProps<never> {
  return action({
    op: arrays.delete,
    label: 'Delete',
    input: { array_id: array.id },
    destroys: array.name,
    about: 'The array stops. It can be undeleted for a while; then all its data is removed.',
  });
}
