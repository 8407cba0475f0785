import { Text } from '@mantine/core';
import { objects } from '../../api/objects.ts';
import { useRead } from '../../api/queries.ts';
import { useMay } from '../../app/identity.tsx';
import { Chart } from '../../parts/chart.tsx';
import { bytes } from '../../parts/format.ts';
import { Section } from '../../parts/page-link.tsx';
import { Reading } from '../../parts/reading.tsx';

interface HeldProps {
  readonly group: 'accounts' | 'policies';
  readonly id: string;
}

const EVERY_MS = 60_000;
const ABOUT = {
  accounts: 'Every object counted once, with all versions.',
  policies: 'On the drives, with all copies and fragments.',
};

/** How much an account or a storage policy held over time. Nothing where the person may not ask. */
export function Held({ group, id }: HeldProps) {
  const may = useMay();
  if (!may(objects[group].capacity)) return null;
  return (
    <Section title="Capacity over time">
      <HeldChart group={group} id={id} />
    </Section>
  );
}

function HeldChart({ group, id }: HeldProps) {
  const reading = useRead(objects[group].capacity, { id }, { everyMs: EVERY_MS });
  return (
    <Reading of={reading}>
      {({ objects: points }) => (
        <>
          <Text size="sm" c="dimmed">
            {ABOUT[group]} A point is kept each hour, fewer as they grow old, for two months.
          </Text>
          <Chart
            title="Capacity"
            times={points.map(({ time }) => time)}
            lines={[{ label: 'Stored', values: points.map(({ used_bytes: held }) => held) }]}
            format={bytes}
            isBytes
          />
        </>
      )}
    </Reading>
  );
}
