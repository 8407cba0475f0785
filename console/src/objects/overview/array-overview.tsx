import { Alert, Group, SimpleGrid, Stack, Text } from '@mantine/core';
import { objects } from '../../api/objects.ts';
import { useRead } from '../../api/queries.ts';
import { count, gigabytes } from '../../parts/format.ts';
import { IconCheck } from '../../parts/icons.tsx';
import { Failed, Loading, PageHead } from '../../parts/messages.tsx';
import { PageLink, Section } from '../../parts/page-link.tsx';
import { Fill, State, Working } from '../../parts/small.tsx';
import { EventList } from '../administration/event-list.tsx';
import { Metering } from '../metering/figures.tsx';
import { onDrives, protectionOf, untilFull, withoutCopies } from '../policies/words.ts';
import type { Policy } from '../records.ts';
import { Figure } from './figure.tsx';
import { byFullness, concernsOf, moving, type Concern, type ObjectFacts } from './standing.ts';

const CONCERNS_MAX = 12;
const EVENTS = 8;

/** Capacity, health, requests, what fills up first, and what needs attention. */
export function ArrayOverview() {
  const readings = {
    policies: useRead(objects.policies.list, {}),
    drives: useRead(objects.drives.list, {}),
    controllers: useRead(objects.virtualControllers.list, {}),
    accounts: useRead(objects.accounts.list, {}),
    requests: useRead(objects.requests.list, { state: 'pending' }),
    settings: useRead(objects.settings.get, {}),
  };
  const { policies, drives, controllers, accounts, requests, settings } = readings;
  const failed = Object.values(readings).find(({ isError }) => isError);
  if (failed) return <Failed error={failed.error} retry={() => void failed.refetch()} />;
  if (!policies.data || !drives.data || !controllers.data || !accounts.data || !requests.data || !settings.data)
    return <Loading />;
  return (
    <Standing
      facts={{
        policies: policies.data.policies,
        drives: drives.data.disks,
        controllers: controllers.data.vcs,
        accounts: accounts.data.accounts,
        requests: requests.data.requests,
        settings: settings.data,
      }}
    />
  );
}

function Standing({ facts }: { readonly facts: ObjectFacts }) {
  return (
    <>
      <PageHead title="Overview" />
      <Figures facts={facts} />
      <Attention concerns={concernsOf(facts)} />
      <Section title="What fills up first" tools={<PageLink to="/policies">Storage policies</PageLink>}>
        <Stack>
          {byFullness(facts.policies).map((policy) => (
            <PolicyLine key={policy.name} policy={policy} />
          ))}
        </Stack>
      </Section>
      {moving(facts.policies).length > 0 && (
        <Section title="Work under way">
          {moving(facts.policies).map(({ name, display_name: title, rebalance_percentage: done }) => (
            <Working key={name} value={done} label={`Data of ${title} is being moved and repaired`} />
          ))}
        </Section>
      )}
      <AllRequests />
      <Section title="Last events" tools={<PageLink to="/events">All events</PageLink>}>
        <EventList limit={EVENTS} />
      </Section>
    </>
  );
}

function Figures({ facts: { policies, drives, controllers, accounts } }: { readonly facts: ObjectFacts }) {
  const sum = (all: readonly number[]) => all.reduce((total, one) => total + one, 0);
  const used = sum(policies.map(({ used_capacity: one }) => one));
  const size = sum(policies.map(({ capacity }) => capacity));
  const usable = sum(policies.map((policy) => withoutCopies(policy, policy.capacity)));
  const held = sum(accounts.map(({ used_capacity: one }) => one));
  const failed = drives.filter(({ status }) => status !== 'Normal').length;
  const serving = controllers.filter(({ proxy_state: state }) => state === 'OBJ_NORMAL').length;
  return (
    <SimpleGrid cols={{ base: 1, xs: 2, lg: 4 }} mb="md">
      <Figure title="Capacity" to="/policies" value={`${gigabytes(usable)} usable`}>
        <Fill used={used} size={size} label={onDrives(used, size)} />
      </Figure>
      <Figure title="Accounts" to="/accounts" value={count(accounts.length)}>
        {gigabytes(held)} in {count(sum(accounts.map(({ objects: number }) => number)))} objects
      </Figure>
      <Figure title="Drives" to="/drives" value={count(drives.length)}>
        {failed === 0 ? 'all normal' : `${failed} not normal`}
      </Figure>
      <Figure title="Controllers" to="/controllers" value={count(controllers.length)}>
        {serving === controllers.length ? 'all serve requests' : `${serving} serve requests`}
      </Figure>
    </SimpleGrid>
  );
}

function Attention({ concerns }: { readonly concerns: readonly Concern[] }) {
  if (concerns.length === 0)
    return <Alert color="teal" variant="light" icon={<IconCheck />} mb="md" title="Nothing needs attention." />;
  return (
    <Alert
      color={concerns.some((one) => one.isSevere) ? 'red' : 'yellow'}
      variant="light"
      mb="md"
      title={concerns.length === 1 ? 'One thing needs attention' : `${concerns.length} things need attention`}
    >
      <Stack gap={4}>
        {concerns.slice(0, CONCERNS_MAX).map(({ key, text, to }) => (
          <div key={key}>
            <PageLink to={to}>{text}</PageLink>
          </div>
        ))}
        {concerns.length > CONCERNS_MAX && <Text size="sm">and {concerns.length - CONCERNS_MAX} more</Text>}
      </Stack>
    </Alert>
  );
}

function PolicyLine({ policy }: { readonly policy: Policy }) {
  return (
    <div>
      <Group justify="space-between" gap="xs">
        <Group gap="xs">
          <PageLink to={`/policies/${policy.name}`}>{policy.display_name}</PageLink>
          <State of={policy.health_status} />
        </Group>
        <Text size="xs" c="dimmed">
          {protectionOf(policy)}; {untilFull(policy.full_in_min)}
        </Text>
      </Group>
      <Fill
        used={policy.used_capacity}
        size={policy.capacity}
        label={onDrives(policy.used_capacity, policy.capacity)}
      />
    </div>
  );
}

/** All requests come through the load balancer. */
function AllRequests() {
  const reading = useRead(objects.loadBalancerGroups.list, {});
  const group = reading.data?.lbgs[0];
  if (!group) return null;
  return (
    <Section title="Requests" tools={<PageLink to="/metering">Metering</PageLink>}>
      <Metering group="loadBalancerGroups" id={group.name} />
    </Section>
  );
}
