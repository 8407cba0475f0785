import { Select } from '@mantine/core';
import { objectsEventKinds } from '@granary/contract/objects';
import { objects } from '../../api/objects.ts';
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

const columns: readonly Column<Message>[] = [
  { name: 'time', heading: 'When', value: ({ msg_time: at }) => at, cell: ({ msg_time: at }) => <Time at={at} /> },
  {
    name: 'severity',
    heading: 'Severity',
    value: ({ msg_severity: number }) => Number(number),
    cell: ({ msg_severity: number }) => <Severity of={Number(number)} />,
  },
  {
    name: 'event',
    heading: 'What happened',
    value: ({ msg_title: title }) => title,
    cell: ({ msg_title: title }) => title,
    isLong: true,
  },
];

export default function Events() {
  const [severity, setSeverity] = useAddressText('severity');
  const [kind, setKind] = useAddressText('kind');
  const reading = useRead(objects.messages.list, {
    limit: SHOWN_MAX,
    ...(severity !== '' && { severity: Number(severity) }),
    ...(kind !== '' && { attr_key: 'kind', attr_value: kind }),
  });
  return (
    <>
      <PageHead title="Events" about={`What happened on the array, the newest first; at most ${SHOWN_MAX} are shown.`}>
        <Select
          aria-label="Severity"
          placeholder="Any severity"
          data={severities.map((label, value) => ({ value: String(value), label: `${label} or worse` }))}
          value={severity === '' ? null : severity}
          onChange={(value) => setSeverity(value ?? '')}
          clearable
          w={170}
        />
        <Select
          aria-label="Kind"
          placeholder="Any kind"
          data={objectsEventKinds.map((value) => ({ value, label: words(value) }))}
          value={kind === '' ? null : kind}
          onChange={(value) => setKind(value ?? '')}
          clearable
          searchable
          w={180}
        />
      </PageHead>
      <Reading of={reading}>
        {({ messages }) => (
          <DataTable
            label="Events"
            rows={messages}
            columns={columns}
            rowKey={({ msg_id: id }) => id}
            empty={<Empty title="No event is like that." />}
          />
        )}
      </Reading>
    </>
  );
}
