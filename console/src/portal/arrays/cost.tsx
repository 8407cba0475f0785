import { Card, Group, Text, Title } from '@mantine/core';
import { portal } from '../../api/portal.ts';
import { useRead } from '../../api/queries.ts';
import { Chart } from '../../parts/chart.tsx';
import { money, moneyMark, timeOf } from '../../parts/format.ts';
import { PageLink } from '../../parts/page-link.tsx';
import { dayAfter, monthStart, today } from '../billing-window.ts';
import type { PortalArray } from './record.ts';

/** What an array costs this month. Nothing where nothing was billed yet. */
export function Cost({ array }: { readonly array: Pick<PortalArray, 'id'> }) {
  const window = { start_datetime: `${monthStart()} 00:00`, end_datetime: `${dayAfter(today())} 00:00` };
  const { data } = useRead(portal.billing.summary, { ...window, array_id: array.id, per: 'day' });
  const own = data?.data.arrays.find(({ array_id: id }) => id === array.id);
  if (!data || !own) return null;
  const { periods } = data.data;
  return (
    <Card withBorder>
      <Group justify="space-between" mb="sm">
        <Title order={2} size="h4">
          Cost this month
        </Title>
        <Group gap="sm">
          <Text fw={700}>{money(own.amount)}</Text>
          <PageLink to="/billing">Billing</PageLink>
        </Group>
      </Group>
      <Chart
        title="USD per day"
        times={periods.map(({ from }) => (timeOf(from)?.getTime() ?? 0) / 1000)}
        lines={[{ label: 'Per day', values: periods.map(({ amount }) => Number(amount)) }]}
        format={(value) => money(value)}
        formatMark={moneyMark}
        height={140}
        isBars
      />
    </Card>
  );
}
