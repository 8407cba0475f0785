import { array } from '../../api/array.ts';
import type { AnyInput } from '../../api/operations.ts';
import { useRead } from '../../api/queries.ts';
import { useGo } from '../../app/base.ts';
import { ActionButton } from '../../contract/action.tsx';
import { gigabytes } from '../../parts/format.ts';
import { IconPlus } from '../../parts/icons.tsx';
import { RoomHint } from '../pools/provisioned.tsx';
import { useArrayHabits } from './all.ts';
import { OPTION_LABELS } from './option-names.ts';
import { cappingFields, reductionFields, shareFields } from './options.ts';
import { choicesOf } from '../records.ts';

const LABELS = {
  ...OPTION_LABELS,
  name: 'Name',
  capacity: 'Size',
  pool: 'Pool',
  crypt: 'Encrypted',
  attachpolicies: 'Snapshots by the policies the array came with',
  export_name: 'Export name',
};
const GROWTH = ['autoexpand', 'maxcapacity', 'autoexpandby'];

/** Two buttons: a disk for a server, or a share for many. */
export function NewVolume({ pool }: { readonly pool?: string }) {
  const go = useGo();
  const { hasLifecycle } = useArrayHabits();
  const pools = useRead(array.pools.list, {}).data?.pools ?? [];
  if (pools.length === 0) return null;
  const largest = pools.reduce((best, one) => (one.available_capacity > best.available_capacity ? one : best));
  const shared = {
    op: array.volumes.create,
    icon: <IconPlus />,
    labels: LABELS,
    start: { pool: pool ?? largest.name },
    choices: { pool: choicesOf(pools, ({ available_capacity: free }) => `${gigabytes(free)} free`) },
    preview: ({ capacity, pool: chosen }: AnyInput) => (
      <RoomHint size={capacity} pool={pools.find(({ name }) => name === chosen)} />
    ),
    onDone: ({ value }: { readonly value: { readonly vol_name: string } | undefined }) => {
      if (value) go(`/volumes/${value.vol_name}`);
    },
  };
  return (
    <>
      <ActionButton
        {...shared}
        label="New volume"
        isMain
        input={{ block: true }}
        fields={['name', 'capacity', 'pool']}
        more={['crypt', 'attachpolicies', ...reductionFields, ...cappingFields]}
        about="A disk: one server, or several that know of each other, reach it over iSCSI."
        said="The volume is there. Next, attach it to a server."
      />
      <ActionButton
        {...shared}
        label="New share"
        input={{ block: false }}
        fields={['name', 'capacity', 'pool']}
        more={[
          'export_name',
          'crypt',
          'attachpolicies',
          ...GROWTH,
          ...reductionFields,
          ...(hasLifecycle ? ['flcenabled'] : []),
          ...shareFields,
          'smbstoredosattributes',
        ]}
        about="Files: any number of servers mount it over NFS."
        said="The share is there. Next, attach it to a server."
      />
    </>
  );
}
