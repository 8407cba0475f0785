import { Badge, Card, Group, SimpleGrid, Text } from '@mantine/core';
import { objects } from '../../api/objects.ts';
import { useRead } from '../../api/queries.ts';
import { ActionMenu } from '../../contract/action.tsx';
import { Empty, PageHead } from '../../parts/messages.tsx';
import { PageLink } from '../../parts/page-link.tsx';
import { Reading } from '../../parts/reading.tsx';
import { Fill, State, Working } from '../../parts/small.tsx';
import type { Policy } from '../records.ts';
import { policyActions } from './actions.ts';
import { AddPolicy } from './grow.tsx';
import { isRebalancing, onDrives, protectionOf, untilFull } from './words.ts';

export default function Policies() {
  const reading = useRead(objects.policies.list, {});
  return (
    <>
      <PageHead
        title="Storage policies"
        about="How objects are protected, on which drives, and at what price. A bucket has one policy."
      >
        <AddPolicy />
      </PageHead>
      <Reading of={reading}>
        {({ policies }) =>
          policies.length === 0 ? (
            <Empty title="There are no storage policies yet." action={<AddPolicy />} />
          ) : (
            <SimpleGrid cols={{ base: 1, md: 2, xl: 3 }}>
              {policies.map((policy) => (
                <PolicyCard key={policy.name} policy={policy} />
              ))}
            </SimpleGrid>
          )
        }
      </Reading>
    </>
  );
}

function PolicyCard({ policy }: { readonly policy: Policy }) {
  const { name, display_name: title, used_capacity: used, capacity, full_description: about } = policy;
  return (
    <Card withBorder component="section" aria-label={title}>
      <Group justify="space-between" wrap="nowrap" align="flex-start">
        <div>
          <PageLink to={`/policies/${name}`}>{title}</PageLink>{' '}
          {policy.default === 'YES' && <Badge variant="default">default</Badge>}
        </div>
        <Group gap="xs" wrap="nowrap">
          <State of={policy.health_status} />
          <ActionMenu label={title} actions={policyActions(policy)} />
        </Group>
      </Group>
      <Text size="sm">{protectionOf(policy)}.</Text>
      <Text size="sm" c="dimmed" mb="sm">
        {policy.total_drives} drives, {untilFull(policy.full_in_min)}
        {about !== null && `. ${about}`}
      </Text>
      <Fill used={used} size={capacity} label={onDrives(used, capacity)} />
      {isRebalancing(policy) && <Working value={policy.rebalance_percentage} label="Data is being moved" />}
    </Card>
  );
}
