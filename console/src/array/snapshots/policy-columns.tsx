import type { RecordOf } from '@granary/contract';
import type { SnapshotPolicy as PolicyRecord } from '@granary/contract/array';
import { Text } from '@mantine/core';
import type { Column } from '../../parts/table.tsx';
import { cronWords } from './cron.ts';

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
    cell: ({ create_policy }) => (
      <span title={create_policy}>
        {cronWords(create_policy)}{' '}
        <Text span size="xs" c="dimmed">
          {create_policy}
        </Text>
      </span>
    ),
    value: ({ create_policy }) => cronWords(create_policy),
  },
  {
    name: 'keeps',
    heading: 'Keeps',
    cell: ({ delete_policy }) => keepsWords(delete_policy),
    value: ({ delete_policy }) => Number(/\d+/.exec(delete_policy ?? '')?.[0] ?? Infinity),
  },
];

/** `N24` → `the newest 24` */
function keepsWords(rule: string | null): string {
  const number = /^N(\d+)$/.exec(rule ?? '')?.[1];
  return number === undefined ? 'all' : `the newest ${number}`;
}
