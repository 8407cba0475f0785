import { array } from '../../api/array.ts';
import { useRead } from '../../api/queries.ts';
import { action } from '../../contract/action-props.ts';
import { ActionMenu } from '../../contract/action.tsx';
import { gigabytes } from '../../parts/format.ts';
import { Section } from '../../parts/page-link.tsx';
import { Time } from '../../parts/small.tsx';
import { DataTable } from '../../parts/table.tsx';

interface Deleted {
  readonly name: string;
  readonly display_name: string;
  readonly virtual_capacity: number;
  readonly deleted_at: string;
}

/** What was deleted and is still kept. Nothing at all while that is nothing. */
export function RecycleBin({ pool }: { readonly pool: string }) {
  const { data } = useRead(array.pools.listRecycleBin, { id: pool });
  const rows = (data?.volumes ?? []).map((text) => JSON.parse(text) as Deleted);
  if (rows.length === 0) return null;
  return (
    <Section title="Recycle bin">
      <DataTable
        label="Deleted volumes"
        prefix="bin"
        rows={rows}
        rowKey={({ name }) => name}
        empty={null}
        columns={[
          {
            name: 'name',
            heading: 'Volume',
            cell: ({ display_name }) => display_name,
            value: ({ display_name }) => display_name,
          },
          { name: 'size', heading: 'Size', cell: ({ virtual_capacity }) => gigabytes(virtual_capacity) },
          { name: 'deleted', heading: 'Deleted', cell: ({ deleted_at }) => <Time at={deleted_at} isRelative /> },
          {
            name: 'actions',
            heading: '',
            align: 'right',
            cell: ({ name: id, display_name }) => (
              <ActionMenu
                label={display_name}
                actions={[
                  action({
                    op: array.volumes.undelete,
                    label: 'Undelete',
                    input: { id },
                    labels: { new_name: 'Another name' },
                    about: `${display_name} is restored with its data and snapshots. Servers and snapshot policies have to be attached again.`,
                    said: `${display_name} is back.`,
                  }),
                  action({
                    op: array.volumes.deleteFromRecycleBin,
                    label: 'Delete for good',
                    input: { id },
                    destroys: display_name,
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
