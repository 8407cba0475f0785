import type { RecordOf } from '@granary/contract';
import type { SnapshotPolicy as PolicyRecord } from '@granary/contract/array';
import { Popover, Text, UnstyledButton } from '@mantine/core';
import { localTime } from '../../parts/format.ts';
import type { Column } from '../../parts/table.tsx';
import { cronWords } from './cron.ts';
import { nextRuns } from './next-runs.ts';
import { NextRuns } from './runs.tsx';

export type SnapshotPolicy = RecordOf<typeof PolicyRecord>;

export const policyColumns: readonly Column<SnapshotPolicy>[] = [
  {
    name: 'policy',
    heading: 'Policy',
    cell: ({ display_name }) => display_name,
    value: ({ display_name }) => display_name,
  },
  {
    name: 'when',
    heading: 'Takes snapshots',
    cell: ({ create_policy, create_empty }) => (
      <span title={create_policy}>
        {cronWords(create_policy)}{' '}
        <Text span size="xs" c="dimmed" style={{ whiteSpace: 'nowrap' }}>
          {create_policy}
        </Text>
        <Text size="xs" c="dimmed">
          {create_empty === 'YES' ? 'also when nothing changed' : 'a run is skipped when nothing changed'}
        </Text>
      </span>
    ),
    value: ({ create_policy }) => cronWords(create_policy),
  },
  {
    name: 'next',
    heading: 'Next run',
    isExtra: true,
    cell: ({ create_policy }) => <NextInShort of={create_policy} />,
    value: ({ create_policy }) => nextRuns(create_policy, new Date(), 1)[0]?.getTime(),
  },
  {
    name: 'keeps',
    heading: 'Keeps',
    cell: ({ delete_policy }) => keepsWords(delete_policy),
    value: ({ delete_policy }) => Number(/\d+/.exec(delete_policy ?? '')?.[0] ?? Infinity),
  },
];

/** The next one in the row; all five by hover, focus or a tap. */
function NextInShort({ of: expression }: { readonly of: string }) {
  const [next] = nextRuns(expression, new Date(), 1);
  if (!next) return <>–</>;
  return (
    <Popover withinPortal>
      <Popover.Target>
        <UnstyledButton fz="sm" td="underline dotted" aria-label={`Next at ${localTime(next)}; show five`}>
          {localTime(next)}
        </UnstyledButton>
      </Popover.Target>
      <Popover.Dropdown>
        <NextRuns of={expression} />
      </Popover.Dropdown>
    </Popover>
  );
}

/** `N24` → `the newest 24` */
function keepsWords(rule: string | null): string {
  const number = /^N(\d+)$/.exec(rule ?? '')?.[1];
  return number === undefined ? 'all' : `the newest ${number}`;
}
