import { portal } from '../../api/portal.ts';
import { action, type ActionProps } from '../../contract/action-props.ts';
import { undo } from '../../contract/undo.tsx';
import { gigabytes } from '../../parts/format.ts';
import { appEngineItems, driveItems, engineItems, joinable, priced, zoneChoices } from './offered.ts';
import { isWaiting, policyTypesOf, type PortalArray, type PortalCloud } from './record.ts';

const arrays = portal.arrays;

type PricedChoices = NonNullable<ActionProps['choicesFrom']>;

const SIZE = 'Size';
const NETWORK = 'Network';
const FEATURES = 'Features';
const LIFE = 'Life';

type SizedArray = Omit<PortalArray, 'drives'>;

export interface ActionFacts {
  /** Where it is; undefined until that is known: then keys are typed. */
  readonly cloud: PortalCloud | undefined;
  /** Whose prices count. */
  readonly providerId: number | undefined;
  /** Whether what the person asks for is done at once, or waits for an administrator. */
  readonly actsAtOnce: boolean;
}

/** What can be done with an array in the state it is in. */
export function actionsOf(array: PortalArray, facts: ActionFacts): ActionProps<never>[] {
  const input = { array_id: array.id };
  switch (array.status) {
    case 'creating':
      return isWaiting(array) ? [withdrawal(array)] : [];
    case 'created':
      return [
        ...sizeActions(array, facts),
        ...networkActions(array),
        ...featureActions(array, facts.cloud),
        action({
          op: arrays.hibernate,
          section: LIFE,
          label: 'Hibernate',
          input,
          about: 'The array stops and keeps its data. Servers lose their disks and shares until it is restored.',
        }),
        ...lockActions(array),
        deletion(array, facts),
      ];
    case 'hibernated':
      return [
        action({ op: arrays.restore, label: 'Restore', input, about: 'The array starts again with all its data.' }),
        deletion(array, facts),
      ];
    case 'failed':
      // What was never placed cannot be restored; it is ordered again.
      return array.nova_id === null
        ? [removal(array)]
        : [action({ op: arrays.restore, label: 'Try again', input }), deletion(array, facts)];
    case 'deleted':
      return deletedActions(array);
    default:
      return [];
  }
}

export function sizeActions(array: SizedArray, { cloud, providerId }: ActionFacts): ActionProps<never>[] {
  const input = { array_id: array.id };
  const drives = cloud && { drives: driveItems(cloud) };
  const pricedEngines: PricedChoices =
    cloud && providerId !== undefined
      ? { engine: priced(engineItems(cloud), providerId), app_engine: priced(appEngineItems(cloud), providerId) }
      : {};
  const pricedDrives: PricedChoices =
    cloud && providerId !== undefined ? { drives: priced(driveItems(cloud), providerId) } : {};
  if (array.product === 'object_storage') {
    const policies = array.storage_policies?.map(({ policy_name: value, display_name: label }) => ({ value, label }));
    return [
      action({
        op: arrays.addDrives,
        section: SIZE,
        label: 'Add drives',
        input,
        fields: ['drives', 'storage_policy'],
        more: [],
        labels: { drives: 'How many more', storage_policy: 'To the storage policy' },
        choices: { ...drives, ...(policies && { storage_policy: policies }) },
        choicesFrom: pricedDrives,
      }),
      action({
        op: arrays.addStoragePolicy,
        section: SIZE,
        label: 'Add a storage policy',
        input,
        labels: { name: 'Name', storage_policy_type: 'How objects are kept', drives: 'Its drives' },
        choices: {
          ...drives,
          ...(cloud && {
            storage_policy_type: policyTypesOf(cloud).map(({ id, name }) => ({ value: String(id), label: name })),
          }),
        },
        choicesFrom: pricedDrives,
      }),
      action({
        op: arrays.addProxyController,
        section: SIZE,
        label: 'Add a proxy controller',
        input,
        labels: { allocation_zone_id: 'Zone' },
        choices: cloud && { allocation_zone_id: zoneChoices(cloud) },
        about: 'It serves more requests at once. It is billed by the hour.',
      }),
    ];
  }
  return [
    action({
      op: arrays.addDrives,
      section: SIZE,
      label: 'Add drives',
      input,
      fields: ['drives'],
      more: [],
      labels: { drives: 'How many more' },
      choices: drives,
      choicesFrom: pricedDrives,
      about: 'They are free drives of the array then: make a RAID group of them, or spares.',
    }),
    action({
      op: arrays.setEngine,
      section: SIZE,
      label: 'Change the engine',
      input,
      labels: { engine: 'Engine, for the data', app_engine: 'App engine, for the management of the array' },
      start: { engine: array.engine?.key, app_engine: array.app_engine?.key },
      choices: cloud && { engine: engineItems(cloud), app_engine: appEngineItems(cloud) },
      choicesFrom: pricedEngines,
      about: 'The controllers change over one after the other: servers go on working.',
    }),
    action({
      op: arrays.setCache,
      section: SIZE,
      label: 'Change the cache',
      input,
      labels: { flash_cache_capacity: 'Cache beyond the engine’s own, in GiB' },
      start: { flash_cache_capacity: array.cache.extra_gb },
      about: cloud && cacheWords(array, cloud),
    }),
  ];
}

function cacheWords(
  { engine }: Pick<PortalArray, 'engine'>,
  { flash_cache: { increment_gb: step }, engine_types: types }: PortalCloud,
) {
  const most = types.find(({ key }) => key === engine?.key)?.cache.max_flash_cache_gb;
  const limit = most === undefined ? '' : `, at most ${gigabytes(most)} with this engine`;
  return `In steps of ${gigabytes(step)}${limit}; 0 gives all of it back.`;
}

function networkActions(array: PortalArray): ActionProps<never>[] {
  const input = { array_id: array.id };
  return [
    action({
      op: arrays.addInterface,
      section: NETWORK,
      label: 'Join a network',
      input,
      labels: { virtual_network_id: 'Network' },
      choicesFrom: { virtual_network_id: joinable },
      about: 'The array gets an address in it, beside those it has.',
    }),
    action({ op: arrays.addPublicIp, section: NETWORK, label: 'Add a public address', input }),
    action({
      op: arrays.removePublicIp,
      section: NETWORK,
      label: 'Remove the public address',
      input,
      about: 'Clients at the public address lose their connection.',
    }),
  ];
}

function featureActions(array: PortalArray, cloud: PortalCloud | undefined): ActionProps<never>[] {
  const input = { array_id: array.id };
  if (array.product === 'object_storage') return [];
  const isFlash = cloud === undefined || array.drives.some((key) => /ssd|flash|nvme/i.test(key));
  return [
    ...(isFlash
      ? [
          action({
            op: arrays.enableDataReduction,
            section: FEATURES,
            label: 'Switch data reduction on',
            input,
            about: 'New volumes are compressed and deduplicated unless they say otherwise.',
          }),
          action({
            op: arrays.disableDataReduction,
            section: FEATURES,
            label: 'Switch data reduction off',
            input,
            about: 'New volumes are stored as they are, unless they say otherwise.',
          }),
        ]
      : []),
    ...(array.flc_enabled
      ? []
      : [
          action({
            op: arrays.enableFileLifecycle,
            section: FEATURES,
            label: 'Switch file lifecycle on',
            input,
            about: 'Policies can then archive or delete files of shares. It cannot be switched off again.',
          }),
        ]),
  ];
}

function lockActions(array: PortalArray): ActionProps<never>[] {
  const input = { array_id: array.id };
  if (array.locked_down)
    return [action({ op: arrays.release, section: LIFE, label: 'Release', input, about: 'It can be changed again.' })];
  const about = 'The array serves its data, and nothing of it is changed until you release it.';
  return [action({ op: arrays.lockDown, section: LIFE, label: 'Lock down', input, about })];
}

function deletion(array: PortalArray, { actsAtOnce }: ActionFacts): ActionProps<never> {
  const input = { array_id: array.id };
  const isBack = `${array.name} is being restored with its data and addresses.`;
  return action({
    op: arrays.delete,
    section: LIFE,
    label: 'Delete',
    input,
    destroys: array.name,
    about: actsAtOnce
      ? 'The array stops. It can be undeleted for a while; then all its data is removed.'
      : 'An administrator is asked. Once that is approved, the array stops; it can be undeleted for a while.',
    ...(actsAtOnce && {
      said: `${array.name} is being deleted.`,
      undo: undo({ op: arrays.undelete, input, said: isBack }),
    }),
  });
}

function removal({ id, name }: PortalArray): ActionProps<never> {
  return action({
    op: arrays.delete,
    takesAway: true,
    section: LIFE,
    label: 'Remove',
    input: { array_id: id },
    about: `${name} was never made; it leaves the list.`,
    said: `${name} was removed.`,
  });
}

function withdrawal({ id, name }: PortalArray): ActionProps<never> {
  return action({
    op: arrays.delete,
    takesAway: true,
    isFinal: true,
    label: 'Withdraw the order',
    input: { array_id: id },
    about: `${name} is not made, and its request goes.`,
    said: `The order of ${name} was withdrawn.`,
  });
}

function deletedActions(array: PortalArray): ActionProps<never>[] {
  const input = { array_id: array.id };
  return [
    action({
      op: arrays.undelete,
      label: 'Undelete',
      input,
      labels: { name: 'Another name' },
      about: 'The array is restored with its data and addresses.',
    }),
    action({
      op: arrays.purge,
      takesAway: true,
      label: 'Remove for good',
      input,
      destroys: array.name,
      about: 'All data of the array is removed now and cannot be restored.',
    }),
  ];
}
