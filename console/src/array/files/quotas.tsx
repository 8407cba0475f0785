import { array } from '../../api/array.ts';
import { useRead } from '../../api/queries.ts';
import { useVolumes } from '../volumes/all.ts';
import { Empty, PageHead } from '../../parts/messages.tsx';
import { PageLink } from '../../parts/page-link.tsx';
import { Reading } from '../../parts/reading.tsx';
import { DataTable } from '../../parts/table.tsx';
import { Fill } from '../../parts/small.tsx';
import { isShare } from '../records.ts';

/** Quotas belong to a share: this page leads to them. */
export default function Quotas() {
  const reading = useVolumes();
  const users = useRead(array.nasUsers.list, {}).data?.users ?? [];
  return (
    <>
      <PageHead
        title="Quotas"
        about={`How much users, groups and projects may keep in a share. ${users.length} NAS users are known by name.`}
      />
      <Reading of={reading}>
        {(volumes) => (
          <DataTable
            label="Shares"
            rows={volumes.filter(isShare)}
            rowKey={({ name }) => name}
            empty={<Empty title="There are no shares yet.">Quotas are set on the page of a share.</Empty>}
            columns={[
              {
                name: 'share',
                heading: 'Share',
                cell: ({ name, display_name }) => <PageLink to={`/volumes/${name}`}>{display_name}</PageLink>,
                value: ({ display_name }) => display_name,
              },
              {
                name: 'used',
                heading: 'Written',
                cell: ({ allocated_capacity, virtual_capacity }) => (
                  <Fill used={allocated_capacity} size={virtual_capacity} />
                ),
                value: ({ allocated_capacity }) => allocated_capacity,
              },
              {
                name: 'pool',
                heading: 'Pool',
                cell: ({ pool_display_name }) => pool_display_name,
                value: ({ pool_display_name }) => pool_display_name,
              },
            ]}
          />
        )}
      </Reading>
    </>
  );
}
