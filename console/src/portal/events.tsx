import { Select } from '@mantine/core';
import { portalEventKinds } from '@granary/contract/portal';
import type { Reply } from '../api/operations.ts';
import { portal } from '../api/portal.ts';
import { useRead } from '../api/queries.ts';
import { useAddressText } from '../app/base.ts';
import { count } from '../parts/format.ts';
import { severities, Severity } from '../parts/severity.tsx';
import { Empty, Failed, Loading, PageHead } from '../parts/messages.tsx';
import { Time } from '../parts/small.tsx';
import { DataTable, type Column } from '../parts/table.tsx';

type Event = Reply<typeof portal.events.list.endpoint>['data'][number];

const SHOWN_MAX = 2_000;

const columns: readonly Column<Event>[] = [
  { name: 'time', heading: 'When', value: ({ msg_time: at }) => at, cell: ({ msg_time: at }) => <Time at={at} /> },
  {
    name: 'severity',
    heading: 'Severity',
    value: ({ msg_severity: n }) => Number(n),
    cell: ({ msg_severity: n }) => <Severity of={Number(n)} />,
  },
  {
    name: 'title',
    heading: 'What happened',
    value: ({ msg_title: title }) => title,
    cell: ({ msg_title: title }) => title,
    isLong: true,
  },
];

export default function Events() {
  const [severity, setSeverity] = useAddressText('severity');
  const [kind, setKind] = useAddressText('kind');
  const list = useRead(portal.events.list, {
    limit: SHOWN_MAX,
    ...(severity !== '' && { severity: Number(severity) }),
    ...(kind !== '' && { kind: kind as (typeof portalEventKinds)[number] }),
  });
  const filters = (
    <>
      <Select
        aria-label="Severity"
        placeholder="Any severity"
        clearable
        data={severities.map((label, value) => ({ value: String(value), label: `${label} or worse` }))}
        value={severity === '' ? null : severity}
        onChange={(value) => setSeverity(value ?? '')}
      />
      <Select
        aria-label="Kind"
        placeholder="Any kind"
        clearable
        data={[...portalEventKinds]}
        value={kind === '' ? null : kind}
        onChange={(value) => setKind(value ?? '')}
      />
    </>
  );
  return (
    <>
      <PageHead title="Events" about={`What happened, newest first; at most ${count(SHOWN_MAX)} are shown.`} />
      {list.isPending && <Loading />}
      {list.isError && <Failed error={list.error} retry={() => void list.refetch()} />}
      {list.data && (
        <>
          {list.data.data.length === 0 && filters}
          <DataTable
            label="Events"
            rows={list.data.data}
            columns={columns}
            rowKey={({ msg_id: id }) => id}
            tools={filters}
            empty={<Empty title="Nothing of that kind happened." />}
          />
        </>
      )}
    </>
  );
}
