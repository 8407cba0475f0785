import { Button, Group, SegmentedControl, TextInput } from '@mantine/core';
import { portal } from '../api/portal.ts';
import { usePlace } from '../api/places.tsx';
import { useAddressText } from '../app/base.ts';
import { PageHead } from '../parts/messages.tsx';
import { IconDownload } from '../parts/icons.tsx';
import { dayAfter, dayOr, monthStart, perOf, presets, today, windowProblem } from './billing-window.ts';
import { Spend } from './spend.tsx';

/** What was used and what it costs, for a time that the address keeps. */
export default function Billing() {
  const { base } = usePlace('portal');
  const [from, setFrom] = useAddressText('from');
  const [to, setTo] = useAddressText('to');
  const start = dayOr(from, monthStart());
  const end = dayOr(to, today());
  const window = { start_datetime: `${start} 00:00`, end_datetime: `${dayAfter(end)} 00:00` };
  const { path } = portal.billing.download.endpoint;
  const problem = windowProblem(start, end);
  const chosen = presets().find((preset) => preset.from === start && preset.to === end);
  return (
    <>
      <PageHead title="Billing" about="Exact to the second and the cent. Days begin and end in UTC, as bills do.">
        <Button
          component="a"
          href={`${base}/api${path}?${new URLSearchParams(window).toString()}`}
          download="bill.zip"
          disabled={problem !== undefined}
          leftSection={<IconDownload />}
        >
          Download the bill
        </Button>
      </PageHead>
      <Group align="flex-end" gap="sm" mb="md">
        <SegmentedControl
          aria-label="Which time"
          value={chosen?.label ?? ''}
          onChange={(label) => {
            const preset = presets().find((one) => one.label === label);
            if (!preset) return;
            setFrom(preset.from);
            setTo(preset.to);
          }}
          data={presets().map(({ label }) => label)}
        />
        <TextInput
          type="date"
          label="From"
          value={start}
          max={end}
          onChange={(event) => setFrom(event.currentTarget.value)}
        />
        <TextInput
          type="date"
          label="To (inclusive)"
          value={end}
          min={start}
          error={problem}
          onChange={(event) => setTo(event.currentTarget.value)}
        />
      </Group>
      {problem === undefined && <Spend window={window} per={perOf(start, end)} />}
    </>
  );
}
