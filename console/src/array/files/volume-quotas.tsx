import { Group, SegmentedControl, Text } from '@mantine/core';
import { useState } from 'react';
import { array } from '../../api/array.ts';
import { useRead } from '../../api/queries.ts';
import { action } from '../../contract/action-props.ts';
import { ActionButton, ActionMenu } from '../../contract/action.tsx';
import { gigabytes } from '../../parts/format.ts';
import { Empty } from '../../parts/messages.tsx';
import { Section } from '../../parts/page-link.tsx';
import { Reading } from '../../parts/reading.tsx';
import { Fill, Time } from '../../parts/small.tsx';
import { DataTable } from '../../parts/table.tsx';
import type { Volume } from '../records.ts';
import { SetQuota } from './set-quota.tsx';

const SCOPES = [
  { value: 'user', label: 'Users' },
  { value: 'group', label: 'Groups' },
  { value: 'project', label: 'Projects' },
] as const;
type Scope = (typeof SCOPES)[number]['value'];

const SWITCHES = { user: 'uquota', group: 'gquota', project: 'pquota' } as const;
const MB_IN_GB = 1024;

/** Who may keep how much in a share. */
export function VolumeQuotas({ volume }: { readonly volume: Volume }) {
  const [scope, setScope] = useState<Scope>('user');
  const state = { user: volume.uquota_state, group: volume.gquota_state, project: volume.pquota_state }[scope];
  const reading = useRead(array.quotas.list, { id: volume.name, scope });
  return (
    <Section
      title="Quotas"
      tools={
        <Group gap="xs">
          <SegmentedControl
            size="xs"
            data={[...SCOPES]}
            value={scope}
            onChange={(value) => setScope(value)}
            aria-label="Whose quotas"
          />
          <ActionButton
            op={array.quotas.setState}
            label={state === 'on' ? `Switch quotas of ${scope}s off` : `Switch quotas of ${scope}s on`}
            isSmall
            input={{ id: volume.name, [SWITCHES[scope]]: state === 'on' ? 'off' : 'on' }}
            fields={[]}
            more={['force']}
            about={state === 'on' ? 'No limit holds until they are switched on again.' : 'The limits hold from now on.'}
          />
          <SetQuota volume={volume.name} scope={scope} />
          <ActionButton op={array.quotas.import} label="Import" isSmall input={{ id: volume.name, scope }} />
        </Group>
      }
    >
      <Text size="sm" mb="xs">
        They are {state}.
      </Text>
      <Reading of={reading}>
        {({ quotas, updated }) => (
          <>
            <DataTable
              label="Quotas"
              prefix="quota"
              rows={quotas}
              rowKey={({ source_type, nas_type, source_id }) => `${source_type} ${nas_type} ${source_id}`}
              empty={<Empty title="No quota is set." />}
              columns={[
                {
                  name: 'whose',
                  heading: 'Owner',
                  cell: ({ source_id_display }) => source_id_display,
                  value: ({ source_id_display }) => source_id_display,
                },
                {
                  name: 'used',
                  heading: 'Used',
                  cell: ({ usage, hard }) => <Usage used={Number(usage) / MB_IN_GB} limit={Number(hard) / MB_IN_GB} />,
                  value: ({ usage }) => Number(usage),
                },
                {
                  name: 'actions',
                  heading: '',
                  align: 'right',
                  cell: ({ source_id, source_type, nas_type, source_id_display, hard }) => (
                    <ActionMenu
                      label={source_id_display}
                      actions={[
                        ...(Number(hard) === 0
                          ? []
                          : [
                              action({
                                op: array.quotas.set,
                                label: 'Remove',
                                input: {
                                  id: volume.name,
                                  quotas: [{ source_id: Number(source_id), source_type, nas_type, limit: '0' }],
                                },
                                about: `${source_id_display} may then keep as much as the share has room for.`,
                              }),
                            ]),
                      ]}
                    />
                  ),
                },
              ]}
            />
            {updated !== null && (
              <Text size="xs" c="dimmed">
                Counted <Time at={updated} isRelative />
              </Text>
            )}
          </>
        )}
      </Reading>
      {scope === 'project' && <Projects volume={volume.name} />}
    </Section>
  );
}

/** Who has no limit is listed with what they keep. */
function Usage({ used, limit }: { readonly used: number; readonly limit: number }) {
  if (limit === 0) return <Text size="sm">{gigabytes(used)}, no limit</Text>;
  return <Fill used={used} size={limit} label={`${gigabytes(used)} of ${gigabytes(limit)}`} />;
}

function Projects({ volume: id }: { readonly volume: string }) {
  const reading = useRead(array.quotaProjects.list, { id });
  return (
    <Reading of={reading}>
      {({ projects }) => (
        <DataTable
          label="Projects"
          prefix="project"
          rows={projects}
          rowKey={({ name }) => name}
          empty={
            <Empty
              title="There are no projects yet."
              action={<ActionButton op={array.quotaProjects.create} label="New project" input={{ id }} />}
            >
              A project is some directories of the share that share a quota.
            </Empty>
          }
          tools={<ActionButton op={array.quotaProjects.create} label="New project" isSmall input={{ id }} />}
          columns={[
            {
              name: 'project',
              heading: 'Project',
              cell: ({ display_name }) => display_name,
              value: ({ display_name }) => display_name,
            },
            { name: 'number', heading: 'Number', align: 'right', cell: (one) => one.id, value: (one) => one.id },
            {
              name: 'directories',
              heading: 'Directories',
              cell: ({ directories }) => directories.map(({ path, status }) => `${path} (${status})`).join(', '),
            },
            {
              name: 'actions',
              heading: '',
              align: 'right',
              cell: ({ name, display_name }) => (
                <ActionMenu
                  label={display_name}
                  actions={[
                    action({
                      op: array.quotaProjects.addDirectory,
                      label: 'Add a directory',
                      input: { id, project_id: name },
                    }),
                    action({
                      op: array.quotaProjects.removeDirectory,
                      label: 'Remove a directory',
                      input: { id, project_id: name },
                    }),
                    action({
                      op: array.quotaProjects.delete,
                      label: 'Delete',
                      input: { id, project_id: name },
                      destroys: display_name,
                    }),
                  ]}
                />
              ),
            },
          ]}
        />
      )}
    </Reading>
  );
}
