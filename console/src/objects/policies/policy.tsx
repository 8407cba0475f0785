import { Progress, Stack, Text } from '@mantine/core';
import { objects } from '../../api/objects.ts';
import { useRead } from '../../api/queries.ts';
import { useParam } from '../../app/base.ts';
import { Actions } from '../../array/actions.tsx';
import { count, gigabytes } from '../../parts/format.ts';
import { PageHead } from '../../parts/messages.tsx';
import { Section } from '../../parts/page-link.tsx';
import { Reading } from '../../parts/reading.tsx';
import { Facts, Fill, State, Time, Working } from '../../parts/small.tsx';
import { DriveTable } from '../drives/table.tsx';
import { Metering } from '../metering/figures.tsx';
import { Held } from '../metering/held.tsx';
import type { Policy } from '../records.ts';
import { policyActions } from './actions.ts';
import { AddDrives } from './grow.tsx';
import { isRebalancing, onDrives, protectionOf, untilFull, withoutCopies } from './words.ts';

export default function PolicyPage() {
  const name = useParam('policyName');
  const reading = useRead(objects.policies.get, { name });
  const settings = useRead(objects.settings.get, {});
  return (
    <Reading of={reading}>
      {({ policy }) => (
        <>
          <PageHead title={policy.display_name} about={policy.full_description ?? 'Storage policy'}>
            <Actions of={policyActions(policy, policy.disks)} />
          </PageHead>
          <Section title="Details">
            <PolicyFacts policy={policy} currency={settings.data?.billing_unit} />
          </Section>
          <Section title="Health">
            <Health policy={policy} />
          </Section>
          <Section title="Drives" tools={<AddDrives policy={policy.display_name} type={policy.disks[0]?.disk_type} />}>
            <DriveTable drives={policy.disks} />
          </Section>
          <Held group="policies" id={policy.name} />
          <Section title="Requests">
            <Metering group="policies" id={policy.name} />
          </Section>
        </>
      )}
    </Reading>
  );
}

function PolicyFacts({ policy, currency }: { readonly policy: Policy; readonly currency: string | undefined }) {
  return (
    <Stack>
      <Fill
        used={policy.used_capacity}
        size={policy.capacity}
        label={onDrives(policy.used_capacity, policy.capacity)}
      />
      <Facts
        of={[
          ['Protection', protectionOf(policy)],
          ['Growth of the last hour', untilFull(policy.full_in_min)],
          ['Capacity mode', <State key="mode" of={policy.capacity_mode} />],
          ['Refuses writes below', `${policy.emergency_mode_percentage}% free`],
          ['Price per GiB-month', `${policy.gb_per_month_cost} ${(currency ?? '').toUpperCase()}`],
          ['Default for new buckets', policy.default === 'YES' ? 'yes' : 'no'],
          ['Usable, without copies and parity', gigabytes(withoutCopies(policy, policy.capacity))],
          ['Capacity of its drives', gigabytes(policy.capacity)],
          ['Created', <Time key="since" at={policy.created_at} />],
          ['Identifier', policy.name],
        ]}
      />
    </Stack>
  );
}

function Health({ policy }: { readonly policy: Policy }) {
  const parts = [
    ['whole', policy.partition_count_normal, policy.partition_percent_normal, 'teal'],
    ['lack a copy or fragment', policy.partition_count_degraded, policy.partition_percent_degraded, 'yellow'],
    ['cannot lose another one', policy.partition_count_critical, policy.partition_percent_critical, 'red'],
  ] as const;
  return (
    <Stack gap="xs">
      <div>
        <State of={policy.health_status} />
      </div>
      <Progress.Root size="lg" aria-hidden="true">
        {parts.map(([text, , percent, color]) => (
          <Progress.Section key={text} value={percent} color={color} />
        ))}
      </Progress.Root>
      <Text size="sm">
        Of {count(policy.partition_count_total)} partitions:{' '}
        {parts.map(([text, number, percent]) => `${count(number)} (${percent}%) ${text}`).join(', ')}.
      </Text>
      {isRebalancing(policy) ? (
        <Working value={policy.rebalance_percentage} label="Data is being moved and repaired" />
      ) : (
        <Text size="sm" c="dimmed">
          Nothing has to move.
          {policy.rebalanced_at !== null && (
            <>
              {' '}
              Where objects are was settled <Time at={policy.rebalanced_at} isRelative />.
            </>
          )}
        </Text>
      )}
    </Stack>
  );
}
