import { array } from '../../api/array.ts';
import { useRead } from '../../api/queries.ts';
import { action } from '../../contract/action-props.ts';
import { ActionButton, ActionMenu } from '../../contract/action.tsx';
import { Empty } from '../../parts/messages.tsx';
import { Section } from '../../parts/page-link.tsx';
import { Reading } from '../../parts/reading.tsx';
import { State } from '../../parts/small.tsx';
import { DataTable } from '../../parts/table.tsx';
import { isShare, type Volume } from '../records.ts';
import { cronWords } from './cron.ts';
import { policyColumns, type SnapshotPolicy } from './policy-columns.tsx';

/** The policies that take snapshots of a volume. */
export function VolumePolicies({ volume }: { readonly volume: Volume }) {
  const reading = useRead(array.snapshotPolicies.listOfGroup, { volume_cg_id: volume.cg_name });
  return (
    <Section title="Snapshot policies" tools={<Attach volume={volume} />}>
      <Reading of={reading}>
        {({ snapshot_policies: policies }) => (
          <DataTable
            label="Snapshot policies"
            prefix="policy"
            rows={policies}
            rowKey={({ name, snapshot_rule }) => snapshot_rule ?? name}
            empty={<Empty title="No policy takes snapshots of it." />}
            columns={[
              ...policyColumns,
              {
                name: 'state',
                heading: 'State',
                cell: ({ paused }) => <State of={paused === 'YES' ? 'paused' : 'active'} />,
              },
              {
                name: 'actions',
                heading: '',
                align: 'right',
                cell: (policy) => <ActionMenu label={policy.display_name} actions={ruleActions(volume, policy)} />,
              },
            ]}
          />
        )}
      </Reading>
    </Section>
  );
}

function ruleActions(volume: Volume, { snapshot_rule: rule, paused, display_name: name }: SnapshotPolicy) {
  if (rule === null) return [];
  const isPaused = paused === 'YES';
  return [
    isPaused
      ? action({
          op: array.snapshotPolicies.resume,
          label: 'Resume',
          input: { snaprule: rule },
          said: 'The policy takes snapshots again.',
        })
      : action({
          op: array.snapshotPolicies.pause,
          label: 'Pause',
          input: { snaprule: rule },
          fields: [],
          more: [],
          said: 'The policy is paused.',
        }),
    action({
      op: array.snapshotPolicies.detach,
      label: 'Detach',
      input: { id: volume.name, snaprule: rule },
      fields: ['delete_snapshots'],
      more: ['force'],
      about: `${name} takes no more snapshots of ${volume.display_name}.`,
    }),
  ];
}

function Attach({ volume }: { readonly volume: Volume }) {
  const all = useRead(array.snapshotPolicies.list, {}).data?.snapshot_policies ?? [];
  if (all.length === 0) return null;
  return (
    <ActionButton
      op={array.snapshotPolicies.attach}
      label="Attach a policy"
      said="The policy is attached; its snapshots begin at its next time."
      isSmall
      input={{ id: volume.name, ...(!isShare(volume) && { application: 'user' }) }}
      start={{ application: 'user' }}
      choices={{
        policy: all.map(({ name, display_name, create_policy }) => ({
          value: name,
          label: `${display_name} · ${cronWords(create_policy)}`,
        })),
        application: [
          { value: 'user', label: 'Snapshots to go back to' },
          { value: 'file_history', label: 'Earlier versions of files for users' },
        ],
      }}
      labels={{ policy: 'Policy', application: 'For' }}
    />
  );
}
