import { Button, Group, SegmentedControl, Text } from '@mantine/core';
import { accessLogKinds, type AccessLogKind } from '@granary/contract/objects';
import { useNavigate } from '@tanstack/react-router';
import { objects } from '../../api/objects.ts';
import { useRead } from '../../api/queries.ts';
import { useAddressText } from '../../app/base.ts';
import { Empty, PageHead } from '../../parts/messages.tsx';
import { Reading } from '../../parts/reading.tsx';
import { Time } from '../../parts/small.tsx';
import { DataTable, type Column } from '../../parts/table.tsx';
import type { LogEntry } from '../records.ts';

const PAGE = 200;
const EVERY_MS = 10_000;

const DEFAULT_KINDS = ['data', 'changes'] as const;
const KINDS: Readonly<Record<string, readonly AccessLogKind[]>> = {
  data: ['data'],
  changes: ['changes'],
  reads: ['reads'],
  all: accessLogKinds,
};

const columns: readonly Column<LogEntry>[] = [
  { name: 'time', heading: 'When', value: ({ created }) => created, cell: ({ created }) => <Time at={created} /> },
  { name: 'user', heading: 'Who', value: ({ user }) => user, cell: ({ user }) => user ?? 'without a signature' },
  { name: 'action', heading: 'What', value: ({ action }) => action, cell: ({ action }) => action },
  {
    name: 'controller',
    heading: 'Where',
    isExtra: true,
    value: ({ controller }) => controller,
    cell: ({ controller }) => controller,
  },
  {
    name: 'params',
    heading: 'With',
    isExtra: true,
    value: ({ params }) => params,
    cell: ({ params }) => (
      <Text size="sm" truncate maw={420} title={params}>
        {params}
      </Text>
    ),
  },
];

/** Who called what, at the management interface and at the data port. */
export default function AccessLog() {
  const [text, setText] = useAddressText('page');
  const page = Math.max(1, Math.trunc(Number(text)) || 1);
  const [shown] = useAddressText('shown');
  const navigate = useNavigate();
  // The first page of what is chosen.
  const setShown = (next: string) => {
    const change = (before: object) => ({ ...before, page: undefined, shown: next === '' ? undefined : next });
    void navigate({ to: '.', search: change, replace: true });
  };
  const kinds = KINDS[shown] ?? DEFAULT_KINDS;
  const reading = useRead(
    objects.accessLogs.list,
    { limit: PAGE, page, kinds: [...kinds] },
    page === 1 ? { everyMs: EVERY_MS } : {},
  );
  const goTo = (next: number) => setText(next === 1 ? '' : String(next));
  const filter = (
    <SegmentedControl
      size="xs"
      aria-label="Which calls"
      value={shown in KINDS ? shown : ''}
      onChange={setShown}
      data={[
        { value: '', label: 'Data and changes' },
        { value: 'data', label: 'Data' },
        { value: 'changes', label: 'Changes' },
        { value: 'reads', label: 'Reads' },
        { value: 'all', label: 'All' },
      ]}
    />
  );
  return (
    <>
      <PageHead
        title="Access log"
        about="Who called what: actions that begin with s3 or swift are of the data path. Reads are what the console and programs ask of the management. Secrets are left out."
      >
        {filter}
      </PageHead>
      <Reading of={reading}>
        {({ access_logs: entries, count }) => {
          const pages = Math.max(1, Math.ceil(count / PAGE));
          return (
            <DataTable
              label="Access log"
              rows={entries}
              columns={columns}
              rowKey={({ id }) => String(id)}
              tools={
                <Group gap="xs">
                  <Button size="xs" variant="default" disabled={page <= 1} onClick={() => goTo(page - 1)}>
                    Newer
                  </Button>
                  <Text size="sm">
                    page {page} of {pages}
                  </Text>
                  <Button size="xs" variant="default" disabled={page >= pages} onClick={() => goTo(page + 1)}>
                    Older
                  </Button>
                </Group>
              }
              empty={<Empty title="Nothing of that kind was called yet." />}
            />
          );
        }}
      </Reading>
    </>
  );
}
