import { array } from '../../api/array.ts';
import { useRead } from '../../api/queries.ts';
import { hostAndPort } from '../../contract/field-rules.ts';
import { action } from '../../contract/action-props.ts';
import { ActionButton, ActionMenu } from '../../contract/action.tsx';
import { IconPlus } from '../../parts/icons.tsx';
import { Empty, PageHead } from '../../parts/messages.tsx';
import { Reading } from '../../parts/reading.tsx';
import { DataTable } from '../../parts/table.tsx';

export default function RemoteArrays() {
  const reading = useRead(array.remoteArrays.list, {});
  return (
    <>
      <PageHead title="Remote arrays" about="Arrays that this one can mirror to.">
        <Discover />
      </PageHead>
      <Reading of={reading}>
        {({ remote_arrays: remotes }) => (
          <DataTable
            label="Remote arrays"
            rows={remotes}
            rowKey={({ name }) => name}
            empty={
              <Empty title="There are no remote arrays yet." action={<Discover />}>
                Give the address of its management and a user of it.
              </Empty>
            }
            columns={[
              {
                name: 'array',
                heading: 'Array',
                cell: ({ remote_display_name }) => remote_display_name,
                value: ({ remote_display_name }) => remote_display_name,
              },
              { name: 'ip', heading: 'Address', cell: ({ ip }) => ip, value: ({ ip }) => ip },
              {
                name: 'provider',
                heading: 'Provider',
                isExtra: true,
                cell: ({ provider }) => provider,
                value: ({ provider }) => provider,
              },
              {
                name: 'version',
                heading: 'Version',
                isExtra: true,
                cell: ({ software_version }) => software_version,
                value: ({ software_version }) => software_version,
              },
              {
                name: 'actions',
                heading: '',
                align: 'right',
                cell: ({ name: id, remote_display_name: label }) => (
                  <ActionMenu
                    label={label}
                    actions={[
                      action({ op: array.remoteArrays.delete, label: 'Remove', input: { id }, destroys: label }),
                    ]}
                  />
                ),
              },
            ]}
          />
        )}
      </Reading>
    </>
  );
}

function Discover() {
  return (
    <ActionButton
      op={array.remoteArrays.discover}
      label="Add a remote array"
      icon={<IconPlus />}
      isMain
      fields={['ip', 'user', 'password']}
      labels={{ ip: 'Address of its management' }}
      rules={{ ip: hostAndPort }}
    />
  );
}
