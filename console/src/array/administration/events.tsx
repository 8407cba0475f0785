import { Group, Select } from '@mantine/core';
import { arrayEventKinds } from '@granary/contract/array';
import { array } from '../../api/array.ts';
import { useRead } from '../../api/queries.ts';
import { useAddressText } from '../../app/base.ts';
import { words } from '../../parts/format.ts';
import { Empty, PageHead } from '../../parts/messages.tsx';
import { Reading } from '../../parts/reading.tsx';
import { severities, Severity } from '../../parts/severity.tsx';
import { Time } from '../../parts/small.tsx';
import { DataTable, type Column } from '../../parts/table.tsx';
import type { Message } from '../records.ts';

const SHOWN_MAX = 1000;

/** As the events of the portal are. */
const columns: readonly Column<Message>[] = [
  { name: 'time', heading: 'When', value: ({ msg_time: at }) => at, cell: ({ msg_time: at }) => <Time at={at} /> },
  {
    name: 'severity',
    heading: 'Severity',
    value: ({ msg_severity: n }) => Number(n),
    cell: ({ msg_severity: n }) => <Severity of={Number(n)} />,
  },
  {
    name: 'event',
    heading: 'What happened',
    isLong: true,
    value: ({ msg_title: title }) => title,
    cell: ({ msg_title: title }) => title,
  },
];

export default function Events() {
  const [severity, setSeverity] = useAddressText('severity');
  const [kind, setKind] = useAddressText('kind');
  const reading = useRead(array.messages.list, {
    limit: SHOWN_MAX,
    ...(severity !== '' && { severity: Number(severity) }),
    ...(kind !== '' && { attr_key: 'kind', attr_value: kind }),
  });
  const filters = (
    <Group gap="xs">
      <Select
        aria-label="Severity"
        placeholder="Any severity"
        data={severities.map((label, value) => ({ value: String(value), label: `${label} or worse` }))}
        value={severity === '' ? null : severity}
        onChange={(value) => setSeverity(value ?? '')}
        clearable
        w={160}
      />
      <Select
        aria-label="Kind"
        placeholder="Any kind"
        data={arrayEventKinds.map((value) => ({ value, label: words(value) }))}
        value={kind === '' ? null : kind}
        onChange={(value) => setKind(value ?? '')}
        clearable
        searchable
        w={200}
      />
    </Group>
  );
  return (
    <>
      <PageHead title="Events" about={`What happened on the array, the newest first; at most ${SHOWN_MAX} are shown.`}>
        {filters}
      </PageHead>
      <Reading of={reading}>
        {({ messages }) => (
          <DataTable
            label="Events"
            rows={messages}
            columns={columns}
            rowKey={({ msg_id }) => msg_id}
            empty={<Empty title="No event is like that." />}
          />
        )}
      </Reading>
    </>
  );
}
