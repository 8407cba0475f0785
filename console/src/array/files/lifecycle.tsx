import type { RecordOf } from '@granary/contract';
import type { LifecyclePolicy as PolicyRecord, LifecycleRule as RuleRecord } from '@granary/contract/array';
import { Alert, Code, Stack, Text } from '@mantine/core';
import { array } from '../../api/array.ts';
import { useRead } from '../../api/queries.ts';
import { Unchanging } from '../../app/identity.tsx';
import { action } from '../../contract/action-props.ts';
import { ActionButton, ActionMenu } from '../../contract/action.tsx';
import { bytes, gigabytes } from '../../parts/format.ts';
import { IconPlus } from '../../parts/icons.tsx';
import { Empty, PageHead } from '../../parts/messages.tsx';
import { Section } from '../../parts/page-link.tsx';
import { Reading } from '../../parts/reading.tsx';
import { State, Time } from '../../parts/small.tsx';
import { DataTable } from '../../parts/table.tsx';
import { choicesOf } from '../records.ts';
import { useArrayHabits, useVolumes } from '../volumes/all.ts';
import { Categories } from './categories.tsx';

type Policy = RecordOf<typeof PolicyRecord>;
type Rule = RecordOf<typeof RuleRecord>;

const LABELS = {
  display_name: 'Name',
  file_selection_criteria: 'Which files',
  lc_action: 'What is done with them',
  dry_run: 'Dry run',
  enabled: 'Runs',
};

export default function Lifecycle() {
  const { hasLifecycle } = useArrayHabits();
  if (hasLifecycle !== false) return <Parts hasLifecycle />;
  return (
    <Unchanging api="array">
      <Parts hasLifecycle={false} />
    </Unchanging>
  );
}

function Parts({ hasLifecycle }: { readonly hasLifecycle: boolean }) {
  const reading = useRead(array.lifecyclePolicies.list, {});
  return (
    <>
      <PageHead
        title="File lifecycle"
        about="Policies that archive or delete the files of shares that match. A dry run shows what one would do."
      >
        <ActionButton
          op={array.lifecyclePolicies.create}
          label="New policy"
          icon={<IconPlus />}
          isMain
          fields={['display_name', 'file_selection_criteria', 'lc_action', 'dry_run']}
          labels={LABELS}
          start={{ dry_run: true, lc_action: 'expire', file_selection_criteria: '{"extension": {"$in": ["tmp"]}}' }}
          about="Begin with a dry run: it lists what would be handled and changes nothing."
        />
        <ActionButton op={array.lifecyclePolicies.setSchedule} label="When they run" />
      </PageHead>
      {!hasLifecycle && (
        <Alert color="yellow" variant="light" mb="md" title="The array was ordered without file lifecycle">
          Its owner switches it on at the portal: on the page of the array, “Switch file lifecycle on”. What is here can
          be read until then, and takes no change.
        </Alert>
      )}
      <Section title="Policies">
        <Reading of={reading}>{({ lc_policies }) => <Policies policies={lc_policies} />}</Reading>
      </Section>
      <Section title="On shares">
        <Rules />
      </Section>
      <Categories />
    </>
  );
}

function Policies({ policies }: { readonly policies: readonly Policy[] }) {
  const shares = useVolumes().data?.filter(({ data_type }) => data_type === 'File-System') ?? [];
  const volumes = choicesOf(shares, ({ virtual_capacity }) => gigabytes(virtual_capacity));
  return (
    <DataTable
      label="Policies"
      rows={policies}
      rowKey={({ name }) => name}
      empty={
        <Empty title="There are no file lifecycle policies yet.">
          Make one that begins as a dry run and attach it to a share: it lists what it would handle.
        </Empty>
      }
      columns={[
        {
          name: 'policy',
          heading: 'Policy',
          cell: ({ display_name }) => display_name,
          value: ({ display_name }) => display_name,
        },
        { name: 'state', heading: 'State', cell: (policy) => <State of={stateOf(policy)} />, value: stateOf },
        { name: 'action', heading: 'Action', cell: (one) => one.action, value: (one) => one.action },
        {
          name: 'which',
          heading: 'Files',
          isExtra: true,
          cell: ({ file_selection_criteria }) => <Code>{file_selection_criteria}</Code>,
          value: ({ file_selection_criteria }) => file_selection_criteria,
        },
        {
          name: 'actions',
          heading: '',
          align: 'right',
          cell: (policy) => <ActionMenu label={policy.display_name} actions={policyActions(policy, volumes)} />,
        },
      ]}
    />
  );
}

function stateOf({ enabled, dry_run_mode }: Policy): string {
  if (enabled === 'NO') return 'off';
  return dry_run_mode === 'YES' ? 'dry run' : 'active';
}

function policyActions(policy: Policy, volumes: readonly { readonly value: string; readonly label: string }[]) {
  const input = { id: policy.name };
  const isDry = policy.dry_run_mode === 'YES';
  return [
    action({
      op: array.lifecyclePolicies.attach,
      label: 'Attach to a share',
      input,
      choices: { volume_name: volumes },
      labels: { volume_name: 'Share' },
    }),
    action({
      op: array.lifecyclePolicies.update,
      label: isDry ? 'End the dry run' : 'Make it a dry run',
      input: { ...input, dry_run: !isDry },
      fields: [],
      more: [],
      about: isDry ? `From its next run on, files that match are handled: ${policy.action}.` : undefined,
    }),
    action({
      op: array.lifecyclePolicies.update,
      label: 'Change',
      input,
      labels: LABELS,
      start: {
        display_name: policy.display_name,
        file_selection_criteria: policy.file_selection_criteria,
        lc_action: policy.action,
        enabled: policy.enabled === 'YES',
      },
    }),
    action({ op: array.lifecyclePolicies.delete, label: 'Delete', input, destroys: policy.display_name }),
  ];
}

/** What each policy found at its last run: of a dry run, what it would have handled. */
function Rules() {
  const reading = useRead(array.lifecyclePolicies.listRules, {});
  return (
    <Reading of={reading}>
      {({ lc_rules: rules }) => (
        <>
          <DataTable
            label="Policies on shares"
            prefix="rule"
            rows={rules}
            rowKey={({ name }) => name}
            empty={
              <Empty title="No policy is attached to a share.">
                Choose “Attach to a share” at a policy, then “Run now”: what a dry run finds is listed here.
              </Empty>
            }
            columns={[
              {
                name: 'share',
                heading: 'Share',
                cell: (rule) => rule.volume_display_name,
                value: (rule) => rule.volume_display_name,
              },
              {
                name: 'policy',
                heading: 'Policy',
                cell: (rule) => rule.policy_display_name,
                value: (rule) => rule.policy_display_name,
              },
              {
                name: 'state',
                heading: 'State',
                cell: ({ paused }) => <State of={paused === 'YES' ? 'paused' : 'active'} />,
              },
              { name: 'run', heading: 'Last run', cell: ({ last_run_at }) => <Time at={last_run_at} isRelative /> },
              {
                name: 'matched',
                heading: 'Matched',
                cell: ({ matched_files, matched_bytes }) => `${matched_files} files, ${bytes(matched_bytes)}`,
                value: ({ matched_files }) => matched_files,
              },
              {
                name: 'handled',
                heading: 'Handled',
                isExtra: true,
                cell: ({ handled_files, failed_files }) =>
                  `${handled_files}${failed_files > 0 ? `, ${failed_files} failed` : ''}`,
              },
              {
                name: 'actions',
                heading: '',
                align: 'right',
                cell: (rule) => <ActionMenu label={rule.policy_display_name} actions={ruleActions(rule)} />,
              },
            ]}
          />
          {rules.map((rule) => (
            <Preview key={rule.name} rule={rule} />
          ))}
        </>
      )}
    </Reading>
  );
}

function Preview({ rule }: { readonly rule: Rule }) {
  if (rule.last_run_problem !== null)
    return (
      <Text size="sm" c="red" mt="xs">
        {rule.policy_display_name} on {rule.volume_display_name}: {rule.last_run_problem}
      </Text>
    );
  if (rule.matched_paths.length === 0) return null;
  const isDry = rule.last_run_dry === 'YES';
  return (
    <Stack gap={4} mt="sm">
      <Text size="sm" fw={600}>
        {isDry ? 'Dry run: would have been handled' : 'Matched at the last run'}, {rule.policy_display_name} on{' '}
        {rule.volume_display_name}
      </Text>
      <Code block className="command" tabIndex={0} mah={200}>
        {rule.matched_paths.join('\n')}
      </Code>
      {rule.matched_files > rule.matched_paths.length && (
        <Text size="xs" c="dimmed">
          and {rule.matched_files - rule.matched_paths.length} more
        </Text>
      )}
    </Stack>
  );
}

function ruleActions(rule: Rule) {
  const input = { id: rule.policy_name, volume_name: rule.volume_name };
  return [
    action({ op: array.lifecyclePolicies.scan, label: 'Run now', input: { volume_name: rule.volume_name } }),
    rule.paused === 'YES'
      ? action({ op: array.lifecyclePolicies.resume, label: 'Resume', input })
      : action({ op: array.lifecyclePolicies.pause, label: 'Pause', input }),
    action({ op: array.lifecyclePolicies.detach, label: 'Detach', input }),
  ];
}
