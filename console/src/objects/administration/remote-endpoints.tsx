import { objects } from '../../api/objects.ts';
import { useRead } from '../../api/queries.ts';
import { action, type ActionProps } from '../../contract/action-props.ts';
import { ActionButton, ActionMenu } from '../../contract/action.tsx';
import { IconPlus } from '../../parts/icons.tsx';
import { Empty, PageHead } from '../../parts/messages.tsx';
import { PageLink } from '../../parts/page-link.tsx';
import { Reading } from '../../parts/reading.tsx';
import { State } from '../../parts/small.tsx';
import { DataTable, type Column } from '../../parts/table.tsx';
import type { Destination } from '../records.ts';

export const TYPES: Readonly<Record<string, string>> = { EXT_S3: 'public S3 service', OBJS_S3: 'another array' };

const columns: readonly Column<Destination>[] = [
  {
    name: 'name',
    heading: 'Remote endpoint',
    value: ({ display_name: name }) => name,
    cell: ({ ext_name: id, display_name: name }) => <PageLink to={`/remote-endpoints/${id}`}>{name}</PageLink>,
  },
  { name: 'state', heading: 'State', value: ({ state }) => state, cell: ({ state }) => <State of={state} /> },
  { name: 'address', heading: 'Address', value: ({ endpoint }) => endpoint, cell: ({ endpoint }) => endpoint },
  { name: 'type', heading: 'Kind', isExtra: true, value: ({ type }) => type, cell: ({ type }) => TYPES[type] ?? type },
  {
    name: 'jobs',
    heading: 'Buckets replicated',
    align: 'right',
    value: ({ job_count: jobs }) => jobs,
    cell: ({ job_count: jobs }) => jobs,
  },
  {
    name: 'actions',
    heading: '',
    align: 'right',
    cell: (one) => <ActionMenu label={one.display_name} actions={destinationActions(one)} />,
  },
];

export function destinationActions(one: Destination): ActionProps<never>[] {
  const input = { 'ext-name': one.ext_name };
  return [
    action({
      op: objects.destinations.update,
      label: 'Change',
      input: { ...input, type: one.type },
      fields: ['name', 'username', 'password', 'region_name', 'connectVia'],
      more: [],
      start: { name: one.display_name, username: one.access, ...(one.region !== null && { region_name: one.region }) },
      about: 'The connection is tested before anything is changed.',
    }),
    action({
      op: objects.destinations.delete,
      takesAway: true,
      label: 'Remove',
      input,
      destroys: one.display_name,
      about: 'What was replicated stays at the remote endpoint. Nothing more is sent there.',
    }),
  ];
}

export default function RemoteEndpoints() {
  const reading = useRead(objects.destinations.list, {});
  return (
    <>
      <PageHead
        title="Remote endpoints"
        about="Where buckets are replicated to. An account uses those that are granted to it, by the replication rules of its buckets (S3)."
      >
        <NewEndpoint />
      </PageHead>
      <Reading of={reading}>
        {({ container_replication_targets: all }) => (
          <DataTable
            label="Remote endpoints"
            rows={all}
            columns={columns}
            rowKey={({ ext_name: id }) => id}
            empty={
              <Empty title="There are no remote endpoints yet." action={<NewEndpoint />}>
                Add a public S3 service or another array, grant it to an account, and that account’s buckets can be
                replicated there.
              </Empty>
            }
          />
        )}
      </Reading>
    </>
  );
}

function NewEndpoint() {
  return (
    <ActionButton
      op={objects.destinations.create}
      label="New remote endpoint"
      icon={<IconPlus />}
      isMain
      fields={['name', 'type', 'endpoint', 'endpoint_url', 'region', 'username', 'password', 'connectVia']}
      labels={{ username: 'Access key', password: 'Secret key' }}
      choices={{ type: Object.entries(TYPES).map(([value, label]) => ({ value, label })) }}
      about="The connection is tested first."
    />
  );
}
