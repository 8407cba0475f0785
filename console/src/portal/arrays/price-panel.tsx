import { Card, Group, Table, Text, Title } from '@mantine/core';
import { HOURS_A_MONTH, money } from '../../parts/format.ts';
import { shownRates } from '../../parts/sums.ts';
import { appEngineName } from '../item-names.ts';
import type { Order } from './draft.ts';
import type { PortalCloud } from './record.ts';

interface PricePanelProps {
  readonly order: Order;
  readonly offer: { readonly cloud: PortalCloud; readonly provider: { readonly name: string } };
  /** What an hour of each item costs at this provider, by `kind:key`. */
  readonly prices: ReadonlyMap<string, number>;
}

interface Item {
  readonly name: string;
  readonly quantity: number;
  readonly hourly: number;
}

/** What the order will cost, hour by hour. */
export function PricePanel({ order, offer, prices }: PricePanelProps) {
  const items = itemsOf(order, offer.cloud, prices);
  const hourly = items.reduce((sum, { quantity, hourly: price }) => sum + quantity * price, 0);
  const shown = shownRates(items.map(({ quantity, hourly: price }) => quantity * price));
  return (
    <Card withBorder aria-live="polite">
      <Title order={2} size="h4">
        Price at {offer.provider.name}
      </Title>
      <Table my="sm">
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Item</Table.Th>
            <Table.Th ta="right">How many</Table.Th>
            <Table.Th ta="right">USD per hour</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {items.map(({ name, quantity }, index) => (
            <Table.Tr key={name}>
              <Table.Td>{name}</Table.Td>
              <Table.Td ta="right">{quantity}</Table.Td>
              <Table.Td ta="right">{shown.parts[index]}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
      <Group justify="space-between">
        <Text fw={700}>{shown.total} USD per hour</Text>
        <Text c="dimmed">about {money(hourly * HOURS_A_MONTH)} a month</Text>
      </Group>
      <Text size="xs" c="dimmed">
        Billed by the second. Hibernated, only drives and public addresses are billed.
      </Text>
    </Card>
  );
}

function itemsOf(order: Order, cloud: PortalCloud, prices: PricePanelProps['prices']): Item[] {
  const priceOf = (kind: string, key: string, list: string | null) => prices.get(`${kind}:${key}`) ?? Number(list ?? 0);
  const drives = cloud.drive_types
    .filter(({ key }) => (order.drives[key] ?? 0) > 0)
    .map(({ key, name, hourly_price_usd: list }) => ({
      name,
      quantity: order.drives[key] ?? 0,
      hourly: priceOf('drive', key, list),
    }));
  if (order.kind === 'object_storage') return drives;
  const engine = cloud.engine_types.find(({ key }) => key === order.engine);
  const app =
    cloud.app_engines.find(({ name }) => name === order.appEngine) ??
    cloud.app_engines.find((one) => one.default === 'true');
  return [
    ...(engine
      ? [
          {
            name: `Engine ${engine.name}`,
            quantity: 1,
            hourly: priceOf('engine', engine.key, engine.hourly_price_usd),
          },
        ]
      : []),
    ...(app
      ? [
          {
            name: `App engine ${appEngineName(app.name)}`,
            quantity: 1,
            hourly: priceOf('app_engine', app.name, app.price),
          },
        ]
      : []),
    ...drives,
    ...(order.cacheGb > 0
      ? [{ name: 'Cache, GiB', quantity: order.cacheGb, hourly: priceOf('cache_gb', 'cache_gb', null) }]
      : []),
  ];
}
