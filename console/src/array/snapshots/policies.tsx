import { useMemo, type ReactNode } from 'react';
import { array } from '../../api/array.ts';
import { useRead } from '../../api/queries.ts';
import { action } from '../../contract/action-props.ts';
import { ActionButton, ActionMenu } from '../../contract/action.tsx';
import { keptNumber } from '../../contract/field-rules.ts';
import { IconPlus } from '../../parts/icons.tsx';
import { Empty, PageHead } from '../../parts/messages.tsx';
import { Reading } from '../../parts/reading.tsx';
import { DataTable, type Column } from '../../parts/table.tsx';
import { scheduleProblem } from './next-runs.ts';
import { Understood } from './runs.tsx';
import { policyColumns, type SnapshotPolicy } from './policy-columns.tsx';

const LABELS = {
  display_name: 'Name',
  create_policy: 'When',
  delete_policy: 'How many to keep',
  destination_policy: 'How many to keep where a mirror sends them',
  empty: 'Even when nothing changed',
};

const RULES = {
  create_policy: { check: scheduleProblem },
  delete_policy: keptNumber,
  destination_policy: keptNumber,
};

/** `N24` → `24` */
function keptIn(rule: string | null): string | undefined {
  return rule?.replace(/^N/, '');
}

const actions: Column<SnapshotPolicy> = {
  name: 'actions',
  heading: '',
  align: 'right',
  cell: (policy) => (
    <ActionMenu
      label={policy.display_name}
      actions={[
        action({
          op: array.snapshotPolicies.update,
          label: 'Change',
          input: { id: policy.name },
          labels: LABELS,
          rules: RULES,
          preview: ({ create_policy: expression }) => <Understood expression={expression} />,
          start: {
            display_name: policy.display_name,
            create_policy: policy.create_policy,
            delete_policy: keptIn(policy.delete_policy),
          },
        }),
        action({
          op: array.snapshotPolicies.delete,
          label: 'Delete',
          input: { id: policy.name },
          destroys: policy.display_name,
        }),
      ]}
    />
  ),
};

export default function Policies() {
  const reading = useRead(array.snapshotPolicies.list, {});
  const columns = useMemo(() => [...policyColumns, actions], []);
  return (
    <>
      <PageHead
        title="Snapshot policies"
        about="When snapshots are taken, and how many are kept. A run is skipped when nothing was written since the last snapshot of the policy, unless the policy says otherwise."
      >
        <NewPolicy />
      </PageHead>
      <Reading of={reading}>
        {({ snapshot_policies: policies }) => (
          <DataTable
            label="Snapshot policies"
            rows={policies}
            columns={columns}
            rowKey={({ name }) => name}
            empty={<Empty title="There are no snapshot policies yet." action={<NewPolicy />} />}
          />
        )}
      </Reading>
    </>
  );
}

function NewPolicy(): ReactNode {
  return (
    <ActionButton
      op={array.snapshotPolicies.create}
      label="New policy"
      icon={<IconPlus />}
      isMain
      fields={['display_name', 'create_policy', 'delete_policy']}
      labels={LABELS}
      rules={RULES}
      start={{ create_policy: '0 * * * *', delete_policy: '24' }}
      about="Five fields: minute, hour, day of the month, month, day of the week, in UTC. 0 2 * * * is every day at 02:00, */15 * * * * every 15 minutes."
      preview={({ create_policy: expression }) => <Understood expression={expression} />}
      said="The policy is there. Attach it on the page of a volume."
    />
  );
}
