import { Button, Stack, Table, Text } from '@mantine/core';
import { useState } from 'react';
import { portal } from '../../api/portal.ts';
import { useDraft } from '../../app/drafts.ts';
import { action } from '../../contract/action-props.ts';
import { ActionMenu } from '../../contract/action.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Chart } from '../../parts/chart.tsx';
import { timeOf } from '../../parts/format.ts';
import { Empty } from '../../parts/messages.tsx';
import { State, Time } from '../../parts/small.tsx';
import { DataTable, type Column } from '../../parts/table.tsx';
import { itemsOf, steps, type DatedPrice, type PricedItem } from './history.ts';
import type { NameOf } from '../item-names.ts';
import { useItemNames } from '../use-item-names.ts';
import { presentPrice, SetPrice, SetPriceButton, type TypedPrice } from './set-price.tsx';

const KINDS: Readonly<Record<string, string>> = {
  engine: 'Engine',
  app_engine: 'App engine',
  drive: 'Drive',
  cache_gb: 'Cache, a GiB',
  encryption: 'Encryption',
  public_ip: 'Public address',
  proxy: 'Proxy controller',
  public_objs: 'Public object service',
};

export function PriceTable(props: { readonly providerId: number; readonly prices: readonly DatedPrice[] }) {
  const { providerId, prices } = props;
  const nameOf = useItemNames();
  const [typed, setTyped] = useDraft<TypedPrice | undefined>(`price ${providerId}`, () => undefined);
  const [shown, setShown] = useState<PricedItem>();
  const columns: readonly Column<PricedItem>[] = [
    {
      name: 'item',
      heading: 'What',
      value: (item) => `${titleOf(item, nameOf)} ${item.key}`,
      cell: (item) => <Named item={item} title={titleOf(item, nameOf)} isNamed={nameOf(item.key) !== item.key} />,
    },
    {
      name: 'price',
      heading: 'USD per hour',
      align: 'right',
      value: ({ present }) => Number(present?.hourly_price_usd ?? 0),
      cell: ({ present }) => <Present price={present} />,
    },
    { name: 'planned', heading: 'Planned', isExtra: true, cell: ({ planned: [next] }) => <Planned price={next} /> },
    {
      name: 'changes',
      heading: 'History',
      isExtra: true,
      value: ({ all }) => all.length,
      cell: (item) => (
        <Button size="compact-sm" variant="subtle" onClick={() => setShown(item)}>
          {item.all.length === 1 ? 'One price' : `${item.all.length} prices`}
        </Button>
      ),
    },
    {
      name: 'actions',
      heading: '',
      align: 'right',
      cell: (item) => <ItemActions item={item} providerId={providerId} change={() => setTyped(presentPrice(item))} />,
    },
  ];
  return (
    <>
      <DataTable
        label="Prices"
        rows={itemsOf(prices)}
        columns={columns}
        rowKey={({ kind, key }) => `${kind}:${key}`}
        empty={<Empty title="This provider has no prices.">Its cloud has nothing to sell yet.</Empty>}
      />
      {typed && (
        <SetPrice
          typed={typed}
          providerId={providerId}
          title={titleOf(typed, nameOf)}
          change={setTyped}
          close={() => setTyped(undefined)}
        />
      )}
      {shown && <History item={shown} title={titleOf(shown, nameOf)} close={() => setShown(undefined)} />}
    </>
  );
}

type Item = Pick<PricedItem, 'kind' | 'key'>;

function kindOf({ kind }: Item): string {
  return KINDS[kind] ?? kind;
}

/** Empty where there is one of the kind. */
function whichOf({ kind, key }: Item, nameOf: NameOf): string {
  return key === kind ? '' : nameOf(key);
}

/** `Engine Small`. */
function titleOf(item: Item, nameOf: NameOf): string {
  return [kindOf(item), whichOf(item, nameOf)].filter(Boolean).join(' ');
}

/** By name, with the key that price files and bills have. */
function Named(props: { readonly item: PricedItem; readonly title: string; readonly isNamed: boolean }) {
  const { item, title, isNamed } = props;
  return (
    <>
      {title}
      {isNamed && (
        <Text size="xs" c="dimmed">
          {item.key}
        </Text>
      )}
    </>
  );
}

function Present({ price }: { readonly price: DatedPrice | undefined }) {
  if (!price) return <>none yet</>;
  return (
    <>
      {price.hourly_price_usd}
      <Text size="xs" c="dimmed" visibleFrom="sm">
        since <Time at={price.effective_from} />
      </Text>
    </>
  );
}

function Planned({ price }: { readonly price: DatedPrice | undefined }) {
  if (!price) return <>–</>;
  return (
    <>
      {price.hourly_price_usd}
      <Text size="xs" c="dimmed">
        from <Time at={price.effective_from} />
      </Text>
    </>
  );
}

function ItemActions(props: { readonly item: PricedItem; readonly providerId: number; readonly change: () => void }) {
  const { item, providerId, change } = props;
  const input = { provider_id: providerId, kind: item.kind, key: item.key };
  const cancel = action({
    op: portal.pricing.cancel,
    label: 'Drop what is planned',
    input,
    fields: [],
    more: [],
    about: 'The present price stays.',
  });
  return (
    <>
      <SetPriceButton open={change} />
      {item.planned.length > 0 && <ActionMenu label={item.key} actions={[cancel]} />}
    </>
  );
}

/** Every price of an item, as a line and as a list. */
function History(props: { readonly item: PricedItem; readonly title: string; readonly close: () => void }) {
  const { item, title, close } = props;
  const points = item.all.map((one) => ({
    at: (timeOf(one.effective_from)?.getTime() ?? 0) / 1000,
    price: Number(one.hourly_price_usd),
  }));
  const { times, values } = steps(points, Date.now() / 1000);
  return (
    <Dialog opened onClose={close} size="lg" title={`Prices: ${title}`}>
      <Stack>
        <Chart
          title="USD per hour"
          times={times}
          lines={[{ label: 'USD per hour', values }]}
          format={exactPrice}
          formatMark={exactPrice}
        />
        <Table>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>From</Table.Th>
              <Table.Th ta="right">USD per hour</Table.Th>
              <Table.Th>State</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {item.all.toReversed().map((one) => (
              <Table.Tr key={one.effective_from}>
                <Table.Td>
                  <Time at={one.effective_from} />
                </Table.Td>
                <Table.Td ta="right">{one.hourly_price_usd}</Table.Td>
                <Table.Td>
                  <State of={one.state} />
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
        <Text size="xs" c="dimmed">
          Times are in your time zone. Bills count each moment at the price it had.
        </Text>
      </Stack>
    </Dialog>
  );
}

function exactPrice(value: number): string {
  return String(Number(value.toFixed(9)));
}
