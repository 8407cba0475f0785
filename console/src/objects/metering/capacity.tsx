import { Group, SimpleGrid, Text } from '@mantine/core';
import { objects } from '../../api/objects.ts';
import { useRead } from '../../api/queries.ts';
import { useMay } from '../../app/identity.tsx';
import { gigabytes } from '../../parts/format.ts';
import { Empty } from '../../parts/messages.tsx';
import { PageLink, Section } from '../../parts/page-link.tsx';
import { Reading } from '../../parts/reading.tsx';
import { Fill } from '../../parts/small.tsx';
import type { Account } from '../records.ts';
import { onDrives, untilFull } from '../policies/words.ts';

const ACCOUNTS_MAX = 10;

/** How full the storage policies are, and who fills them. */
export function Capacity() {
  const may = useMay();
  if (!may(objects.policies.list) || !may(objects.accounts.list)) return null;
  return (
    <>
      <Section title="Capacity" tools={<PageLink to="/policies">Storage policies</PageLink>}>
        <PolicyFills />
      </Section>
      <Section title="Largest accounts" tools={<PageLink to="/accounts?sort=-used">All accounts</PageLink>}>
        <Largest />
      </Section>
    </>
  );
}

function PolicyFills() {
  const reading = useRead(objects.policies.list, {});
  return (
    <Reading of={reading}>
      {({ policies }) => (
        <SimpleGrid cols={{ base: 1, md: 2 }}>
          {policies.map(({ name, display_name: title, used_capacity: used, capacity, full_in_min: left }) => (
            <div key={name}>
              <Group justify="space-between">
                <PageLink to={`/policies/${name}`}>{title}</PageLink>
                <Text size="xs" c="dimmed">
                  {untilFull(left)}
                </Text>
              </Group>
              <Fill used={used} size={capacity} label={onDrives(used, capacity)} />
            </div>
          ))}
        </SimpleGrid>
      )}
    </Reading>
  );
}

function Largest() {
  const reading = useRead(objects.accounts.list, {});
  return (
    <Reading of={reading}>
      {({ accounts }) => {
        const whole = accounts.reduce((sum, { used_capacity: used }) => sum + used, 0);
        const largest = accounts
          .filter(({ used_capacity: used }) => used > 0)
          .toSorted(byUse)
          .slice(0, ACCOUNTS_MAX);
        if (largest.length === 0) return <Empty title="Nothing is stored yet." />;
        return (
          <SimpleGrid cols={{ base: 1, md: 2 }}>
            {largest.map(({ id, name, used_capacity: used }) => (
              <div key={id}>
                <PageLink to={`/accounts/${id}`}>{name}</PageLink>
                <Share used={used} whole={whole} name={name} />
              </div>
            ))}
          </SimpleGrid>
        );
      }}
    </Reading>
  );
}

function byUse(a: Account, b: Account): number {
  return b.used_capacity - a.used_capacity;
}

/** Of what all accounts hold: unlike a fill, much is no warning. */
function Share({ used, whole, name }: { readonly used: number; readonly whole: number; readonly name: string }) {
  const share = Math.trunc((used / whole) * 100);
  return (
    <Group justify="space-between" gap="xs">
      <Text size="xs">{gigabytes(used)}</Text>
      <meter min={0} max={100} value={share} aria-label={`Share of ${name}`} className="share" />
      <Text size="xs">{share}%</Text>
    </Group>
  );
}
