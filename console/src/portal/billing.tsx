import { Button, Group, TextInput } from '@mantine/core';
import { useState } from 'react';
import { portal } from '../api/portal.ts';
import { usePlace } from '../api/places.tsx';
import { PageHead } from '../parts/messages.tsx';
import { IconDownload } from '../parts/icons.tsx';
import { Spend } from './spend.tsx';

/** What was used and what it costs. */
export default function Billing() {
  return (
    <>
      <PageHead title="Billing" about="Exact to the second and the cent. Times are UTC, as bills are.">
        <BillFile />
      </PageHead>
      <Spend />
    </>
  );
}

/** The zip with every item, for a time of one's own choice. */
function BillFile() {
  const { base } = usePlace('portal');
  const [from, setFrom] = useState(monthStart());
  const [to, setTo] = useState(today());
  const query = new URLSearchParams({ start_datetime: `${from} 00:00`, end_datetime: `${to} 23:59` });
  const { path } = portal.billing.download.endpoint;
  return (
    <Group align="flex-end" gap="xs">
      <TextInput
        type="date"
        label="From"
        size="xs"
        value={from}
        onChange={(event) => setFrom(event.currentTarget.value)}
      />
      <TextInput type="date" label="To" size="xs" value={to} onChange={(event) => setTo(event.currentTarget.value)} />
      <Button
        component="a"
        href={`${base}/api${path}?${query.toString()}`}
        download="bill.zip"
        size="xs"
        leftSection={<IconDownload />}
      >
        Download the bill
      </Button>
    </Group>
  );
}

function today(): string {
  return new Date().toISOString().slice(0, 10);
}

function monthStart(): string {
  return `${today().slice(0, 7)}-01`;
}
