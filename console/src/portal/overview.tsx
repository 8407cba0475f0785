import { Alert, Anchor, Card, Group, SimpleGrid, Stack, Text } from '@mantine/core';
import type { RecordOf } from '@granary/contract';
import type { Overview as OverviewRecord } from '@granary/contract/portal';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { portal } from '../api/portal.ts';
import { useRead } from '../api/queries.ts';
import { useSession } from '../app/session.tsx';
import { FillsUpFirst } from '../parts/fills-up.tsx';
import { bytes, count, money } from '../parts/format.ts';
import { IconCheck } from '../parts/icons.tsx';
import { Empty, Failed, Loading, PageHead } from '../parts/messages.tsx';
import { PageLink, Section } from '../parts/page-link.tsx';
import { Severity } from '../parts/severity.tsx';
import { Fill, State, Time } from '../parts/small.tsx';
import { OrderButton } from './arrays/order-button.tsx';
import { pageOfConcern, type Attention } from './concern-page.ts';

type Standing = RecordOf<typeof OverviewRecord>;

const EVERY_MS = 15_000;
const GB = 2 ** 30;
const ATTENTION_SHOWN = 12;

export default function Overview() {
  const overview = useRead(portal.overview.get, {}, { everyMs: EVERY_MS });
  if (overview.isError) return <Failed error={overview.error} retry={() => void overview.refetch()} />;
  if (!overview.data) return <Loading />;
  const standing = overview.data.data;
  return (
    <>
      <PageHead title="Overview" about={<Learnt standing={standing} />}>
        {standing.arrays > 0 && <OrderButton label="Order an array" />}
      </PageHead>
      {(standing.arrays > 0 || standing.attention_count > 0 || standing.requests_waiting > 0) && (
        <NeedsAttention standing={standing} />
      )}
      {standing.arrays === 0 ? <Begin /> : <Figures standing={standing} />}
      {standing.arrays > 0 && <Filling standing={standing} />}
      {standing.events && <Events events={standing.events} />}
    </>
  );
}

/** Until there is an array, the one thing to do. */
function Begin() {
  const { role } = useSession();
  return (
    <Card withBorder mb="md">
      <Empty title="You have no array yet." action={<OrderButton label="Order the first array" />}>
        An array has drives, pools and volumes of its own. You choose its drives and its engine, see the price as you
        go, and it is up within a minute{role === 'admin' ? '.' : ' of its approval.'}
      </Empty>
    </Card>
  );
}

function Learnt({ standing: { capacity } }: { readonly standing: Standing }) {
  if (capacity.learnt_at === null) return null;
  return (
    <>
      Figures of {count(capacity.arrays)} {capacity.arrays === 1 ? 'array' : 'arrays'}, the oldest from{' '}
      <Time at={capacity.learnt_at} isRelative />.
    </>
  );
}

function NeedsAttention({ standing }: { readonly standing: Standing }) {
  const { attention, attention_count: concerns, health, requests_waiting: waiting } = standing;
  const { role } = useSession();
  const decides = role === 'admin' && waiting > 0;
  const all = concerns + (decides ? 1 : 0);
  if (health === 'ok' && !decides)
    return <Alert color="teal" variant="light" icon={<IconCheck />} mb="md" title="Nothing needs attention." />;
  return (
    <Alert
      color={health === 'error' ? 'red' : 'yellow'}
      variant="light"
      mb="md"
      title={all === 1 ? 'One thing needs attention' : `${all} things need attention`}
    >
      <Stack gap={6}>
        {decides && (
          <PageLink to="/requests">
            {waiting === 1 ? 'A request waits for your decision' : `${waiting} requests wait for your decision`}
          </PageLink>
        )}
        {attention.slice(0, ATTENTION_SHOWN).map((one) => (
          <ConcernLine key={`${one.array_id} ${one.kind} ${one.id} ${one.text}`} concern={one} />
        ))}
        {concerns > ATTENTION_SHOWN && <Text size="sm">and {concerns - ATTENTION_SHOWN} more</Text>}
      </Stack>
    </Alert>
  );
}

function ConcernLine({ concern }: { readonly concern: Attention }) {
  const isInside = concern.array_name !== null && concern.kind !== 'arrays';
  return (
    <Text size="sm">
      {isInside && <span>{concern.array_name}: </span>}
      <Anchor component={Link} to={pageOfConcern(concern)} size="sm">
        {concern.text}
      </Anchor>
    </Text>
  );
}

function Figures({ standing }: { readonly standing: Standing }) {
  const { capacity, arrays, arrays_by_state: states, spend, requests_waiting: waiting } = standing;
  return (
    <SimpleGrid cols={{ base: 1, xs: 2, lg: 4 }} mb="md">
      <Figure title="Capacity" to="/arrays" value={bytes(capacity.used_bytes)} note="used">
        <Fill
          used={capacity.used_bytes / GB}
          size={capacity.pooled_bytes / GB}
          label={`of ${bytes(capacity.pooled_bytes)} in pools`}
        />
        <Text size="xs" c="dimmed" mt={4}>
          {bytes(capacity.raw_bytes)} of drives, {bytes(capacity.usable_bytes)} usable
        </Text>
      </Figure>
      <Figure title="Arrays" to="/arrays" value={count(arrays)}>
        <Group gap={6}>
          {states.map(({ state, count: number }) => (
            <Group key={state} gap={4}>
              <Text size="sm">{number}</Text>
              <State of={state} />
            </Group>
          ))}
        </Group>
      </Figure>
      {spend.map(({ currency, month, last_month: last, hour }) => (
        <Figure key={currency} title="Spend this month" to="/billing" value={money(month, currency)}>
          <Text size="xs" c="dimmed">
            {money(hour, currency)} per hour now; {money(last, currency)} last month
          </Text>
        </Figure>
      ))}
      <Figure title="Pending requests" to="/requests" value={count(waiting)}>
        <Text size="xs" c="dimmed">
          {waiting === 0 ? 'No request is pending.' : 'They wait for an administrator.'}
        </Text>
      </Figure>
    </SimpleGrid>
  );
}

function Figure(props: {
  readonly title: string;
  readonly to: string;
  readonly value: string;
  readonly note?: string;
  readonly children: ReactNode;
}) {
  return (
    <Card withBorder padding="sm">
      <PageLink to={props.to}>{props.title}</PageLink>
      <Text fw={700} size="xl">
        {props.value}
        {props.note !== undefined && (
          <Text span size="sm" c="dimmed">
            {' '}
            {props.note}
          </Text>
        )}
      </Text>
      {props.children}
    </Card>
  );
}

function Filling({ standing: { filling } }: { readonly standing: Standing }) {
  return (
    <Section title="What fills up first">
      <FillsUpFirst
        forecasts={filling}
        isShort
        link={({ id, name }) => <PageLink to={`/arrays/${id}`}>{name}</PageLink>}
        empty={
          <Empty title="No array has pools yet.">
            Make a pool of an array’s drives; then its growth is shown here.
          </Empty>
        }
      />
    </Section>
  );
}

function Events({ events }: { readonly events: NonNullable<Standing['events']> }) {
  return (
    <Section title="Newest events" tools={<PageLink to="/events">All events</PageLink>}>
      <Stack gap={6}>
        {events.map(({ msg_id: id, msg_title: title, msg_severity: severity, msg_time: time }) => (
          <Group key={id} gap="xs" wrap="nowrap" align="baseline">
            <Severity of={Number(severity)} />
            <Text size="sm" flex={1}>
              {title}
            </Text>
            <Text size="xs" c="dimmed" className="nowrap">
              <Time at={time} isRelative />
            </Text>
          </Group>
        ))}
      </Stack>
    </Section>
  );
}
